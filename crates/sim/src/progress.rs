//! Progress of a run, which other threads read during the run. No result depends on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The number of tasks of a run, and of ended ones. Warm-up tasks count.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    tasks: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

impl Progress {
    /// Sets the number of the run's tasks.
    pub(crate) fn begin(&self, tasks: u64) {
        self.tasks.store(tasks, Ordering::Relaxed);
    }

    /// Where the run reports its ended tasks.
    pub(crate) fn ended(&self) -> Arc<AtomicU64> {
        self.ended.clone()
    }

    /// The share of tasks that have ended, 0 to 1; 0 for a run without tasks.
    #[must_use]
    pub fn share(&self) -> f64 {
        let (ended, tasks) = (self.ended.load(Ordering::Relaxed), self.tasks.load(Ordering::Relaxed));
        (ended as f64 / tasks.max(1) as f64).min(1.0)
    }
}
