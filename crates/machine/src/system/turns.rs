//! Whose turn it is: when each core acts next.

use super::hardware::{Hardware, Hart};
use strandline_isa::CoreId;

/// When each core acts next, side by side, so that a look at all reads a few of the host's cache lines.
pub struct Turns {
    /// Each core's turn, but for those of cores touched since.
    of: Vec<Next>,
    /// Bits of a core's number.
    bits: u32,
    /// The cores touched since, by the low bits of their numbers.
    touched: u64,
    /// The two that act next, unless they are to be looked for.
    first: Next,
    second: Next,
    is_known: bool,
}

/// When a core acts, and which; ties go to the lower number. One number, so that the earlier of two takes no branch: the
/// host could not foresee which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Next(u64);

impl Next {
    /// No core acts.
    const NEVER: Next = Next(u64::MAX);

    /// What is later than the bits beside the core's number tell never happens: 2^57 cycles with 64 cores.
    #[inline(always)]
    fn new(at: u64, core: usize, bits: u32) -> Next {
        match at >> (63 - bits) {
            0 => Next((at << bits) | core as u64),
            _ => Next::NEVER,
        }
    }

    #[inline(always)]
    fn at(self, bits: u32) -> u64 {
        // Signed: what is never stays `u64::MAX`.
        (self.0 as i64 >> bits) as u64
    }

    #[inline(always)]
    fn core(self, bits: u32) -> CoreId {
        CoreId((self.0 & ((1 << bits) - 1)) as u16)
    }
}

/// The core that acts next.
#[derive(Clone, Copy)]
pub struct Turn {
    /// When it acts; never if none does.
    pub at: u64,
    pub core: CoreId,
    /// When the one after it acts.
    pub second: u64,
}

impl Turns {
    /// The turns of `cores` cores, all of which have been touched.
    pub fn new(cores: usize) -> Turns {
        Turns {
            of: vec![Next::NEVER; cores],
            bits: cores.next_power_of_two().ilog2(),
            touched: u64::MAX,
            first: Next::NEVER,
            second: Next::NEVER,
            is_known: false,
        }
    }

    /// The core's next turn may change before the next look.
    #[inline(always)]
    pub fn touch(&mut self, core: CoreId) {
        self.touched |= 1 << (core.0 % 64);
    }

    /// Every core's next turn may change before the next look.
    pub fn touch_all(&mut self) {
        self.touched = u64::MAX;
    }

    /// Looks at the cores touched.
    #[inline(always)]
    fn update(&mut self, harts: &[Hart]) {
        while self.touched != 0 {
            let lowest = self.touched.trailing_zeros() as usize;
            self.touched &= self.touched - 1;
            let mut core = lowest;
            while core < harts.len() {
                self.take_note(core, Next::new(harts[core].next_at(), core, self.bits));
                core += 64;
            }
        }
    }

    /// Notes when a core acts next.
    #[inline(always)]
    fn take_note(&mut self, core: usize, next: Next) {
        let before = std::mem::replace(&mut self.of[core], next);
        if before == self.first {
            self.is_known &= next < self.second;
            self.first = next;
        } else if next < self.first {
            self.second = self.first;
            self.first = next;
        } else if next <= self.second {
            self.second = next;
        } else {
            self.is_known &= before != self.second;
        }
    }

    /// Looks at all cores.
    fn find(&mut self) {
        let (mut first, mut second) = (Next::NEVER, Next::NEVER);
        for &next in &self.of {
            second = second.min(first.max(next));
            first = first.min(next);
        }
        (self.first, self.second) = (first, second);
        self.is_known = true;
    }
}

impl Hart {
    /// When its program or its store queue acts next.
    #[inline(always)]
    fn next_at(&self) -> u64 {
        self.next_op_at().min(self.core.drain.next.get())
    }
}

impl Hardware {
    /// The core that acts next; ties go to the lower number.
    #[inline(always)]
    pub fn next_turn(&mut self) -> Turn {
        if let [only] = &*self.harts {
            let (at, core, second) = (only.next_at(), CoreId(0), u64::MAX);
            return Turn { at, core, second };
        }
        self.turns.update(&self.harts);
        let is_known =
            |(core, hart): (usize, &Hart)| Next::new(hart.next_at(), core, self.turns.bits) == self.turns.of[core];
        debug_assert!(self.harts.iter().enumerate().all(is_known), "touched before a change");
        if !self.turns.is_known {
            self.turns.find();
        }
        let Turns {
            first, second, bits, ..
        } = self.turns;
        Turn {
            at: first.at(bits),
            core: first.core(bits),
            second: second.at(bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_kernel::Rng;

    #[test]
    fn the_next_two_are_those_of_a_search() {
        let (mut turns, mut rng) = (Turns::new(5), Rng::new(1));
        let mut notes = 0;
        for _ in 0..20_000 {
            let core = rng.below(5) as usize;
            // Few times, so that many are equal.
            let at = if rng.one_in(9) { u64::MAX } else { rng.below(12) };
            turns.take_note(core, Next::new(at, core, turns.bits));
            match turns.is_known {
                true => notes += 1,
                false => turns.find(),
            }
            let mut all = turns.of.clone();
            all.sort();
            assert_eq!((turns.first, turns.second), (all[0], all[1]));
            assert_eq!(turns.of[core].at(turns.bits), at);
        }
        assert!(notes > 10_000, "{notes} without a search");
    }

    #[test]
    fn runs_of_slow_memory_may_be_long() {
        // Seventy million persists, one after the other, of as many cycles as a machine may have for one.
        let late = 70_000_000 * 1_000_000_000;
        for cores in [2, 64] {
            let bits = Turns::new(cores).bits;
            let next = Next::new(late, cores - 1, bits);
            assert_eq!((next.at(bits), next.core(bits).index()), (late, cores - 1));
            assert!(next < Next::new(late + 1, 0, bits));
        }
    }
}
