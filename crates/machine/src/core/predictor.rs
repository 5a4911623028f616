//! The branch predictor and the predictor of indirect jumps' targets.

use super::restore::{restore, Restore};
use super::tage::Tage;
use crate::config::Prediction;
use std::cell::Cell;

/// Both predictors of a core.
#[derive(Clone)]
pub struct Branches {
    pub predictor: Predictor,
    pub targets: Targets,
}

impl Branches {
    /// Predictors of `entries` entries each, rounded up to a power of two.
    pub fn new(prediction: Prediction, entries: u64) -> Branches {
        Branches {
            predictor: Predictor::new(prediction, entries),
            targets: Targets::new(entries),
        }
    }
}

restore! { Branches { predictor, targets } }

/// A predictor of branches.
#[derive(Clone)]
pub enum Predictor {
    Gshare(Gshare),
    Tage(Box<Tage>),
}

impl Predictor {
    /// A predictor of `entries` counters, rounded up to a power of two.
    pub fn new(prediction: Prediction, entries: u64) -> Predictor {
        let entries = entries.next_power_of_two() as usize;
        match prediction {
            Prediction::Gshare => Predictor::Gshare(Gshare::new(entries)),
            Prediction::Tage => Predictor::Tage(Box::new(Tage::new(entries))),
        }
    }

    /// Predicts the branch at `site`, learns its outcome, and returns whether the prediction was
    /// right.
    #[inline(always)]
    pub fn predict(&self, site: u32, taken: bool) -> bool {
        match self {
            Predictor::Gshare(gshare) => gshare.predict(site, taken),
            Predictor::Tage(tage) => tage.predict(site, taken),
        }
    }

    /// Turns of a loop after which it no longer learns: its history, then a counter, hold only the loop's outcomes.
    pub fn learns_in(&self) -> u64 {
        match self {
            Predictor::Gshare(_) => u64::from(HISTORY_BITS) + COUNTER_TURNS,
            Predictor::Tage(_) => Tage::remembers() + COUNTER_TURNS,
        }
    }
}

impl Restore for Predictor {
    fn restore(&self, saved: &Predictor) {
        match (self, saved) {
            (Predictor::Gshare(to), Predictor::Gshare(saved)) => to.restore(saved),
            (Predictor::Tage(to), Predictor::Tage(saved)) => to.restore(saved),
            _ => unreachable!("a core keeps its predictor"),
        }
    }
}

/// Turns that bring any counter to its end.
const COUNTER_TURNS: u64 = 8;

/// A table of two-bit counters, indexed by the branch's site and the outcomes of the branches before it.
#[derive(Clone)]
pub struct Gshare {
    counters: Box<[Cell<u8>]>,
    history: Cell<u32>,
}

/// Outcomes that take part in the index.
const HISTORY_BITS: u32 = 8;

/// A counter before its first branch: weakly not taken.
pub const UNTRAINED: u8 = 1;

/// A two-bit counter after this outcome.
#[inline(always)]
pub fn trained(counter: u8, taken: bool) -> u8 {
    match taken {
        true => (counter + 1).min(3),
        false => counter.saturating_sub(1),
    }
}

restore! { Gshare { counters, history } }

impl Gshare {
    fn new(entries: usize) -> Gshare {
        Gshare {
            counters: (0..entries).map(|_| Cell::new(UNTRAINED)).collect(),
            history: Cell::new(0),
        }
    }

    #[inline(always)]
    fn predict(&self, site: u32, taken: bool) -> bool {
        let history = self.history.get();
        let index = (site ^ (site >> 15) ^ history) as usize & (self.counters.len() - 1);
        let counter = &self.counters[index];
        let value = counter.get();
        counter.set(trained(value, taken));
        self.history
            .set(((history << 1) | u32::from(taken)) & ((1 << HISTORY_BITS) - 1));
        (value >= 2) == taken
    }
}

/// A table of the last targets of indirect jumps, indexed by the jump's site and the targets of the jumps before it.
#[derive(Clone)]
pub struct Targets {
    last: Box<[Cell<u64>]>,
    /// A few bits of each of the latest targets: [`TARGET_BITS`] of each, as many as fill the word.
    history: Cell<u64>,
}

/// Bits of a target that take part in the index.
const TARGET_BITS: u32 = 4;

restore! { Targets { last, history } }

impl Targets {
    /// A table of `entries` targets, rounded up to a power of two.
    pub fn new(entries: u64) -> Targets {
        Targets {
            last: (0..entries.next_power_of_two()).map(|_| Cell::new(0)).collect(),
            history: Cell::new(0),
        }
    }

    /// Predicts the target of the jump at `site`, learns that it is `to`, and returns whether the
    /// prediction was right.
    pub fn predict(&self, site: u32, to: u64) -> bool {
        let history = self.history.get();
        let mixed = (history ^ u64::from(site) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let index = (mixed >> 32) as usize & (self.last.len() - 1);
        // Any few bits of the target's address distinguish targets.
        let bits = (to ^ to >> TARGET_BITS ^ to >> (2 * TARGET_BITS)) & ((1 << TARGET_BITS) - 1);
        self.history.set(history << TARGET_BITS | bits);
        self.last[index].replace(to) == to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_branch_is_learnt() {
        let p = Gshare::new(1024);
        let wrong = (0..100).filter(|_| !p.predict(7, true)).count();
        assert!(
            wrong <= HISTORY_BITS as usize + 2,
            "each history seen on the way in may miss once: {wrong}"
        );
    }

    #[test]
    fn targets_that_follow_a_pattern_are_learnt_and_random_ones_are_not() {
        let p = Targets::new(1024);
        let pattern = |i: usize| [7, 7, 7, 9][i % 4];
        (0..64).for_each(|i| _ = p.predict(3, pattern(i)));
        assert!((0..64).all(|i| p.predict(3, pattern(i))));
        let mut word = 1u64;
        let right = (0..1000).filter(|_| {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            p.predict(3, word % 8)
        });
        // One in eight by chance, 125; as many again is 12 standard deviations away.
        assert!(right.count() < 250);
    }

    #[test]
    fn an_alternating_branch_is_learnt_by_its_history() {
        let p = Gshare::new(1024);
        (0..64).for_each(|i| _ = p.predict(7, i % 2 == 0));
        assert!((0..64).all(|i| p.predict(7, i % 2 == 0)));
    }
}
