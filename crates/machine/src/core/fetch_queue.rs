//! The fetch queue: ops that are fetched and wait for their dispatch.

use super::restore::restore;
use std::cell::Cell;

/// The room in a fetch queue.
///
/// The front end fetches as many ops a cycle as are dispatched a cycle, `width`, and never misses. So
/// the queue changes only when dispatch falls behind: each dispatch slot that is lost takes one op of
/// room, until the queue is full; from then on fetch loses each slot that dispatch loses. Dispatch
/// never catches up, so room comes back only when a misprediction empties the queue. A stall of `s`
/// cycles, into whose first cycle `d` ops were dispatched, loses `width * s - d` slots. With room for
/// `r` ops, fetch keeps back `width * s - d - min(r, width * s - d)` ops, the last ones: it is blocked
/// for that number over `width`, rounded up. Without a queue `r` is 0, and it is blocked for `s`.
#[derive(Clone)]
pub struct FetchQueue {
    entries: u64,
    room: Cell<u64>,
}

restore! { FetchQueue { room } stays { entries } }

impl FetchQueue {
    /// An empty queue; of 0 entries: none.
    pub fn new(entries: u64) -> FetchQueue {
        FetchQueue {
            entries,
            room: Cell::new(entries),
        }
    }

    /// The room in it.
    pub fn room(&self) -> u64 {
        self.room.get()
    }

    /// A misprediction or roll-back empties it.
    #[inline(always)]
    pub fn empty(&self) {
        self.room.set(self.entries);
    }

    /// Dispatch, of `width` ops a cycle, stalled for `cycles` cycles; in the first of them `dispatched` ops precede the
    /// stall. Returns for how many of these cycles fetch was blocked.
    pub fn absorb(&self, cycles: u64, dispatched: u64, width: u64) -> u64 {
        let room = self.room.get();
        if room == 0 {
            return cycles;
        }
        let lost = (width * cycles).saturating_sub(dispatched);
        let absorbed = lost.min(room);
        self.room.set(room - absorbed);
        (lost - absorbed).div_ceil(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_stalls_are_absorbed_until_a_misprediction_empties_the_queue() {
        // 48 entries at 4 ops a cycle absorb 12 cycles.
        let queue = FetchQueue::new(48);
        assert_eq!(queue.absorb(5, 0, 4), 0);
        assert_eq!(queue.absorb(10, 0, 4), 3, "7 cycles were left");
        assert_eq!(
            queue.absorb(10, 0, 4),
            10,
            "it stays full while dispatch is no faster than fetch"
        );
        queue.empty();
        assert_eq!(queue.absorb(20, 0, 4), 8);
    }

    #[test]
    fn ops_dispatched_in_a_stalls_first_cycle_leave_their_entries() {
        let queue = FetchQueue::new(8);
        // 3 ops go, 1 slot is lost; then 4: room for 3 is left.
        assert_eq!(queue.absorb(2, 3, 4), 0);
        // 2 ops go, so 2 slots are lost in the first cycle and 4 in each of two more: 10. Fetch keeps back 7.
        assert_eq!(queue.absorb(3, 2, 4), 2);
    }

    #[test]
    fn without_a_queue_fetch_stalls_with_dispatch() {
        let queue = FetchQueue::new(0);
        assert_eq!(queue.absorb(1, 3, 4), 1);
        queue.empty();
        assert_eq!(queue.absorb(7, 0, 4), 7);
    }
}
