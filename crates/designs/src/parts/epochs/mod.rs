//! What designs with epochs share: an [`EpochTable`] has the order of a core's epochs, [`LastWriters`] the directory's
//! memory of writers; the primitives of programs, what a dispatched one waits for, and the widths of fields.

mod commits;
mod epoch_table;
mod frontier;
mod last_writers;
mod numbers;

pub use commits::Commit;
pub use epoch_table::{Commits, EpochId, EpochTable, Follows};
pub use frontier::{Frontier, WINDOW};
pub use last_writers::LastWriters;
pub use numbers::Numbers;

use strandline_design::{Admission, Until};
use strandline_isa::{Lowering, Primitive};

/// Epochs: `ofence` and `dfence` (ASAP IV-A).
pub const EPOCHS: Lowering = Lowering {
    log: true,
    log_before_update: &[Primitive::Ofence],
    commit: &[Primitive::Ofence],
    durable: &[Primitive::Dfence],
    hand_over: &[Primitive::Dfence],
    resumed: &[Primitive::Setctx(0)],
    ..Lowering::NOTHING
};

/// What a dispatched primitive waits for. A `dfence`, and any primitive without a weaker equivalent
/// in epochs, waits for its epochs, which open `fence`, and blocks younger stores. One that only
/// orders takes effect when it leaves the store queue.
#[must_use]
pub fn admission<G>(primitive: Primitive, fence: G) -> Admission<G> {
    match primitive {
        Primitive::Ofence
        | Primitive::PersistBarrier
        | Primitive::NewStrand
        | Primitive::Release
        | Primitive::Acquire
        | Primitive::Setctx(_) => Admission::Enter,
        Primitive::StoreBarrier => Admission::plain(primitive),
        _ => Admission::EnterHeld {
            until: Until::Open(fence),
            loads: primitive == Primitive::Mfence,
        },
    }
}

/// Bits that distinguish this number of things.
#[must_use]
pub fn bits(things: u64) -> u64 {
    u64::from(things.next_power_of_two().ilog2())
}
