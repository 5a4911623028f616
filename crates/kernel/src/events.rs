//! The queue of future events, in time order.

use crate::Cycles;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Future events, delivered in time order; events of one time in the order in which they were posted.
#[derive(Debug)]
pub struct Events<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    posted: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at: Cycles,
    order: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Events {
            heap: BinaryHeap::new(),
            posted: 0,
        }
    }
}

impl<E> Events<E> {
    /// Posts `event` for the time `at`.
    pub fn post(&mut self, at: Cycles, event: E) {
        self.posted += 1;
        self.heap.push(Reverse(Entry {
            at,
            order: self.posted,
            event,
        }));
    }

    /// The time of the next event, or [`Cycles::NEVER`].
    #[must_use]
    pub fn next_at(&self) -> Cycles {
        self.heap.peek().map_or(Cycles::NEVER, |e| e.0.at)
    }

    /// Takes the next event and its time.
    pub fn pop(&mut self) -> Option<(Cycles, E)> {
        self.heap.pop().map(|e| (e.0.at, e.0.event))
    }

    /// How many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_time_order_and_ties_in_posting_order() {
        let mut events = Events::default();
        for (at, name) in [(7, "c"), (3, "a"), (7, "d"), (5, "b")] {
            events.post(Cycles(at), name);
        }
        let order: Vec<_> = std::iter::from_fn(|| events.pop()).collect();
        assert_eq!(
            order,
            [(Cycles(3), "a"), (Cycles(5), "b"), (Cycles(7), "c"), (Cycles(7), "d")]
        );
        assert_eq!(events.next_at(), Cycles::NEVER);
    }
}
