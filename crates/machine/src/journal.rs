//! How what a crash would leave changed in a run, and what the program said meanwhile: all that crash exploration needs.

use crate::core::Noted;
use crate::trace::Trace;
use strandline_isa::{Line, LineData};
use strandline_kernel::Cycles;

/// What a crash would leave of a line of persistent memory changed: the line reached the persistence domain, or the design
/// undoes or adds from now on what it did not before, or no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durable {
    /// When.
    pub at: Cycles,
    /// Which line.
    pub line: Line,
    /// Its bytes from now on. Those of a line that reached the persistence domain may be as before.
    pub data: LineData,
}

/// A run's durable events and notes, and its trace if it was asked for.
///
/// A crash just after the n-th durable event leaves the image that the first n make of the initial persistent memory,
/// with what the design says of a power failure then ([`strandline_design::Design::power_fails`]). Until the next event the
/// image stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// All changes of the image that a crash would leave, in order.
    pub durable: Vec<Durable>,
    /// Each core's notes, in program order.
    pub notes: Vec<Vec<Noted>>,
    /// What the cores executed; empty unless it was asked for.
    pub trace: Trace,
    /// The design interrupted a program that does not heed it, and with that the run ended.
    pub halted: bool,
    /// When a line was first filled from memory with other bytes than had been stored, if ever.
    pub stale_since: Option<Cycles>,
}

impl Journal {
    /// When what the cores saw begins to be of no account: of a run that was halted since the program could not be told that
    /// it had read stale bytes, when it had read them.
    #[must_use]
    pub fn counts_until(&self) -> Cycles {
        match self.stale_since {
            Some(since) if self.halted => since,
            _ => Cycles::NEVER,
        }
    }
}
