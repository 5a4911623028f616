//! Strand persistency in hardware: the persist queue and the strand buffers (StrandWeaver, ISCA 2020, section IV).

/// The hooks that both designs leave to a core's [`StrandUnit`].
macro_rules! hooks_of_units {
    () => {
        fn wants(&self) -> Wants {
            StrandUnit::wants()
        }

        fn lowering(&self) -> Lowering {
            StrandUnit::lowering()
        }

        fn locked_waits_for(&mut self, _: CoreId) -> Option<Until<Gate>> {
            None
        }

        fn snooped(
            &mut self,
            hw: &mut dyn Services<Own>,
            owner: CoreId,
            requester: CoreId,
            line: Line,
            _: Access,
        ) -> Snoop<Gate, Never> {
            self.core(owner).unit.snooped(hw, requester, line)
        }

        fn evicted(&mut self, _: &mut dyn Services<Own>, core: CoreId, level: Level, line: Line) -> Eviction<Gate> {
            self.core(core).unit.evicted(level, line)
        }

        fn waits(&self) -> Vec<String> {
            self.cores.iter().flat_map(|core| core.unit.waits()).collect()
        }
    };
}

mod buffers;
mod guard;
mod no_persist_queue;
mod queue;
pub(crate) mod rules;
mod shape;
mod strandweaver;
mod unit;

#[cfg(test)]
mod tests;

use buffers::{StrandBuffers, Tails};
use guard::Guard;
pub use no_persist_queue::NoPersistQueue;
pub use queue::Operation;
use queue::{PersistQueue, QUEUE_ENTRIES};
use shape::{Shape, BUFFERS, ENTRIES};
use strandline_design::{Never, Types};
use strandline_isa::CoreId;
pub use strandweaver::StrandWeaver;
use unit::StrandUnit;

/// Bytes of an entry of a persist queue or strand buffer: an address of 64 bits, `CanIssue`,
/// `HasIssued`, `Completed`, and its kind.
const ENTRY_BYTES: u64 = (64u64 + 3 + 2).div_ceil(8);

/// The types of designs with strand buffers. A tag is the number of a flush.
#[derive(Clone, Copy, Debug)]
pub struct Own;

impl Types for Own {
    type Gate = Gate;
    type Message = Retired;
    type Tag = u64;
    type Note = Never;
}

/// A gate of a core's strand buffers, or of its persist queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// A flush, primitive or mark at the head of the store queue waits.
    Head(CoreId),
    /// A flush or primitive waits for room in the persist queue.
    Room(CoreId),
    /// A store waits for a flush of its line, or for another core's request.
    Store(CoreId),
    /// An eviction or another core's request waits: it has this number at this core.
    Drained(CoreId, u64),
}

/// The operation of this number in a core's persist queue has retired from its reorder buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retired {
    core: CoreId,
    operation: u64,
}
