//! Persist buffers: writes to persistent memory on their own way there, beside the caches (HOPS, ASPLOS 2017, as
//! StrandWeaver (ISCA 2020) VI-A and ASAP (HPCA 2022) II, IV and V describe it; ASAP).
//!
//! [`PersistBuffers`] is the whole, for all cores. A core's [`Side`] has a [`Buffer`] with its writes and an epoch table
//! ([`Epochs`]) that knows which of them may go; [`Writers`] knows who wrote a line last. Flushing is conservative (HOPS), or eager
//! with a [`Speculation`] in the controllers that undoes what came too early (ASAP).

mod buffer;
mod buffers;
mod epochs;
mod flushing;
mod recovery_table;
mod shape;
mod side;
mod speculation;
mod writers;

#[cfg(test)]
mod tests;

use buffer::{Buffer, Flush};
pub use buffers::PersistBuffers;
pub use epochs::EpochId;
use epochs::{Epochs, Follows};
pub use shape::{Carries, BUFFER_ENTRIES};
use shape::{Shape, EPOCH_ENTRIES, GATHER, GATHER_TIME, POLL_ACCESS, POLL_PERIOD, TABLE_ENTRIES};
use side::Side;
use speculation::Speculation;
use writers::Writers;
