//! Reads of a core that see what it has seen before, as a task does that waits for a lock.
//!
//! Of reads of a location that see the same write, with nothing but reads between them, only the first and the last tell
//! something: what comes after the write comes after the first, and what precedes a later write precedes the last.

use std::collections::BTreeMap;

/// A read that has been passed over for now.
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
    /// How many stores were visible when the location was read last.
    then: u32,
    /// The last read, if it has been passed over.
    passed: Option<Passed>,
}

/// What a core has read since its last event that was no read, by location.
#[derive(Default)]
pub struct Repeats(BTreeMap<usize, Seen>);

impl Repeats {
    /// How many stores were visible when the location was read last, if it was.
    pub fn then(&self, number: usize) -> Option<u32> {
        self.0.get(&number).map(|seen| seen.then)
    }

    /// A read of its own: an event.
    pub fn reads(&mut self, number: usize, now: u32) {
        let passed = None;
        self.0.insert(number, Seen { then: now, passed });
    }

    /// A read that sees what the last one of the location saw.
    pub fn repeats(&mut self, now: u32, read: Passed) {
        let seen = Seen {
            then: now,
            passed: Some(read),
        };
        self.0.insert(read.number, seen);
    }

    /// The last reads of those that were passed over, in program order: events, since another one follows.
    pub fn take(&mut self) -> Vec<Passed> {
        let mut passed: Vec<Passed> = self.0.values_mut().filter_map(|seen| seen.passed.take()).collect();
        passed.sort_unstable_by_key(|passed| passed.index);
        passed
    }

    /// Something other than a read comes.
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
    fn the_last_of_reads_that_repeat_is_told_in_program_order() {
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
