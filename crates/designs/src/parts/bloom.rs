//! Bloom filters: a plain one of any keys, and one of lines, from which they can be removed.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;
use strandline_isa::Line;
use strandline_kernel::NumberHasher;

/// A Bloom filter of keys: two hashes. It can only be emptied whole.
#[derive(Clone, Debug)]
pub struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// An empty filter of `bytes` bytes: a power of two, at least 8.
    #[must_use]
    pub fn new(bytes: u64) -> Filter {
        debug_assert!(bytes.is_power_of_two() && bytes >= 8);
        Filter {
            words: vec![0; bytes as usize / 8],
        }
    }

    /// Adds a key.
    pub fn add(&mut self, key: u64) {
        for bit in hashes(key, 64 * self.words.len()) {
            self.words[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Whether it may hold a key.
    #[must_use]
    pub fn holds(&self, key: u64) -> bool {
        let [first, second] = hashes(key, 64 * self.words.len());
        let is_set = |bit: usize| self.words[bit / 64] >> (bit % 64) & 1 != 0;
        is_set(first) && is_set(second)
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }
}

/// Look-ups in filters of lines, and those that hit although the filter did not hold the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookUps {
    /// All of them.
    pub all: u64,
    /// Those that hit wrongly.
    pub false_positives: u64,
}

/// A Bloom filter of lines that detects its errors.
#[derive(Clone, Debug)]
pub struct Bloom {
    filter: Filter,
    /// The lines that it holds.
    lines: HashSet<Line, BuildHasherDefault<NumberHasher>>,
    /// The line added last: the next one is often the same.
    latest: Option<Line>,
}

impl Bloom {
    /// An empty filter of `bytes` bytes: a power of two, at least 8.
    #[must_use]
    pub fn new(bytes: u64) -> Bloom {
        Bloom {
            filter: Filter::new(bytes),
            lines: HashSet::default(),
            latest: None,
        }
    }

    /// Adds a line.
    pub fn add(&mut self, line: Line) {
        if self.latest != Some(line) && self.lines.insert(line) {
            self.filter.add(line.0);
        }
        self.latest = Some(line);
    }

    /// Looks a line up: whether the filter may hold it.
    pub fn look_up(&self, line: Line, counts: &mut LookUps) -> bool {
        let says_so = self.filter.holds(line.0);
        counts.all += 1;
        counts.false_positives += u64::from(says_so && !self.lines.contains(&line));
        says_so
    }

    /// Whether it was given this line; the filter itself cannot tell.
    #[cfg(test)]
    pub fn was_given(&self, line: Line) -> bool {
        self.lines.contains(&line)
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        self.filter.clear();
        self.lines.clear();
        self.latest = None;
    }
}

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
    lines: HashMap<Line, u32, BuildHasherDefault<NumberHasher>>,
    lookups: u64,
    false_positives: u64,
}

impl Default for CountingBloom {
    fn default() -> Self {
        CountingBloom {
            counters: vec![0; COUNTERS],
            lines: HashMap::default(),
            lookups: 0,
            false_positives: 0,
        }
    }
}

/// The places of a key among `places`, a power of two: two hashes.
fn hashes(key: u64, places: usize) -> [usize; 2] {
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (bits, mask) = (places.ilog2(), places as u64 - 1);
    [mixed >> (64 - bits), (mixed >> (64 - 2 * bits)) & mask].map(|place| place as usize)
}

impl CountingBloom {
    /// Adds a line. Saturated counters stay so.
    pub fn add(&mut self, line: Line) {
        for place in hashes(line.0, COUNTERS) {
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
        for place in hashes(line.0, COUNTERS) {
            if self.counters[place] != u8::MAX {
                self.counters[place] -= 1;
            }
        }
    }

    /// Looks a line up: whether the filter may hold it.
    pub fn look_up(&mut self, line: Line) -> bool {
        let says_so = hashes(line.0, COUNTERS).iter().all(|place| self.counters[*place] > 0);
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
    #[test]
    fn a_plain_filter_never_denies_a_line_counts_its_errors_and_can_be_emptied() {
        let mut filter = Bloom::new(32);
        let mut counts = LookUps::default();
        let held: BTreeSet<u64> = (0..40).map(|n| n * 17).collect();
        held.iter().for_each(|line| filter.add(Line(*line)));
        let mut wrong = 0;
        for line in 0..680 {
            let says_so = filter.look_up(Line(line), &mut counts);
            assert!(says_so || !held.contains(&line), "{line}");
            assert_eq!(filter.was_given(Line(line)), held.contains(&line));
            wrong += u64::from(says_so && !held.contains(&line));
        }
        let expected = LookUps {
            all: 680,
            false_positives: wrong,
        };
        assert_eq!(counts, expected);
        // 40 lines set at most 80 of 256 bits, so that about one wrong line in ten hits.
        assert!(wrong > 0 && wrong < 640 / 4, "{wrong} of 640");
        filter.clear();
        assert!(!(0..680).any(|line| filter.look_up(Line(line), &mut counts)));
    }
}
