//! How full a structure of a core is over time.

use crate::stats::Occupied;
use std::cell::Cell;

/// The entries in use of a structure, summed over the cycles of the timed region.
///
/// An entry adds the time at which it leaves and subtracts the time at which it enters, so that each costs O(1)
/// and no cycle is counted by itself.
#[derive(Default)]
pub struct Usage {
    /// Times at which entries left, minus times at which they entered; modulo 2^64.
    sum: Cell<u64>,
    /// The most entries in use when one entered, with it.
    most: Cell<u64>,
    /// When the timed region began.
    since: Cell<u64>,
}

impl Usage {
    /// An entry enters at `at`; with it, `used` are in use.
    #[inline(always)]
    pub fn enters(&self, at: u64, used: u64) {
        self.sum.set(self.sum.get().wrapping_sub(at));
        if used > self.most.get() {
            self.most.set(used);
        }
    }

    /// An entry leaves at `at`.
    #[inline(always)]
    pub fn leaves(&self, at: u64) {
        self.sum.set(self.sum.get().wrapping_add(at));
    }

    /// The timed region begins at `at` with `used` entries in use. All that entered or left before has done so.
    pub fn starts(&self, at: u64, used: u64) {
        self.since.set(at);
        self.sum.set(used.wrapping_mul(at).wrapping_neg());
        self.most.set(used);
    }

    /// What was in use up to `end`, at which `used` entries still are.
    pub fn until(&self, end: u64, used: u64) -> Occupied {
        let end = end.max(self.since.get());
        let sum = self.sum.get().wrapping_add(used.wrapping_mul(end));
        Occupied {
            // Where a run is halted, what entered later than its end counts as nothing.
            entry_cycles: (sum as i64).max(0) as u64,
            cycles: end - self.since.get(),
            most: self.most.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_summed_over_the_timed_region() {
        let usage = Usage::default();
        usage.enters(10, 1);
        usage.enters(20, 2);
        usage.enters(25, 3);
        usage.leaves(30);
        usage.starts(50, 2);
        usage.leaves(50);
        usage.enters(60, 2);
        usage.leaves(70);
        // One from 50 to 90, one from 60 to 70, of at most two at once.
        let occupied = |most, entry_cycles, cycles| Occupied {
            entry_cycles,
            cycles,
            most,
        };
        assert_eq!(usage.until(90, 1), occupied(2, 40 + 10, 40));
        usage.enters(95, 2);
        assert_eq!(usage.until(90, 2).entry_cycles, 45, "a look behind the latest entry");
    }
}
