//! Strand persistency in hardware: the persist queue and the strand buffers (StrandWeaver, ISCA 2020, section IV).

mod buffers;
mod guard;
mod queue;
mod unit;

pub use buffers::{Shape, StrandBuffers, Tails, BUFFERS, ENTRIES};
use guard::Guard;
pub use queue::{Operation, PersistQueue, QUEUE_ENTRIES};
pub use unit::StrandUnit;

/// Bytes of an entry of a persist queue or strand buffer: an address of 64 bits, `CanIssue`, `HasIssued`, `Completed`, and
/// what it is.
const ENTRY_BYTES: u64 = (64u64 + 3 + 2).div_ceil(8);
