//! What a core counts.

use super::restore::restore;
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

restore! {
    Counts {
        loads,
        stores,
        flushes,
        fences,
        mispredictions,
        jumps,
        jumps_mispredicted,
        pcommits,
        pcommits_in_flight_max,
        stores_during_pcommits,
    }
}
