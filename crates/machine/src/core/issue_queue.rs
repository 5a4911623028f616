//! The issue queue: ops that are dispatched and wait for their operands.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The occupied entries of an issue queue, as the times at which they become free.
///
/// Ops issue out of order, so the entry that becomes free first is not the oldest. Nearly all become free within the next
/// cycles. These are counted by cycle, in a wheel that turns with time: an op costs O(1).
#[derive(Clone)]
pub struct IssueQueue {
    entries: usize,
    times: RefCell<Times>,
}

/// Times at which entries become free.
#[derive(Clone)]
struct Times {
    /// How many there are.
    count: usize,
    /// How many entries become free in each cycle of the wheel, by time modulo [`SPAN`].
    near: [u32; SPAN as usize],
    /// The cycles that have any.
    busy: [u64; WORDS],
    /// The first cycle of the wheel; no time is earlier.
    first: u64,
    /// The times after the wheel when they were added.
    far: BinaryHeap<Reverse<u64>>,
}

/// Cycles of the wheel.
const SPAN: u64 = 256;
const WORDS: usize = SPAN as usize / 64;

impl Times {
    fn new() -> Times {
        Times {
            count: 0,
            near: [0; SPAN as usize],
            busy: [0; WORDS],
            first: 0,
            far: BinaryHeap::new(),
        }
    }

    /// Adds a time, which is not before the wheel.
    #[inline(always)]
    fn add(&mut self, at: u64) {
        self.count += 1;
        if at - self.first >= SPAN {
            return self.far.push(Reverse(at));
        }
        let cycle = (at % SPAN) as usize;
        self.near[cycle] += 1;
        self.busy[cycle / 64] |= 1 << (cycle % 64);
    }

    /// Removes all times up to this one, which is not before the wheel. Returns the earliest that is left.
    fn remove_through(&mut self, last: u64) -> Option<u64> {
        let end = last.min(self.first + SPAN - 1);
        let mut at = self.first;
        while at <= end {
            // The cycles from here to the end, or to that of the word.
            let (word, from) = ((at % SPAN) as usize / 64, at % 64);
            let cycles = (end - at + 1).min(64 - from);
            let removed = self.busy[word] & (u64::MAX >> (64 - cycles)) << from;
            self.busy[word] ^= removed;
            let mut bits = removed;
            while bits != 0 {
                let cycle = 64 * word + bits.trailing_zeros() as usize;
                self.count -= std::mem::take(&mut self.near[cycle]) as usize;
                bits &= bits - 1;
            }
            at += cycles;
        }
        while self.far.peek().is_some_and(|Reverse(at)| *at <= last) {
            self.far.pop();
            self.count -= 1;
        }
        self.first = last;
        let far = self.far.peek().map(|Reverse(at)| *at);
        self.first_near().into_iter().chain(far).min()
    }

    /// The earliest time in the wheel.
    fn first_near(&self) -> Option<u64> {
        let start = (self.first % SPAN) as usize;
        // The word in which the wheel begins comes first, and with its lower bits last.
        for step in 0..=WORDS {
            let word = (start / 64 + step) % WORDS;
            let from_start = u64::MAX << (start % 64);
            let bits = match step {
                0 => self.busy[word] & from_start,
                WORDS => self.busy[word] & !from_start,
                _ => self.busy[word],
            };
            if bits != 0 {
                let cycle = 64 * word as u64 + u64::from(bits.trailing_zeros());
                return Some(self.first + cycle.wrapping_sub(self.first) % SPAN);
            }
        }
        None
    }
}

impl IssueQueue {
    /// An empty queue of `entries` entries; `None` if there are none: no such limit.
    pub fn new(entries: u64) -> Option<IssueQueue> {
        (entries > 0).then(|| IssueQueue {
            entries: entries as usize,
            times: RefCell::new(Times::new()),
        })
    }

    /// Restores an earlier state.
    pub fn restore(&self, saved: &IssueQueue) {
        self.times.borrow_mut().clone_from(&saved.times.borrow());
    }

    /// Adds an op that issues at `at`. Returns when the next op, which is dispatched at `next` at the
    /// earliest, finds an entry. No later op is dispatched before `next`.
    pub fn enter(&self, at: u64, next: u64) -> u64 {
        let mut times = self.times.borrow_mut();
        // The entry is free again before another op can need it.
        if at > next {
            if at - times.first >= SPAN {
                times.remove_through(next);
            }
            times.add(at);
        }
        if times.count < self.entries {
            return next;
        }
        let mut free = next;
        while let Some(first) = times.remove_through(free) {
            if times.count < self.entries {
                break;
            }
            free = first;
        }
        free
    }
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
