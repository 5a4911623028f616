//! The crash states of a recorded program's persistent memory.
//!
//! The recording is one execution with one order in which stores became visible. Each moment at which a store becomes
//! certainly durable ends an *interval*. The interval's states are the sets of pending stores that the design's model
//! allows. For one thread they are exactly the states of `models/px86.cat` and `models/eadr.cat`
//! (`crates/crash/tests/single/recordings.rs` compares them). For several threads they are the states of this one
//! order, and of some others that the program's synchronisation allows ([`Orders`]).

mod assumed;
mod audit;
mod budget;
mod choice;
mod classes;
mod count;
mod crash;
mod explain;
mod files;
mod hoist;
mod image;
mod interval;
mod ledger;
pub mod line;
mod lints;
mod locks;
mod name;
mod orders;
mod pending;
mod process;
mod reads;
mod walk;
mod why;

pub use assumed::{assumed, Assumed};
pub use audit::{Audit, Finding, Spot};
pub use budget::{quotas, Budget};
pub use classes::Classes;
pub use count::Count;
pub use crash::{Asked, CrashPlan, CrashStates};
pub use explain::{Stored, Visit};
pub use files::write as write_files;
pub use image::{patch, Image};
pub use interval::{Interval, Kept, Numbered};
pub use ledger::Ledger;
pub use name::{StateName, Which};
pub use orders::Orders;
pub use pending::{Failing, Line, Pending};
pub use reads::Dependent;
pub use walk::{Ops, Walk};
pub use why::{History, Why};

/// When a store is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// After a flush and a fence, as in `models/px86.cat`.
    Flushed,
    /// When visible; non-temporal stores after a fence, as in `models/eadr.cat` and `models/bbb.cat`.
    Visible,
}

impl Rules {
    /// The rules of a model, if they are supported.
    #[must_use]
    pub fn of_model(model: &str) -> Option<Rules> {
        match model {
            "px86" => Some(Rules::Flushed),
            "eadr" | "bbb" => Some(Rules::Visible),
            _ => None,
        }
    }
}
