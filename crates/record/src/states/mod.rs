//! What a crash may leave of a recorded program's persistent memory.
//!
//! The recording is one execution with one order in which stores became visible. Each moment at which something becomes
//! surely durable ends an *interval*; the interval's states are the sets of pending stores that the design's model
//! allows. For one thread they are exactly what `models/px86.cat` and `models/eadr.cat` allow (`crates/crash/tests/single/recordings.rs`
//! compares them); for several threads they are those of this one order of visibility.

mod audit;
mod budget;
mod count;
mod crash;
mod explain;
mod files;
mod hoist;
mod image;
mod interval;
mod ledger;
pub mod line;
mod name;
mod pending;
mod walk;

pub use audit::{Audit, Finding, Spot};
pub use budget::{quotas, Budget};
pub use count::Count;
pub use crash::{Asked, CrashStates, Plan};
pub use explain::{Stored, Visit};
pub use files::write as write_files;
pub use image::{patch, Image};
pub use interval::{Interval, Kept};
pub use ledger::Ledger;
pub use name::{StateName, Which};
pub use pending::{Line, Pending};
pub use walk::{Ops, Walk};

/// When a store is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Once it was flushed and fenced, as `models/px86.cat` says.
    Flushed,
    /// Once it is visible, non-temporal stores once they were fenced, as `models/eadr.cat` and `models/bbb.cat` say.
    Visible,
}

impl Rules {
    /// The rules of a model, if it has such.
    #[must_use]
    pub fn of_model(model: &str) -> Option<Rules> {
        match model {
            "px86" => Some(Rules::Flushed),
            "eadr" | "bbb" => Some(Rules::Visible),
            _ => None,
        }
    }
}
