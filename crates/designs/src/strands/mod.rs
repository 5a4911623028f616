//! Strand persistency in hardware: the persist queue and the strand buffers (StrandWeaver, ISCA 2020, section IV).

mod buffers;
mod guard;
mod no_persist_queue;
mod queue;
mod strandweaver;
mod unit;

use buffers::{Shape, StrandBuffers, Tails, BUFFERS, ENTRIES};
use guard::Guard;
pub use no_persist_queue::NoPersistQueue;
pub use queue::Operation;
use queue::{PersistQueue, QUEUE_ENTRIES};
pub use strandweaver::StrandWeaver;
use unit::StrandUnit;

/// Bytes of an entry of a persist queue or strand buffer: an address of 64 bits, `CanIssue`, `HasIssued`, `Completed`, and
/// what it is.
const ENTRY_BYTES: u64 = (64u64 + 3 + 2).div_ceil(8);
