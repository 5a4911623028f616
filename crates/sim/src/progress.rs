//! How far a run has come, for other threads to read while it runs. No result depends on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The tasks of a run, and how many of them have ended; those before the timed region count.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    tasks: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

impl Progress {
    /// The run has so many tasks.
    pub(crate) fn begin(&self, tasks: u64) {
        self.tasks.store(tasks, Ordering::Relaxed);
    }

    /// Where the run says how many have ended.
    pub(crate) fn ended(&self) -> Arc<AtomicU64> {
        self.ended.clone()
    }

    /// The share of its tasks that have ended, 0 to 1; 0 of a run without tasks.
    #[must_use]
    pub fn share(&self) -> f64 {
        let (ended, tasks) = (self.ended.load(Ordering::Relaxed), self.tasks.load(Ordering::Relaxed));
        (ended as f64 / tasks.max(1) as f64).min(1.0)
    }
}
