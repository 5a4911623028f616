//! The permutation: one word with the order of a node's entries.
//!
//! Its lowest four bits count the entries. The next four are the slot of the lowest entry, and so on; behind the
//! entries come the free slots, of which the last is taken first (Masstree 4.6.2).

use strandline_isa::{Cpu, W};

/// Bits of a slot's number, and of the count.
const BITS: u64 = 4;

/// The mask of one.
const ONE: u64 = (1 << BITS) - 1;

/// The permutation of a node with entries in its first `count` slots, in order.
pub(super) fn sorted(width: u64, count: u64) -> u64 {
    (0..width).fold(count, |word, slot| word | slot << (BITS * (slot + 1)))
}

/// The slots of a permutation's entries, in order; `None` if it is none of a node with `width` slots.
pub(super) fn slots(word: u64, width: u64) -> Option<Vec<u64>> {
    let all: Vec<u64> = (1..=width).map(|place| word >> (BITS * place) & ONE).collect();
    let mut seen = all.clone();
    seen.sort_unstable();
    let beyond = u128::from(word) >> (BITS * (width + 1));
    let is_whole = word & ONE <= width && beyond == 0 && seen.into_iter().eq(0..width);
    is_whole.then(|| all[..(word & ONE) as usize].to_vec())
}

/// A permutation in a register.
pub(super) struct Permutation<'c, C: Cpu> {
    pub(super) word: W<'c, C>,
    pub(super) width: u64,
}

impl<'c, C: Cpu> Permutation<'c, C> {
    pub(super) fn count(&self) -> W<'c, C> {
        self.word & ONE
    }

    /// The slots from this place on, the next in the lowest bits.
    pub(super) fn from(&self, place: u64) -> W<'c, C> {
        self.word >> (BITS * (place + 1))
    }

    /// The next slot of [`Permutation::from`].
    pub(super) fn next(rest: W<'c, C>) -> W<'c, C> {
        rest & ONE
    }

    /// Those after the next one.
    pub(super) fn after(rest: W<'c, C>) -> W<'c, C> {
        rest >> BITS
    }

    /// The free slot that is taken next.
    pub(super) fn free(&self) -> W<'c, C> {
        self.from(self.width - 1) & ONE
    }

    /// The position of a place's slot, and the mask of what is before it.
    fn position(&self, cpu: &'c C, place: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let shift = (place + 1) << u64::from(BITS.trailing_zeros());
        (shift, (cpu.word(1) << shift) - 1)
    }

    /// The permutation with the free slot inserted at a place.
    pub(super) fn insert(&self, cpu: &'c C, place: W<'c, C>) -> W<'c, C> {
        let (shift, before) = self.position(cpu, place);
        let moved = (self.word & (before ^ u64::MAX)) << BITS;
        let all = u64::MAX >> (64 - BITS * (self.width + 1));
        (((self.word & before) + 1) | moved | (self.free() << shift)) & all
    }

    /// The permutation without the entry at a place, whose slot is taken next.
    pub(super) fn remove(&self, cpu: &'c C, place: W<'c, C>) -> W<'c, C> {
        let (shift, before) = self.position(cpu, place);
        let slot = (self.word >> shift) & ONE;
        let moved = (self.word >> BITS) & (before ^ u64::MAX);
        ((self.word & before) - 1) | moved | (slot << (BITS * self.width))
    }

    /// The permutation with the first `count` entries only.
    pub(super) fn cut(&self, count: u64) -> W<'c, C> {
        (self.word & !ONE) | count
    }
}
