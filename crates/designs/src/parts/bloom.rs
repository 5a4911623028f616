//! A counting Bloom filter of lines.

use std::collections::BTreeMap;
use strandline_isa::Line;

/// Counters of a filter, and bits of each. ASAP (HPCA 2022, section V-F) names neither: a few times the entries of all
/// persist buffers that a controller serves.
pub const COUNTERS: usize = 512;

/// Storage of a filter.
pub const FILTER_BYTES: u64 = COUNTERS as u64;

/// Lines, removed as often as they were added. A look-up may hit without the line, but never misses
/// a line that the filter holds.
#[derive(Clone, Debug)]
pub struct CountingBloom {
    counters: Vec<u8>,
    /// The lines that it holds, to detect its errors.
    lines: BTreeMap<Line, u32>,
    lookups: u64,
    false_positives: u64,
}

impl Default for CountingBloom {
    fn default() -> Self {
        CountingBloom {
            counters: vec![0; COUNTERS],
            lines: BTreeMap::new(),
            lookups: 0,
            false_positives: 0,
        }
    }
}

/// The counters of a line: two hashes.
fn places(line: Line) -> [usize; 2] {
    let mixed = line.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = COUNTERS.ilog2();
    [mixed >> (64 - bits), (mixed >> (64 - 2 * bits)) % COUNTERS as u64].map(|place| place as usize)
}

impl CountingBloom {
    /// Adds a line. Saturated counters stay so.
    pub fn add(&mut self, line: Line) {
        for place in places(line) {
            self.counters[place] = self.counters[place].saturating_add(1);
        }
        *self.lines.entry(line).or_default() += 1;
    }

    /// Removes a line that was added.
    pub fn remove(&mut self, line: Line) {
        let Some(count) = self.lines.get_mut(&line) else {
            return;
        };
        *count -= 1;
        if *count == 0 {
            self.lines.remove(&line);
        }
        for place in places(line) {
            if self.counters[place] != u8::MAX {
                self.counters[place] -= 1;
            }
        }
    }

    /// Looks a line up: whether the filter may hold it.
    pub fn look_up(&mut self, line: Line) -> bool {
        let says_so = places(line).iter().all(|place| self.counters[*place] > 0);
        self.lookups += 1;
        self.false_positives += u64::from(says_so && !self.lines.contains_key(&line));
        says_so
    }

    /// Look-ups so far, and how many were false positives.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.lookups, self.false_positives)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_was_added_is_held_until_it_was_removed_as_often() {
        let mut filter = CountingBloom::default();
        filter.add(Line(7));
        filter.add(Line(7));
        filter.remove(Line(7));
        assert!(filter.look_up(Line(7)));
        filter.remove(Line(7));
        assert!(!filter.look_up(Line(7)));
        filter.remove(Line(7));
        filter.add(Line(7));
        assert!(filter.look_up(Line(7)), "what is not there cannot be taken away");
    }

    #[test]
    fn it_never_denies_a_line_and_counts_its_errors() {
        let mut filter = CountingBloom::default();
        let held: BTreeSet<u64> = (0..200).map(|n| n * 17).collect();
        held.iter().for_each(|line| filter.add(Line(*line)));
        let mut wrong = 0;
        for line in 0..3400 {
            let says_so = filter.look_up(Line(line));
            assert!(says_so || !held.contains(&line), "{line}");
            wrong += u64::from(says_so && !held.contains(&line));
        }
        assert_eq!(filter.counts(), (3400, wrong));
        assert!(wrong > 0 && wrong < 3200 / 2, "{wrong} of 3200");
    }
}
