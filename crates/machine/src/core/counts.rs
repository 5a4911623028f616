//! What a core counts.

use super::cells::cells;

cells! {
    /// Counts of a core.
    pub struct Counts {
        loads,
        stores,
        flushes,
        fences,
        mispredictions,
        jumps,
        jumps_mispredicted,
        /// `pcommit`s executed.
        pcommits,
        /// The most `pcommit`s executed and not completed at once.
        pcommits_in_flight_max,
        /// Stores, locked instructions and flushes executed while a `pcommit` executed before had not completed.
        stores_during_pcommits,
    }
}
