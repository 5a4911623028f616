//! A branch predictor of tagged tables, each for a longer history than the one before (TAGE).
//!
//! Source: Seznec and Michaud, "A case for (partially) tagged geometric history length branch predictors" (JILP 2006).
//! Simplified: a new entry is never trusted over the next shorter match, and usefulness is lost only when an entry finds no
//! place, not with time.

use super::predictor::{trained, UNTRAINED};
use super::restore::restore;
use std::cell::Cell;

/// A base table of two-bit counters, and tagged tables behind it.
#[derive(Clone)]
pub struct Tage {
    base: Box<[Cell<u8>]>,
    tagged: [Box<[Cell<Entry>]>; HISTORIES.len()],
    /// The latest outcomes, the last one in the lowest bit.
    history: Cell<u64>,
}

/// How many outcomes each tagged table looks at: a geometric series up to what a word holds.
const HISTORIES: [u32; 4] = [5, 12, 28, 64];

/// Entries of the base table for each entry of a tagged one.
const BASE_SHARE: usize = 4;

/// An entry of a tagged table.
#[derive(Clone, Copy, Default)]
struct Entry {
    /// Zero: it is free. Tags are odd.
    tag: u16,
    /// Predicts a taken branch from zero up.
    counter: i8,
    /// How often it was right where the next shorter match was wrong.
    useful: u8,
}

const LEAST: i8 = -4;
const MOST: i8 = 3;
const MOST_USEFUL: u8 = 3;

impl Entry {
    fn new(tag: u16, taken: bool) -> Entry {
        let counter = if taken { 0 } else { -1 };
        Entry {
            tag,
            counter,
            useful: 0,
        }
    }

    fn predicts(self) -> bool {
        self.counter >= 0
    }

    fn is_new(self) -> bool {
        self.useful == 0 && matches!(self.counter, -1 | 0)
    }

    fn learn(&mut self, taken: bool) {
        let step = if taken { 1 } else { -1 };
        self.counter = (self.counter + step).clamp(LEAST, MOST);
    }
}

/// A tagged table's place for a branch under the present history.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    tag: u16,
}

restore! { Tage { base, tagged, history } }

impl Tage {
    /// A base table of so many entries, a power of two.
    pub fn new(entries: usize) -> Tage {
        let of = (entries / BASE_SHARE).max(1);
        Tage {
            base: (0..entries).map(|_| Cell::new(UNTRAINED)).collect(),
            tagged: std::array::from_fn(|_| (0..of).map(|_| Cell::default()).collect()),
            history: Cell::new(0),
        }
    }

    /// Outcomes after which the history holds no older ones.
    pub const fn remembers() -> u64 {
        HISTORIES[HISTORIES.len() - 1] as u64
    }

    /// Predicts the branch at `site`, learns its outcome, and returns whether the prediction was right.
    pub fn predict(&self, site: u32, taken: bool) -> bool {
        let places: [Place; HISTORIES.len()] = std::array::from_fn(|table| self.place(site, table));
        let mut matches = (0..HISTORIES.len()).rev().filter(|table| {
            let place = places[*table];
            self.tagged[*table][place.index].get().tag == place.tag
        });
        let (longest, next) = (matches.next(), matches.next());
        let base = &self.base[site as usize & (self.base.len() - 1)];
        let entry = |table: usize| &self.tagged[table][places[table].index];
        let shorter = next.map_or(base.get() >= 2, |table| entry(table).get().predicts());
        let predicted = match longest.map(|table| entry(table).get()) {
            Some(found) if !found.is_new() => found.predicts(),
            _ => shorter,
        };
        match longest {
            Some(table) => learn(entry(table), shorter, taken),
            None => base.set(trained(base.get(), taken)),
        }
        if predicted != taken {
            self.allocate(longest.map_or(0, |table| table + 1), &places, taken);
        }
        self.history.set(self.history.get() << 1 | u64::from(taken));
        predicted == taken
    }

    /// Enters a branch into the first table from this one on that has a place of no use.
    fn allocate(&self, from: usize, places: &[Place], taken: bool) {
        let longer = || (from..HISTORIES.len()).map(|table| &self.tagged[table][places[table].index]);
        let free = longer().position(|entry| entry.get().useful == 0);
        match free {
            Some(behind) => {
                let table = from + behind;
                let place = places[table];
                self.tagged[table][place.index].set(Entry::new(place.tag, taken));
            }
            None => longer().for_each(|cell| {
                let mut entry = cell.get();
                entry.useful -= 1;
                cell.set(entry);
            }),
        }
    }

    fn place(&self, site: u32, table: usize) -> Place {
        let history = self.history.get() & u64::MAX >> (64 - HISTORIES[table]);
        let key = history ^ u64::from(site).rotate_left(40) ^ (table as u64) << 59;
        let mixed = (key ^ key >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Place {
            index: (mixed >> 40) as usize & (self.tagged[table].len() - 1),
            tag: (mixed >> 24) as u16 | 1,
        }
    }
}

/// The longest match learns; it is of use if it was right where the next shorter one was wrong.
fn learn(cell: &Cell<Entry>, shorter: bool, taken: bool) {
    let mut entry = cell.get();
    let predicted = entry.predicts();
    if predicted != shorter {
        entry.useful = match predicted == taken {
            true => (entry.useful + 1).min(MOST_USEFUL),
            false => entry.useful.saturating_sub(1),
        };
    }
    entry.learn(taken);
    cell.set(entry);
}

#[cfg(test)]
mod tests {
    use super::super::restore::Restore;
    use super::*;

    /// How many of the latter half of these outcomes of a branch are mispredicted.
    fn mispredicted(outcomes: &[bool]) -> usize {
        let tage = Tage::new(1024);
        let wrong: Vec<bool> = outcomes.iter().map(|taken| !tage.predict(7, *taken)).collect();
        wrong[wrong.len() / 2..].iter().filter(|wrong| **wrong).count()
    }

    #[test]
    fn a_loop_of_forty_turns_is_learnt() {
        let outcomes: Vec<bool> = (0..8000).map(|turn| turn % 40 != 39).collect();
        assert_eq!(mispredicted(&outcomes), 0, "a table sees 64 outcomes");
    }

    #[test]
    fn a_loop_longer_than_the_longest_history_costs_one_misprediction() {
        let outcomes: Vec<bool> = (0..8000).map(|turn| turn % 100 != 99).collect();
        assert_eq!(mispredicted(&outcomes), 40, "one in a hundred of 4,000");
    }

    #[test]
    fn random_outcomes_are_mispredicted_half_of_the_time() {
        let mut rng = strandline_kernel::Rng::new(1);
        let outcomes: Vec<bool> = (0..8000).map(|_| rng.one_in(2)).collect();
        // 2,000 of 4,000 by chance; 300 are nine standard deviations.
        assert!((1700..2300).contains(&mispredicted(&outcomes)));
    }

    #[test]
    fn an_earlier_state_is_restored() {
        let tage = Tage::new(64);
        let outcomes = |turn: u64| turn % 3 == 0;
        (0..100).for_each(|turn| _ = tage.predict(3, outcomes(turn)));
        let saved = tage.clone();
        let after = |tage: &Tage| -> Vec<bool> { (0..50).map(|turn| tage.predict(3, turn % 5 == 0)).collect() };
        let first = after(&tage);
        tage.restore(&saved);
        assert_eq!(after(&tage), first);
    }
}
