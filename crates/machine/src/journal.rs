//! The changes of a run's crash image, and the program's notes: all that crash exploration needs.

use crate::core::Noted;
use crate::trace::Trace;
use strandline_isa::{Line, LineData};
use strandline_kernel::Cycles;

/// A change of what a crash would leave of a line of persistent memory: the line reached the
/// persistence domain, or the design's undoing or adding changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durable {
    /// When.
    pub at: Cycles,
    /// Which line.
    pub line: Line,
    /// Its bytes from now on. Those of a line that reached the persistence domain may be unchanged.
    pub data: LineData,
}

/// A run's durable events and notes, and its trace if requested.
///
/// A crash just after the n-th durable event leaves the image that the first n make of the initial persistent memory,
/// with what the design names at a power failure then ([`strandline_design::Design::power_fails`]). Until the next event the
/// image stays as it is.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// All changes of the image that a crash would leave, in order.
    pub durable: Vec<Durable>,
    /// After so many of them, how many lines power failure finds that reserve power does not last for: where the number
    /// changes. Empty if it lasts.
    pub late: Vec<(usize, usize)>,
    /// Each core's notes, in program order.
    pub notes: Vec<Vec<Noted>>,
    /// What the cores executed; empty unless requested.
    pub trace: Trace,
    /// When each store of the trace's order of visible stores became so.
    pub visible_at: Vec<Cycles>,
    /// Whether the design interrupted a program that does not poll, which ended the run.
    pub halted: bool,
    /// When a line was first filled from memory with other bytes than had been stored, if ever.
    pub stale_since: Option<Cycles>,
}

impl Journal {
    /// How many lines reserve power does not last for at a crash after so many durable events, just before the next one.
    #[must_use]
    pub fn late_at(&self, event: usize) -> usize {
        let known = self.late.partition_point(|(events, _)| *events <= event);
        known.checked_sub(1).map_or(0, |last| self.late[last].1)
    }

    /// When the cores' reads cease to count: of a run that was halted because its program cannot be
    /// interrupted after reading stale bytes, the time of that read.
    #[must_use]
    pub fn counts_until(&self) -> Cycles {
        match self.stale_since {
            Some(since) if self.halted => since,
            _ => Cycles::NEVER,
        }
    }
}
