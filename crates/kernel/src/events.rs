//! The queue of future events, in time order.

use crate::Cycles;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Future events, delivered in time order; events of one time in the order in which they were posted.
///
/// Nearly all events are posted for the next cycles. These have a list for each cycle, in a wheel that turns with time.
#[derive(Debug)]
pub struct Events<E> {
    /// The last event of each cycle of the wheel, by time modulo [`SPAN`].
    lasts: Box<[u32; SPAN as usize]>,
    /// The cycles that have events, and the words of them that are not zero.
    busy: [u64; WORDS],
    busy_words: u32,
    nodes: Vec<Node<E>>,
    /// The first unused node; the number of nodes if all are used.
    free: u32,
    /// The events outside of the wheel's cycles. They come before events of the same cycle in the wheel: they were posted
    /// when the wheel had not reached it.
    far: BinaryHeap<Reverse<Entry<E>>>,
    posted: u64,
    /// The time of the latest event delivered: the first cycle of the wheel.
    now: u64,
    next: Cycles,
    len: usize,
}

/// Cycles of the wheel: a write takes fewer on most media.
const SPAN: u64 = 2048;
const WORDS: usize = SPAN as usize / 64;

/// An event of a cycle, or an unused node.
#[derive(Clone, Copy, Debug)]
struct Node<E> {
    event: E,
    /// The next event of its cycle, the first after the last; or the next unused node.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
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
            lasts: Box::new([0; SPAN as usize]),
            busy: [0; WORDS],
            busy_words: 0,
            nodes: Vec::new(),
            free: 0,
            far: BinaryHeap::new(),
            posted: 0,
            now: 0,
            next: Cycles::NEVER,
            len: 0,
        }
    }
}

impl<E: Copy> Events<E> {
    /// Posts `event` for the time `at`.
    pub fn post(&mut self, at: Cycles, event: E) {
        let Some(node) = self.nodes.get_mut(self.free as usize) else {
            return self.post_after_growth(at, event);
        };
        if at.0.wrapping_sub(self.now) >= SPAN {
            return self.post_far(at, event);
        }
        let number = self.free;
        self.free = std::mem::replace(&mut node.next, number);
        node.event = event;
        self.len += 1;
        self.next = self.next.min(at);
        let cycle = (at.0 % SPAN) as usize;
        let (word, bit) = (cycle / 64, 1 << (cycle % 64));
        let last = std::mem::replace(&mut self.lasts[cycle], number);
        if self.busy[word] & bit != 0 {
            let first = std::mem::replace(&mut self.nodes[last as usize].next, number);
            self.nodes[number as usize].next = first;
        } else {
            self.busy[word] |= bit;
            self.busy_words |= 1 << word;
        }
    }

    /// Posts an event when all nodes are used.
    #[cold]
    #[inline(never)]
    fn post_after_growth(&mut self, at: Cycles, event: E) {
        let next = self.free + 1;
        self.nodes.push(Node { event, next });
        self.post(at, event);
    }

    #[inline(never)]
    fn post_far(&mut self, at: Cycles, event: E) {
        self.len += 1;
        self.next = self.next.min(at);
        self.posted += 1;
        let order = self.posted;
        self.far.push(Reverse(Entry { at, order, event }));
    }

    /// The time of the next event, or [`Cycles::NEVER`].
    #[inline(always)]
    #[must_use]
    pub fn next_at(&self) -> Cycles {
        self.next
    }

    /// Removes the next event and returns it with its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Cycles, E)> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        let at = self.next;
        self.now = self.now.max(at.0);
        if let Some(event) = self.take_far(at) {
            return Some((at, event));
        }
        let cycle = (at.0 % SPAN) as usize;
        let last = self.lasts[cycle];
        let first = self.nodes[last as usize].next;
        let node = &mut self.nodes[first as usize];
        let Node { event, next } = *node;
        node.next = self.free;
        self.free = first;
        if first != last {
            self.nodes[last as usize].next = next;
            return Some((at, event));
        }
        let word = cycle / 64;
        self.busy[word] ^= 1 << (cycle % 64);
        if self.busy[word] == 0 {
            self.busy_words ^= 1 << word;
        }
        self.next = self.find_next();
        Some((at, event))
    }

    /// Removes the first event outside of the wheel if it is of this time.
    #[inline(always)]
    fn take_far(&mut self, at: Cycles) -> Option<E> {
        if self.far.peek()?.0.at != at {
            return None;
        }
        let Reverse(entry) = self.far.pop()?;
        self.next = self.find_next();
        Some(entry.event)
    }

    /// The time of the first event.
    #[inline]
    fn find_next(&self) -> Cycles {
        let far = self.far.peek().map_or(Cycles::NEVER, |first| first.0.at);
        let start = (self.now % SPAN) as usize;
        let word = start / 64;
        let here = self.busy[word] & u64::MAX << (start % 64);
        let cycle = if here != 0 {
            64 * word + here.trailing_zeros() as usize
        } else if self.busy_words != 0 {
            let words = self.busy_words.rotate_right(word as u32 + 1).trailing_zeros() as usize;
            let word = (word + 1 + words) % WORDS;
            64 * word + self.busy[word].trailing_zeros() as usize
        } else {
            return far;
        };
        far.min(Cycles(self.now + (cycle as u64).wrapping_sub(start as u64) % SPAN))
    }

    /// How many events wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no event waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
    fn events_of_one_time_come_in_posting_order_from_near_and_far() {
        let mut events = Events::default();
        let late = Cycles(SPAN + 10);
        events.post(late, 1);
        events.post(Cycles(100), 0);
        assert_eq!(events.pop(), Some((Cycles(100), 0)));
        events.post(late, 2);
        events.post(Cycles(50), -1);
        events.post(late, 3);
        let order: Vec<_> = std::iter::from_fn(|| events.pop()).collect();
        assert_eq!(order, [(Cycles(50), -1), (late, 1), (late, 2), (late, 3)]);
    }

    #[test]
    fn many_events_come_in_the_same_order() {
        let mut events = Events::default();
        let mut rng = crate::Rng::new(1);
        let (mut now, mut number, mut taken) = (0, 0, Vec::new());
        for _ in 0..5000 {
            for _ in 0..rng.below(3) {
                let most = if rng.one_in(4) { 3 * SPAN } else { 200 };
                events.post(Cycles(now + rng.below(most)), number);
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
