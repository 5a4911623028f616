//! When crash exploration ends early.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Says to an exploration on another thread that the user has had enough.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the exploration after the crash state that it is judging.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What ends an exploration before all crash states are judged; by default nothing does.
#[derive(Clone, Debug, Default)]
pub struct Until {
    most: Option<u64>,
    stop: Stop,
}

impl Until {
    /// So many failures, if there is a number, or `stop`.
    #[must_use]
    pub fn new(most: Option<u64>, stop: Stop) -> Until {
        Until { most, stop }
    }

    /// Whether an exploration that has met so many failures is over.
    pub(crate) fn reached(&self, failures: u64) -> bool {
        self.stopped() || self.most.is_some_and(|most| failures >= most)
    }

    /// Whether the user has had enough.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.0.load(Ordering::Relaxed)
    }

    /// The most failures that are of interest.
    pub(crate) fn most(&self) -> usize {
        self.most
            .map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }
}
