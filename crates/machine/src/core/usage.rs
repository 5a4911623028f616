//! How full a structure of a core is over time.

use crate::stats::Occupied;
use std::cell::Cell;

/// The entries in use of a structure, summed over the cycles of the timed region.
///
/// An entry adds the time at which it leaves and subtracts the time at which it enters, so that each costs O(1)
/// and no cycle is counted by itself. Entries leave in the order of time, and enter in the order of dispatch.
pub struct Usage {
    /// Times at which entries left, minus times at which they entered; modulo 2^64.
    sum: Cell<u64>,
    /// The most entries in use when one entered, with it.
    most: Cell<u64>,
    /// When the last entry entered.
    entered: Cell<u64>,
    /// When the last entry left.
    latest: Cell<u64>,
    /// When each place was left last: a ring, in the order of time.
    left: Box<[Cell<u64>]>,
    /// The place in the ring of the time that is longest ago.
    oldest: Cell<usize>,
    /// When the timed region began.
    since: Cell<u64>,
}

impl Default for Usage {
    /// Of a structure whose entries enter in the order of time with those that leave, or are the same ones again.
    fn default() -> Usage {
        Usage::of(1)
    }
}

impl Usage {
    /// Of a structure with so many places.
    pub fn of(places: usize) -> Usage {
        Usage {
            sum: Cell::new(0),
            most: Cell::new(0),
            entered: Cell::new(0),
            latest: Cell::new(0),
            left: (0..places.max(1)).map(|_| Cell::new(0)).collect(),
            oldest: Cell::new(0),
            since: Cell::new(0),
        }
    }

    /// An entry enters at `at`; with it, `used` have not left. A core that waited (at a fence, a locked instruction or a
    /// load) dispatches what follows at times before the wait's end, when entries were in use that have left since. The
    /// entry takes no place before one was left.
    #[inline(always)]
    pub fn enters(&self, at: u64, used: u64) {
        let (at, used) = match at < self.latest.get() {
            true => self.enters_behind(at, used),
            false => (at, used),
        };
        self.entered.set(at);
        self.sum.set(self.sum.get().wrapping_sub(at));
        if used > self.most.get() {
            self.most.set(used);
        }
    }

    /// When an entry enters that comes at `at`, and what is in use then, with it.
    #[cold]
    fn enters_behind(&self, at: u64, used: u64) -> (u64, u64) {
        let places = self.left.len() as u64;
        let free = self.last_left((places + 1).saturating_sub(used).clamp(1, places));
        let at = at.max(free).max(self.entered.get()).max(self.since.get());
        let still = self.left.iter().filter(|left| left.get() > at).count();
        (at, used + still as u64)
    }

    /// When the last entry left, or the one before it, and so on.
    fn last_left(&self, back: u64) -> u64 {
        let (oldest, places, back) = (self.oldest.get(), self.left.len(), back as usize);
        let place = if oldest < back {
            oldest + places - back
        } else {
            oldest - back
        };
        self.left[place].get()
    }

    /// An entry leaves at `at`.
    #[inline(always)]
    pub fn leaves(&self, at: u64) {
        let place = self.oldest.get();
        self.left[place].set(at);
        self.latest.set(at);
        self.oldest
            .set(if place + 1 == self.left.len() { 0 } else { place + 1 });
        self.sum.set(self.sum.get().wrapping_add(at));
    }

    /// The timed region begins at `at` with `used` entries in use. A core runs ahead: entries may have entered or left
    /// later than `at` already, and then the region begins here with the last of them.
    pub fn starts(&self, at: u64, used: u64) {
        let at = at.max(self.entered.get()).max(self.latest.get());
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

    #[test]
    fn no_entry_takes_a_place_before_it_was_left() {
        let usage = Usage::default();
        usage.enters(10, 1);
        usage.leaves(30);
        usage.enters(20, 1);
        // One from 10 to 30, the next from 30 to 40.
        let occupied = usage.until(40, 1);
        assert_eq!((occupied.most, occupied.entry_cycles), (1, 30));
    }

    #[test]
    fn an_entry_enters_beside_those_that_have_left_since() {
        let usage = Usage::of(3);
        usage.enters(10, 1);
        usage.enters(11, 2);
        usage.leaves(30);
        usage.leaves(40);
        usage.enters(20, 1);
        usage.enters(20, 2);
        // The fourth of three waits until 30. Then 10 to 30, 11 to 40, 20 to 50, 30 to 50.
        let occupied = usage.until(50, 2);
        assert_eq!((occupied.most, occupied.entry_cycles), (3, 20 + 29 + 30 + 20));
    }

    #[test]
    fn what_a_core_did_ahead_of_the_start_is_not_counted() {
        let usage = Usage::default();
        for used in 1..=3 {
            usage.enters(100, used);
        }
        usage.leaves(110);
        usage.starts(50, 2);
        usage.leaves(120);
        usage.leaves(120);
        // Two from 110 to 120.
        let occupied = usage.until(120, 0);
        assert_eq!((occupied.cycles, occupied.entry_cycles), (10, 20));
    }
}
