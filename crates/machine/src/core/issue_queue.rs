//! The issue queue: ops that are dispatched and wait for their operands.

use super::restore::restore;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The occupied entries of an issue queue, as the times at which they become free.
///
/// Ops issue out of order, so the entry that becomes free first is not the oldest. Nearly all become free within the next
/// cycles. These are counted by cycle, in a wheel that turns with time: an op costs O(1).
#[derive(Clone)]
pub struct IssueQueue {
    entries: usize,
    /// How many are occupied.
    count: Cell<usize>,
    /// How many entries become free in each cycle of the wheel, by time modulo [`SPAN`]: one byte a cycle.
    near: Box<[Cell<u64>; WORDS]>,
    /// The first cycle of the wheel; no time is earlier.
    first: Cell<u64>,
    /// The times after the wheel when they were added.
    far: RefCell<BinaryHeap<Reverse<u64>>>,
    /// The earliest of these; `u64::MAX` if there is none.
    far_earliest: Cell<u64>,
}

/// Cycles of the wheel.
const SPAN: u64 = 256;
/// Cycles of a word of the wheel.
const IN_WORD: u64 = 8;
const WORDS: usize = (SPAN / IN_WORD) as usize;

/// The most entries: as many become free in one cycle at most, and a byte counts them.
const MOST: u64 = 255;

restore! { IssueQueue { count, near, first, far, far_earliest } stays { entries } }

impl IssueQueue {
    /// An empty queue of `entries` entries, [`MOST`] at most; `None` if there are none: no such limit.
    pub fn new(entries: u64) -> Option<IssueQueue> {
        debug_assert!(entries <= MOST, "the machine's limit");
        (entries > 0).then(|| IssueQueue {
            entries: entries as usize,
            count: Cell::new(0),
            near: Box::new(std::array::from_fn(|_| Cell::new(0))),
            first: Cell::new(0),
            far: RefCell::default(),
            far_earliest: Cell::new(u64::MAX),
        })
    }

    /// Adds an op that issues at `at`. Returns when the next op, which is dispatched at `next` at the
    /// earliest, finds an entry. No later op is dispatched before `next`.
    #[inline(always)]
    pub fn enter(&self, at: u64, next: u64) -> u64 {
        // The entry is free again before another op can need it.
        if at > next {
            match at - self.first.get() < SPAN {
                true => self.add_near(at),
                false => self.add_far(at, next),
            }
            self.count.set(self.count.get() + 1);
        }
        match self.count.get() < self.entries {
            true => next,
            false => self.wait(next),
        }
    }

    #[inline(always)]
    fn add_near(&self, at: u64) {
        let word = self.word(at);
        word.set(word.get() + (1 << shift(at)));
    }

    /// Adds a time that is after the wheel unless that turns.
    #[inline(never)]
    fn add_far(&self, at: u64, next: u64) {
        self.remove_through(next);
        match at - self.first.get() < SPAN {
            true => self.add_near(at),
            false => {
                self.far.borrow_mut().push(Reverse(at));
                self.far_earliest.set(self.far_earliest.get().min(at));
            }
        }
    }

    /// When the next op finds an entry in a queue that is full as far as is known.
    #[inline(never)]
    fn wait(&self, next: u64) -> u64 {
        let mut earliest = self.earliest();
        if earliest <= next {
            self.remove_through(next);
            if self.count.get() < self.entries {
                return next;
            }
            earliest = self.earliest();
        }
        match earliest < self.far_earliest.get() {
            true => self.remove_near(earliest),
            false => self.remove_through(earliest),
        }
        earliest
    }

    /// The earliest time.
    #[inline(always)]
    fn earliest(&self) -> u64 {
        self.first_near().min(self.far_earliest.get())
    }

    /// Removes the earliest time, which is in the wheel, and only there.
    #[inline(always)]
    fn remove_near(&self, at: u64) {
        let (word, shift) = (self.word(at), shift(at));
        let removed = word.get() >> shift & 0xff;
        word.set(word.get() & !(0xff << shift));
        self.count.set(self.count.get() - removed as usize);
        self.first.set(at);
    }

    /// Removes all times up to this one, which is not before the wheel.
    #[inline(never)]
    fn remove_through(&self, last: u64) {
        let first = self.first.replace(last);
        let end = last.min(first + SPAN - 1);
        let (mut at, mut removed) = (first, 0);
        while at <= end {
            // The cycles from here to the end, or to that of the word.
            let cycles = (end - at + 1).min(IN_WORD - at % IN_WORD);
            let mask = (u64::MAX >> (64 - 8 * cycles)) << shift(at);
            let word = self.word(at);
            removed += sum_of_bytes(word.get() & mask);
            word.set(word.get() & !mask);
            at += cycles;
        }
        self.count.set(self.count.get() - removed);
        if self.far_earliest.get() <= last {
            self.remove_far(last);
        }
    }

    /// Removes the times after the wheel up to this one.
    #[inline(never)]
    fn remove_far(&self, last: u64) {
        let mut far = self.far.borrow_mut();
        while far.peek().is_some_and(|Reverse(at)| *at <= last) {
            far.pop();
            self.count.set(self.count.get() - 1);
        }
        self.far_earliest.set(far.peek().map_or(u64::MAX, |Reverse(at)| *at));
    }

    /// The earliest time in the wheel, or `u64::MAX`.
    #[inline(always)]
    fn first_near(&self) -> u64 {
        let mut at = self.first.get();
        let end = at + SPAN;
        while at < end {
            // Of the word in which the wheel begins, the lower bytes are its end: they come last.
            let later = self.word(at).get() >> shift(at);
            if later != 0 {
                return at + u64::from(later.trailing_zeros()) / 8;
            }
            at += IN_WORD - at % IN_WORD;
        }
        u64::MAX
    }

    /// The word of the wheel that has this cycle.
    #[inline(always)]
    fn word(&self, at: u64) -> &Cell<u64> {
        &self.near[(at % SPAN / IN_WORD) as usize]
    }
}

/// The lowest bit of a cycle's byte in its word.
#[inline(always)]
fn shift(at: u64) -> u32 {
    8 * (at % IN_WORD) as u32
}

/// The sum of a word's bytes, [`MOST`] at most.
#[inline(always)]
fn sum_of_bytes(word: u64) -> usize {
    (word.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_is_free_first_need_not_be_the_oldest() {
        let queue = IssueQueue::new(2).expect("two entries");
        assert_eq!(queue.enter(100, 0), 0, "one entry is left");
        assert_eq!(queue.enter(7, 0), 7, "full until the second op issues");
        assert_eq!(
            queue.enter(50, 7),
            50,
            "full until the third issues; the first still waits"
        );
        assert_eq!(queue.enter(51, 50), 51, "and again: the first still waits");
        assert_eq!(queue.enter(200, 51), 100, "the first op issues first now");
    }

    /// An issue queue as a list that is searched.
    fn search(list: &mut Vec<u64>, entries: usize, at: u64, next: u64) -> u64 {
        list.push(at);
        let free = |at: &u64| list.iter().filter(|issues| *issues > at).count() < entries;
        let times = std::iter::once(next).chain(list.iter().copied().filter(|at| *at > next));
        times.filter(free).min().expect("all issue at last")
    }

    #[test]
    fn entries_become_free_as_in_a_list_that_is_searched() {
        let mut rng = strandline_kernel::Rng::new(1);
        let mut waits = 0;
        for entries in [1, 2, 7, 48] {
            let (queue, mut list) = (IssueQueue::new(entries).expect("some entries"), Vec::new());
            let mut next = 0;
            for _ in 0..5000 {
                let most = [2, 60, 3 * SPAN][rng.below(3) as usize];
                let at = next + rng.below(most);
                let found = queue.enter(at, next);
                assert_eq!(found, search(&mut list, entries as usize, at, next));
                waits += u32::from(found > next);
                let pause = if rng.one_in(500) { 2 * SPAN } else { 2 };
                next = found + rng.below(pause);
                list.retain(|issues| *issues > next);
            }
        }
        assert!(waits > 1000, "{waits} ops waited");
    }

    #[test]
    fn an_op_that_issues_before_the_next_is_dispatched_needs_no_entry_then() {
        let queue = IssueQueue::new(1).expect("one entry");
        assert_eq!(queue.enter(5, 5), 5);
        assert_eq!(queue.enter(6, 5), 6);
    }
}
