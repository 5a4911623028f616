//! When crash exploration ends early.

use strandline_sim::Progress;

/// Tells an exploration on another thread that the user has stopped it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Progress);

impl Stop {
    /// Ends the exploration: the run under way, or the current crash state.
    pub fn set(&self) {
        self.0.stop();
    }

    /// What its runs follow.
    pub(crate) fn progress(&self) -> &Progress {
        &self.0
    }
}

/// Conditions that end an exploration early; by default there are none.
#[derive(Clone, Debug, Default)]
pub struct Until {
    most: Option<u64>,
    stop: Stop,
}

impl Until {
    /// This many failures, if given, or `stop`.
    #[must_use]
    pub fn new(most: Option<u64>, stop: Stop) -> Until {
        Until { most, stop }
    }

    /// Whether an exploration with this many failures is finished.
    pub(crate) fn reached(&self, failures: u64) -> bool {
        self.stopped() || self.most.is_some_and(|most| failures >= most)
    }

    /// Whether the user has stopped it.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.0.is_stopped()
    }

    /// Maximum number of relevant failures.
    pub(crate) fn most(&self) -> usize {
        self.most
            .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }
}
