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
    /// `pcommit`s executed.
    pub pcommits: Cell<u64>,
    /// The most `pcommit`s executed and not completed at once.
    pub pcommits_in_flight_max: Cell<u64>,
    /// Stores, locked instructions and flushes executed while a `pcommit` executed before had not completed.
    pub stores_during_pcommits: Cell<u64>,
}

impl Counts {
    /// Returns to earlier counts.
    pub fn restore(&self, saved: &Counts) {
        for (to, from) in self.all().into_iter().zip(saved.all()) {
            to.set(from.get());
        }
    }

    fn all(&self) -> [&Cell<u64>; 10] {
        [
            &self.loads,
            &self.stores,
            &self.flushes,
            &self.fences,
            &self.mispredictions,
            &self.jumps,
            &self.jumps_mispredicted,
            &self.pcommits,
            &self.pcommits_in_flight_max,
            &self.stores_during_pcommits,
        ]
    }
}
