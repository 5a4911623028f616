//! The decoder: ops reach the window a few a cycle, and a cycle of it ends with each basic block.

use std::cell::Cell;

/// A decoder and the queue behind it, as in ZSim's core.
///
/// It decodes as many micro-ops a cycle as are dispatched, but none behind a branch in the branch's cycle. The queue
/// lets it run ahead while dispatch stalls: an op is decoded once the op that has its entry in the queue is dispatched.
#[derive(Clone)]
pub struct Decoder {
    width: u64,
    /// The cycle that is being filled, and how much of it is.
    cycle: Cell<u64>,
    in_cycle: Cell<u64>,
    /// When the op in each entry of the queue was dispatched.
    dispatched: Box<[Cell<u64>]>,
    next: Cell<usize>,
}

impl Decoder {
    /// A decoder of `width` micro-ops a cycle, behind a queue of `entries`; `None` without a queue: it is no limit.
    pub fn new(width: u64, entries: u64) -> Option<Decoder> {
        (entries > 0).then(|| Decoder {
            width,
            cycle: Cell::new(0),
            in_cycle: Cell::new(0),
            dispatched: (0..entries).map(|_| Cell::new(0)).collect(),
            next: Cell::new(0),
        })
    }

    /// The cycle in which the next op is decoded.
    #[inline(always)]
    pub fn decode(&self) -> u64 {
        let (mut cycle, mut filled) = (self.cycle.get(), self.in_cycle.get());
        if filled >= self.width {
            (cycle, filled) = (cycle + 1, 0);
        }
        let entry = self.dispatched[self.next.get()].get();
        if entry > cycle {
            (cycle, filled) = (entry, 0);
        }
        self.cycle.set(cycle);
        self.in_cycle.set(filled + 1);
        cycle
    }

    /// The op just decoded is dispatched at `at`.
    #[inline(always)]
    pub fn dispatched(&self, at: u64) {
        let next = self.next.get();
        self.dispatched[next].set(at);
        self.next
            .set(if next + 1 == self.dispatched.len() { 0 } else { next + 1 });
    }

    /// The op just decoded ends a basic block: the next one is decoded a cycle later.
    #[inline(always)]
    pub fn ends_block(&self) {
        self.in_cycle.set(self.width);
    }

    /// Decodes no op before `at`: the front end was redirected.
    pub fn redirect(&self, at: u64) {
        if at > self.cycle.get() {
            self.turns(at);
        }
    }

    /// Restores an earlier state.
    pub fn restore(&self, saved: &Decoder) {
        super::restore_all(&self.dispatched, &saved.dispatched);
        self.cycle.set(saved.cycle.get());
        self.in_cycle.set(saved.in_cycle.get());
        self.next.set(saved.next.get());
    }

    fn turns(&self, cycle: u64) {
        self.cycle.set(cycle);
        self.in_cycle.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(decoder: &Decoder, ops: usize) -> Vec<u64> {
        let mut cycles = Vec::new();
        for _ in 0..ops {
            cycles.push(decoder.decode());
            decoder.dispatched(cycles[cycles.len() - 1]);
        }
        cycles
    }

    #[test]
    fn a_cycle_ends_with_its_width_and_with_a_block() {
        let decoder = Decoder::new(4, 28).expect("a queue");
        assert_eq!(decoded(&decoder, 6), [0, 0, 0, 0, 1, 1]);
        decoder.ends_block();
        assert_eq!(decoded(&decoder, 1), [2], "though two slots of cycle 1 are left");
        decoder.ends_block();
        assert_eq!(decoded(&decoder, 5), [3, 3, 3, 3, 4]);
        decoder.redirect(20);
        assert_eq!(decoded(&decoder, 1), [20]);
    }

    #[test]
    fn the_decoder_runs_ahead_as_far_as_its_queue() {
        let decoder = Decoder::new(4, 8).expect("a queue");
        // Eight ops are decoded in two cycles; all are dispatched at 50.
        for _ in 0..8 {
            decoder.decode();
            decoder.dispatched(50);
        }
        assert_eq!(decoder.decode(), 50, "the queue was full until then");
    }
}
