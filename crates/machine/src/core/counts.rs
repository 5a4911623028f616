//! What a core counts.

use std::cell::Cell;

/// Counts of a core.
#[derive(Clone, Default)]
pub struct Counts {
    pub loads: Cell<u64>,
    pub stores: Cell<u64>,
    pub flushes: Cell<u64>,
    pub fences: Cell<u64>,
    pub mispredictions: Cell<u64>,
    pub jumps: Cell<u64>,
    pub jumps_mispredicted: Cell<u64>,
}

impl Counts {
    /// Returns to earlier counts.
    pub fn restore(&self, saved: &Counts) {
        for (to, from) in self.all().into_iter().zip(saved.all()) {
            to.set(from.get());
        }
    }

    fn all(&self) -> [&Cell<u64>; 7] {
        [
            &self.loads,
            &self.stores,
            &self.flushes,
            &self.fences,
            &self.mispredictions,
            &self.jumps,
            &self.jumps_mispredicted,
        ]
    }
}
