//! Counts of a counting run: the flushes and fences in the timed region.

use std::sync::atomic::{AtomicU64, Ordering};

static FLUSHES: AtomicU64 = AtomicU64::new(0);
static FENCES: AtomicU64 = AtomicU64::new(0);

/// Flushes and fences of a timed region, all threads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Lines written back.
    pub flushes: u64,
    /// `sfence` and `mfence`.
    pub fences: u64,
}

pub(crate) fn flush() {
    FLUSHES.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn fence() {
    FENCES.fetch_add(1, Ordering::Relaxed);
}

/// Starts the timed region; all threads wait.
pub(crate) fn begin() {
    FLUSHES.store(0, Ordering::Relaxed);
    FENCES.store(0, Ordering::Relaxed);
}

/// The counts since then, once all threads have ended.
pub(crate) fn end() -> Counts {
    Counts {
        flushes: FLUSHES.load(Ordering::Relaxed),
        fences: FENCES.load(Ordering::Relaxed),
    }
}
