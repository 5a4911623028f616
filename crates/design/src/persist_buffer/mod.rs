//! Persist buffers: writes to persistent memory on their own way there, beside the caches (HOPS, ASPLOS 2017, as
//! StrandWeaver (ISCA 2020) VI-A and ASAP (HPCA 2022) IV and V describe it).
//!
//! [`Buffer`] holds a core's writes, [`Epochs`] knows which of them may go first, [`Writers`] who wrote a line last, and
//! [`ConservativeBuffers`] puts the three together for all cores.

mod buffer;
mod conservative;
mod epochs;
mod writers;

pub use buffer::{Buffer, Write};
pub use conservative::{ConservativeBuffers, BUFFER_ENTRIES};
pub use epochs::{Completed, EpochId, Epochs};
pub use writers::Writers;
