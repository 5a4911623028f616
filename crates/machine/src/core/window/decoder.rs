//! The decoder: ops reach the window a few a cycle, and a cycle of it ends with each basic block.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// A decoder and the queue behind it, as in ZSim's core.
///
/// It decodes as many micro-ops a cycle as are dispatched, but none behind a branch in the branch's cycle. The queue
/// lets it run ahead while dispatch stalls: an op is decoded once the op that has its entry in the queue is dispatched.
/// Dispatch is as wide as the decoder, so the queue holds back only the op that takes the entry of one that had stalled:
/// those behind it follow as they did before.
#[derive(Clone)]
pub struct Decoder {
    width: u64,
    entries: u64,
    /// The cycle of the next op, above the number of ops that precede it in this cycle.
    position: Cell<u64>,
    /// The number of the next op that is held back; `u64::MAX` if none is.
    next_held: Cell<u64>,
    /// The numbers of ops that are held back, and the cycles before which they are not decoded.
    held: RefCell<VecDeque<(u64, u64)>>,
}

/// Bits of the number of ops in a cycle.
const BITS: u32 = 8;
const IN_CYCLE: u64 = (1 << BITS) - 1;

impl Decoder {
    /// A decoder of `width` micro-ops a cycle, below 256, behind a queue of `entries`; `None` without a queue: it is no
    /// limit.
    pub fn new(width: u64, entries: u64) -> Option<Decoder> {
        (entries > 0).then(|| Decoder {
            width,
            entries,
            position: Cell::new(0),
            next_held: Cell::new(u64::MAX),
            held: RefCell::default(),
        })
    }

    /// The cycle in which the op of this number, the next one, is decoded.
    #[inline(always)]
    pub fn decode(&self, op: u64) -> u64 {
        if op == self.next_held.get() {
            self.hold_back();
        }
        let at = self.position.get();
        self.position.set(match (at + 1) & IN_CYCLE == self.width {
            true => next_cycle(at),
            false => at + 1,
        });
        at >> BITS
    }

    /// Moves to the cycle before which the next op is not decoded.
    #[inline(never)]
    fn hold_back(&self) {
        let mut held = self.held.borrow_mut();
        if let Some((_, at)) = held.pop_front() {
            self.redirect(at);
        }
        self.next_held.set(held.front().map_or(u64::MAX, |(op, _)| *op));
    }

    /// The op of this number, decoded last or next, is not dispatched before `at`.
    pub fn stalled(&self, op: u64, at: u64) {
        let mut held = self.held.borrow_mut();
        match held.back_mut() {
            Some((held, until)) if *held == op + self.entries => *until = at,
            _ => held.push_back((op + self.entries, at)),
        }
        self.next_held.set(held[0].0);
    }

    /// The op just decoded ends a basic block: the next one is decoded a cycle later.
    #[inline(always)]
    pub fn ends_block(&self) {
        let position = self.position.get();
        if position & IN_CYCLE > 0 {
            self.position.set(next_cycle(position));
        }
    }

    /// Decodes no op before `at`: the front end was redirected.
    pub fn redirect(&self, at: u64) {
        self.position.set(self.position.get().max(at << BITS));
    }

    /// Restores an earlier state.
    pub fn restore(&self, saved: &Decoder) {
        self.position.set(saved.position.get());
        self.next_held.set(saved.next_held.get());
        self.held.borrow_mut().clone_from(&saved.held.borrow());
    }
}

/// The begin of the cycle behind that of a position.
#[inline(always)]
fn next_cycle(position: u64) -> u64 {
    (position | IN_CYCLE) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(decoder: &Decoder, ops: std::ops::Range<u64>) -> Vec<u64> {
        ops.map(|op| decoder.decode(op)).collect()
    }

    #[test]
    fn a_cycle_ends_with_its_width_and_with_a_block() {
        let decoder = Decoder::new(4, 28).expect("a queue");
        assert_eq!(decoded(&decoder, 0..6), [0, 0, 0, 0, 1, 1]);
        decoder.ends_block();
        assert_eq!(decoded(&decoder, 6..7), [2], "though two slots of cycle 1 are left");
        decoder.ends_block();
        assert_eq!(decoded(&decoder, 7..12), [3, 3, 3, 3, 4]);
        decoder.redirect(20);
        assert_eq!(decoded(&decoder, 12..13), [20]);
    }

    #[test]
    fn the_decoder_runs_ahead_as_far_as_its_queue() {
        let decoder = Decoder::new(4, 8).expect("a queue");
        decoder.stalled(0, 50);
        assert_eq!(
            decoded(&decoder, 0..9),
            [0, 0, 0, 0, 1, 1, 1, 1, 50],
            "full until the first op is dispatched"
        );
    }

    /// The same with the dispatch time of each op of the queue.
    #[test]
    fn only_stalls_hold_the_decoder_back() {
        const ENTRIES: usize = 8;
        let mut rng = strandline_kernel::Rng::new(1);
        let decoder = Decoder::new(4, ENTRIES as u64).expect("a queue");
        let (mut dispatched, mut slot, mut free) = (Vec::new(), 0, 0);
        for op in 0..20_000 {
            // Four slots a cycle of the decoder, and of dispatch.
            if op >= ENTRIES {
                slot = slot.max(dispatched[op - ENTRIES] / 4 * 4);
            }
            let decoded = slot / 4;
            slot += 1;
            let stall = if rng.one_in(6) { rng.below(30) } else { 0 };
            let mut at = std::cmp::max(free, 4 * decoded);
            if stall > 0 {
                let until = at / 4 + stall;
                decoder.stalled(op as u64, until);
                at = 4 * until;
            }
            free = at + 1;
            dispatched.push(at);
            assert_eq!(decoder.decode(op as u64), decoded, "op {op}");
            if rng.one_in(5) {
                slot = slot.next_multiple_of(4);
                decoder.ends_block();
            }
        }
    }
}
