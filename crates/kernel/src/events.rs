//! The queue of future events, in time order.

use crate::Cycles;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Future events, delivered in time order; events of one time in the order in which they were posted.
#[derive(Debug)]
pub struct Events<E> {
    /// The next events, the earliest last. They are few, so they are kept sorted.
    near: Vec<Entry<E>>,
    /// The events after those.
    far: BinaryHeap<Reverse<Entry<E>>>,
    posted: u64,
}

/// Maximum number of sorted events: above it, moving them costs more than a heap.
const NEAR: usize = 64;

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
            near: Vec::with_capacity(NEAR + 1),
            far: BinaryHeap::new(),
            posted: 0,
        }
    }
}

impl<E> Events<E> {
    /// Posts `event` for the time `at`.
    pub fn post(&mut self, at: Cycles, event: E) {
        self.posted += 1;
        let order = self.posted;
        let entry = Entry { at, order, event };
        if self.far.peek().is_some_and(|first| first.0.at <= at) {
            return self.far.push(Reverse(entry));
        }
        let place = self.near.partition_point(|other| other.at > at);
        self.near.insert(place, entry);
        if self.near.len() > NEAR {
            self.far.extend(self.near.drain(..NEAR / 2).map(Reverse));
        }
    }

    /// The time of the next event, or [`Cycles::NEVER`].
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Cycles {
        self.near.last().map_or(Cycles::NEVER, |e| e.at)
    }

    /// Removes the next event and returns it with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Cycles, E)> {
        let next = self.near.pop()?;
        if self.near.is_empty() {
            self.refill();
        }
        Some((next.at, next.event))
    }

    fn refill(&mut self) {
        while self.near.len() < NEAR / 2 {
            let Some(Reverse(entry)) = self.far.pop() else { break };
            self.near.push(entry);
        }
        self.near.reverse();
    }

    /// How many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// Whether no event waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.near.is_empty()
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

    #[test]
    fn many_events_come_in_the_same_order() {
        let mut events = Events::default();
        let mut rng = crate::Rng::new(1);
        let (mut now, mut number, mut taken) = (0, 0, Vec::new());
        for _ in 0..5000 {
            for _ in 0..rng.below(3) {
                events.post(Cycles(now + rng.below(200)), number);
                number += 1;
            }
            if rng.one_in(3) || events.len() > 300 {
                if let Some((at, event)) = events.pop() {
                    taken.push((at, event));
                    now = at.0;
                }
            }
        }
        taken.extend(std::iter::from_fn(|| events.pop()));
        assert_eq!(taken.len(), number);
        assert!(
            taken.windows(2).all(|pair| pair[0] < pair[1]),
            "by time, then by number"
        );
    }
}
