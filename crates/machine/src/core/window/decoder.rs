//! The decoder: ops reach the window a few a cycle, and a cycle of it ends at branches.

use crate::config::DecodeEnd;
use crate::core::restore::restore;
use std::cell::Cell;

/// A decoder and the queue behind it, as in ZSim's core.
///
/// It decodes as many micro-ops a cycle as are dispatched. What follows a branch, or only a taken one, comes a cycle later. The queue
/// lets it run ahead while dispatch stalls: an op is decoded once the op that has its entry in the queue is dispatched.
#[derive(Clone)]
pub struct Decoder {
    width: u64,
    entries: u64,
    ends: DecodeEnd,
    /// The cycle of the next op, above the number of ops that precede it in this cycle.
    position: Cell<u64>,
    /// When the latest ops were dispatched, by the low bits of their numbers: the begin of that cycle as a position.
    dispatched: [Cell<u64>; RING],
}

/// Ops that are remembered.
const RING: usize = 64;
/// The most entries of the queue.
pub const MOST: u64 = RING as u64 - 1;

/// Bits of the number of ops in a cycle.
const BITS: u32 = 8;
const IN_CYCLE: u64 = (1 << BITS) - 1;

impl Decoder {
    /// A decoder of `width` micro-ops a cycle, below 256, behind a queue of `entries`, [`MOST`] at most; `None` without a
    /// queue: it is no limit.
    pub fn new(width: u64, entries: u64, ends: DecodeEnd) -> Option<Decoder> {
        debug_assert!(entries <= MOST, "the machine's limit");
        (entries > 0).then(|| Decoder {
            width,
            entries,
            ends,
            position: Cell::new(0),
            dispatched: std::array::from_fn(|_| Cell::new(0)),
        })
    }

    /// The cycle in which the op of this number, the next one, is decoded.
    #[inline(always)]
    pub fn decode(&self, op: u64) -> u64 {
        let older = op.wrapping_sub(self.entries) as usize % RING;
        let at = self.position.get().max(self.dispatched[older].get());
        self.position.set(match (at + 1) & IN_CYCLE == self.width {
            true => next_cycle(at),
            false => at + 1,
        });
        at >> BITS
    }

    /// The op of this number, just decoded, is dispatched at `at`.
    #[inline(always)]
    pub fn dispatched(&self, op: u64, at: u64) {
        self.dispatched[op as usize % RING].set(at << BITS);
    }

    /// The op just decoded is a branch or jump. If it ends the cycle, the next one is decoded a cycle later.
    #[inline(always)]
    pub fn branches(&self, taken: bool) {
        let position = self.position.get();
        let ends = taken || self.ends == DecodeEnd::Block;
        if ends && position & IN_CYCLE > 0 {
            self.position.set(next_cycle(position));
        }
    }

    /// Decodes no op before `at`: the front end was redirected.
    pub fn redirect(&self, at: u64) {
        self.position.set(self.position.get().max(at << BITS));
    }
}

restore! { Decoder { position, dispatched } stays { width, entries, ends } }

/// The begin of the cycle behind that of a position.
#[inline(always)]
fn next_cycle(position: u64) -> u64 {
    (position | IN_CYCLE) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(decoder: &Decoder, ops: std::ops::Range<u64>) -> Vec<u64> {
        let decode = |op| {
            let at = decoder.decode(op);
            decoder.dispatched(op, at);
            at
        };
        ops.map(decode).collect()
    }

    #[test]
    fn a_cycle_ends_with_its_width_and_with_a_block() {
        let decoder = Decoder::new(4, 28, DecodeEnd::Block).expect("a queue");
        assert_eq!(decoded(&decoder, 0..6), [0, 0, 0, 0, 1, 1]);
        decoder.branches(false);
        assert_eq!(decoded(&decoder, 6..7), [2], "though two slots of cycle 1 are left");
        decoder.branches(false);
        assert_eq!(decoded(&decoder, 7..12), [3, 3, 3, 3, 4]);
        decoder.redirect(20);
        assert_eq!(decoded(&decoder, 12..13), [20]);
    }

    #[test]
    fn the_decoder_runs_ahead_as_far_as_its_queue() {
        let decoder = Decoder::new(4, 8, DecodeEnd::Taken).expect("a queue");
        // Eight ops are decoded in two cycles; all are dispatched at 50.
        for op in 0..8 {
            decoder.decode(op);
            decoder.dispatched(op, 50);
        }
        assert_eq!(decoder.decode(8), 50, "the queue was full until then");
        decoder.branches(false);
        assert_eq!(decoder.decode(9), 50, "a branch that is not taken ends no cycle here");
        decoder.branches(true);
        assert_eq!(decoder.decode(10), 51);
    }
}
