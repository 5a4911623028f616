//! Reads of a core that see the same write again, as in a loop that waits for a lock.
//!
//! Successive reads of a location that see the same write, with only reads in between: only the first and the last
//! carry order. The write precedes whatever follows the first, and whatever precedes the last precedes a later write.

use std::collections::BTreeMap;

/// A postponed read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Its operation's index in its core's program.
    pub index: usize,
    /// Its place among all reads.
    pub read: usize,
    /// The number of its location.
    pub number: usize,
    /// Its moment.
    pub stamp: u64,
}

struct Seen {
    /// Number of visible stores at the previous read of the location.
    then: u32,
    /// The last read, if it is postponed.
    passed: Option<Passed>,
}

/// A core's reads since its last event other than a read, by location.
#[derive(Default)]
pub struct Repeats(BTreeMap<usize, Seen>);

impl Repeats {
    /// Number of visible stores at the previous read of the location, if any.
    pub fn then(&self, number: usize) -> Option<u32> {
        self.0.get(&number).map(|seen| seen.then)
    }

    /// A read that becomes an event.
    pub fn reads(&mut self, number: usize, now: u32) {
        let passed = None;
        self.0.insert(number, Seen { then: now, passed });
    }

    /// A read that sees the same write as the previous read of the location.
    pub fn repeats(&mut self, now: u32, read: Passed) {
        let seen = Seen {
            then: now,
            passed: Some(read),
        };
        self.0.insert(read.number, seen);
    }

    /// The last of the postponed reads, in program order. They become events, because another one follows.
    pub fn take(&mut self) -> Vec<Passed> {
        let mut passed: Vec<Passed> = self.0.values_mut().filter_map(|seen| seen.passed.take()).collect();
        passed.sort_unstable_by_key(|passed| passed.index);
        passed
    }

    /// Processes an event other than a read.
    pub fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(index: usize, number: usize) -> Passed {
        Passed {
            index,
            read: index,
            number,
            stamp: 0,
        }
    }

    #[test]
    fn the_last_of_repeated_reads_comes_in_program_order() {
        let mut repeats = Repeats::default();
        repeats.reads(0, 3);
        repeats.reads(1, 3);
        for index in 2..10 {
            repeats.repeats(4, passed(index, (index + 1) % 2));
        }
        assert_eq!(
            (repeats.then(0), repeats.then(1), repeats.then(2)),
            (Some(4), Some(4), None)
        );
        assert_eq!(repeats.take(), [passed(8, 1), passed(9, 0)]);
        assert_eq!(repeats.take(), []);
        repeats.forget();
        assert_eq!(repeats.then(0), None);
    }
}
