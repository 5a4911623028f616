//! What became durable when, and what the program said meanwhile: all that crash exploration needs of a run.

use crate::core::Noted;
use crate::trace::Trace;
use strandline_isa::{Line, LineData};
use strandline_kernel::Cycles;

/// A line of persistent memory reached the persistence domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Durable {
    /// When.
    pub at: Cycles,
    /// Which line.
    pub line: Line,
    /// Its bytes.
    pub data: LineData,
}

/// A run's durable writes and notes, and its trace if it was asked for.
///
/// A crash just after the n-th durable write leaves the image that those writes make of the initial persistent memory,
/// and on top of it what the design says of a power failure then.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    /// Durable writes, in the order in which they became durable.
    pub durable: Vec<Durable>,
    /// What the design's power failure would add or undo, for the crash points at which it is not nothing: the number
    /// of durable writes by then, and the lines in order.
    pub power_failures: Vec<(usize, Vec<(Line, LineData)>)>,
    /// Each core's notes, in program order.
    pub notes: Vec<Vec<Noted>>,
    /// What the cores executed; empty unless it was asked for.
    pub trace: Trace,
}

impl Journal {
    /// What power failures after so many durable writes would add or undo, for the moments at which it is not nothing.
    #[must_use]
    pub fn failures_after(&self, durable: usize) -> &[(usize, Vec<(Line, LineData)>)] {
        let all = &self.power_failures;
        let first = all.partition_point(|(by, _)| *by < durable);
        let end = all.partition_point(|(by, _)| *by <= durable);
        &all[first..end]
    }
}
