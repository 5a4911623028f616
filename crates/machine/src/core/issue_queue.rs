//! The issue queue: ops that are dispatched and wait for their operands.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The occupied entries of an issue queue, as the times at which they become free.
///
/// Ops issue out of order, so the entry that becomes free first is not the oldest: a heap. An op costs
/// O(log entries).
#[derive(Clone)]
pub struct IssueQueue {
    entries: usize,
    issues: RefCell<BinaryHeap<Reverse<u64>>>,
}

impl IssueQueue {
    /// An empty queue of so many entries; `None` if there are none: no such limit.
    pub fn new(entries: u64) -> Option<IssueQueue> {
        (entries > 0).then(|| IssueQueue {
            entries: entries as usize,
            issues: RefCell::default(),
        })
    }

    /// Restores an earlier state.
    pub fn restore(&self, saved: &IssueQueue) {
        self.issues.borrow_mut().clone_from(&saved.issues.borrow());
    }

    /// Adds an op that issues at `at`. Returns when the next op, which is dispatched at `next` at the
    /// earliest, finds an entry.
    pub fn enter(&self, at: u64, next: u64) -> u64 {
        let mut issues = self.issues.borrow_mut();
        // The entry is free again before another op can need it.
        if at > next {
            issues.push(Reverse(at));
        }
        if issues.len() < self.entries {
            return next;
        }
        let mut free = next;
        while let Some(Reverse(first)) = issues.peek().copied() {
            if first > free {
                if issues.len() < self.entries {
                    break;
                }
                free = first;
            }
            issues.pop();
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

    #[test]
    fn an_op_that_issues_before_the_next_is_dispatched_needs_no_entry_then() {
        let queue = IssueQueue::new(1).expect("one entry");
        assert_eq!(queue.enter(5, 5), 5);
        assert_eq!(queue.enter(6, 5), 6);
    }
}
