//! The branch predictor: gshare, two-bit counters.

use std::cell::Cell;

/// A table of two-bit counters, indexed by the branch's site and the outcomes of the branches before it.
pub struct Predictor {
    counters: Box<[Cell<u8>]>,
    history: Cell<u32>,
}

/// Outcomes that take part in the index.
const HISTORY_BITS: u32 = 8;

impl Predictor {
    /// A predictor of so many counters, rounded up to a power of two.
    pub fn new(entries: u64) -> Predictor {
        let entries = entries.next_power_of_two() as usize;
        Predictor {
            counters: (0..entries).map(|_| Cell::new(1)).collect(),
            history: Cell::new(0),
        }
    }

    /// Predicts the branch at `site`, learns its outcome, and says whether the prediction was right.
    #[inline(always)]
    pub fn predict(&self, site: u32, taken: bool) -> bool {
        let history = self.history.get();
        let index = (site ^ (site >> 15) ^ history) as usize & (self.counters.len() - 1);
        let counter = &self.counters[index];
        let value = counter.get();
        counter.set(if taken {
            (value + 1).min(3)
        } else {
            value.saturating_sub(1)
        });
        self.history
            .set(((history << 1) | u32::from(taken)) & ((1 << HISTORY_BITS) - 1));
        (value >= 2) == taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_branch_is_learnt() {
        let p = Predictor::new(1024);
        let wrong = (0..100).filter(|_| !p.predict(7, true)).count();
        assert!(
            wrong <= HISTORY_BITS as usize + 2,
            "each history seen on the way in may miss once: {wrong}"
        );
    }

    #[test]
    fn an_alternating_branch_is_learnt_by_its_history() {
        let p = Predictor::new(1024);
        (0..64).for_each(|i| _ = p.predict(7, i % 2 == 0));
        assert!((0..64).all(|i| p.predict(7, i % 2 == 0)));
    }
}
