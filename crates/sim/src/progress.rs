//! A run as other threads follow and stop it. No result depends on it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use strandline_machine::Remote;

/// The number of tasks of a run, and of ended ones. Warm-up tasks count.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    tasks: Arc<AtomicU64>,
    remote: Remote,
}

impl Progress {
    /// Sets the number of the run's tasks.
    pub(crate) fn begin(&self, tasks: u64) {
        self.tasks.store(tasks, Ordering::Relaxed);
    }

    /// What the run writes and reads.
    pub(crate) fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Ends the run soon, with [`crate::Error::Stopped`].
    pub fn stop(&self) {
        self.remote.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run has been told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.remote.stop.load(Ordering::Relaxed)
    }

    /// The share of tasks that have ended, 0 to 1; 0 for a run without tasks.
    #[must_use]
    pub fn share(&self) -> f64 {
        let (ended, tasks) = (
            self.remote.ended.load(Ordering::Relaxed),
            self.tasks.load(Ordering::Relaxed),
        );
        (ended as f64 / tasks.max(1) as f64).min(1.0)
    }
}
