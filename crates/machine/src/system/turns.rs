//! Whose turn it is: when each core acts next.

use super::hardware::{Hardware, Hart};
use strandline_isa::CoreId;

/// When each core acts next, side by side, so that a look at all reads a few of the host's cache lines.
pub struct Turns {
    /// The times, but for those of cores touched since.
    at: Vec<u64>,
    /// The cores touched since, by the low bits of their numbers.
    touched: u64,
    /// The two that act next, unless they are to be looked for.
    first: Next,
    second: Next,
    is_known: bool,
}

/// When a core acts, and which; ties go to the lower number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    at: u64,
    core: usize,
}

impl Next {
    /// A number that is ordered as this is.
    #[inline(always)]
    fn as_number(self) -> u128 {
        (u128::from(self.at) << 64) | self.core as u128
    }

    #[inline(always)]
    fn of_number(number: u128) -> Next {
        Next {
            at: (number >> 64) as u64,
            core: number as u64 as usize,
        }
    }
}

/// No core.
const NONE: Next = Next {
    at: u64::MAX,
    core: usize::MAX,
};

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
    /// The turns of so many cores, all of which have been touched.
    pub fn new(cores: usize) -> Turns {
        Turns {
            at: vec![u64::MAX; cores],
            touched: u64::MAX,
            first: NONE,
            second: NONE,
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
                let at = harts[core].next_at();
                if at != self.at[core] {
                    self.at[core] = at;
                    self.take_note(Next { at, core });
                }
                core += 64;
            }
        }
    }

    /// Notes a core's new turn.
    #[inline(always)]
    fn take_note(&mut self, next: Next) {
        if next.core == self.first.core {
            self.is_known &= next < self.second;
            self.first = next;
        } else if next < self.first {
            self.second = self.first;
            self.first = next;
        } else if next <= self.second {
            self.second = next;
        } else {
            self.is_known &= next.core != self.second.core;
        }
    }

    /// Looks at all cores.
    fn find(&mut self) {
        // As numbers: the host could not foresee which core is next, and their least takes no branch.
        let (mut first, mut second) = (NONE.as_number(), NONE.as_number());
        for (core, &at) in self.at.iter().enumerate() {
            let next = Next { at, core }.as_number();
            second = second.min(first.max(next));
            first = first.min(next);
        }
        (self.first, self.second) = (Next::of_number(first), Next::of_number(second));
        self.is_known = true;
    }
}

impl Hart {
    /// When its program or its store queue acts next.
    #[inline(always)]
    fn next_at(&self) -> u64 {
        self.next_op_at().min(self.core.drains.get())
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
        let is_known = |(hart, at): (&Hart, &u64)| hart.next_at() == *at;
        debug_assert!(
            self.harts.iter().zip(&self.turns.at).all(is_known),
            "touched before a change"
        );
        if !self.turns.is_known {
            self.turns.find();
        }
        let Turns { first, second, .. } = self.turns;
        Turn {
            at: first.at,
            core: CoreId(first.core as u16),
            second: second.at,
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
            if turns.at[core] != at {
                turns.at[core] = at;
                turns.take_note(Next { at, core });
            }
            match turns.is_known {
                true => notes += 1,
                false => turns.find(),
            }
            let mut all: Vec<Next> = (0..5)
                .map(|core| Next {
                    at: turns.at[core],
                    core,
                })
                .collect();
            all.sort();
            assert_eq!(turns.first.at, all[0].at);
            assert_eq!(turns.second.at, all[1].at);
            assert!(turns.first == all[0] || all[0].at == u64::MAX);
        }
        assert!(notes > 10_000, "{notes} without a search");
    }
}
