//! Distinct crash states of a run.

use super::name::Point;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use strandline_isa::{Line, LineData, Memory};
use strandline_machine::Journal;

/// The contents seen so far, in all runs.
pub struct Distinct {
    seen: HashSet<u128>,
}

impl Default for Distinct {
    /// The initial memory counts as seen.
    fn default() -> Self {
        Distinct {
            seen: HashSet::from([0]),
        }
    }
}

impl Distinct {
    /// How many.
    pub fn count(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The new crash states of a run, in order.
    pub fn of_run(&mut self, run: usize, journal: &Journal, initial: &Memory) -> Vec<Point> {
        let mut content = Content::of(initial);
        let mut new = Vec::new();
        for event in 0..=journal.durable.len() {
            if let Some(last) = event.checked_sub(1).map(|last| &journal.durable[last]) {
                content.set(last.line, &last.data);
            }
            if self.seen.insert(content.all) {
                new.push(Point { run, event });
            }
        }
        new
    }
}

/// A hash of memory's contents: 0 for the initial contents.
struct Content<'m> {
    initial: &'m Memory,
    lines: HashMap<Line, u128>,
    all: u128,
}

impl<'m> Content<'m> {
    fn of(initial: &'m Memory) -> Content<'m> {
        Content {
            initial,
            lines: HashMap::new(),
            all: 0,
        }
    }

    fn part(&self, line: Line, data: &LineData) -> u128 {
        digest(line, data) ^ digest(line, &self.initial.line(line))
    }

    fn set(&mut self, line: Line, data: &LineData) {
        let part = self.part(line, data);
        self.all ^= part ^ self.lines.insert(line, part).unwrap_or(0);
    }
}

fn digest(line: Line, data: &LineData) -> u128 {
    let half = |salt: u64| {
        let mut hasher = DefaultHasher::new();
        (salt, line, data).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::{Addr, PM_BASE};
    use strandline_kernel::Cycles;
    use strandline_machine::Durable;

    fn line(number: u64) -> Line {
        Addr(PM_BASE + 64 * number).line()
    }

    fn journal(durable: &[(u64, u64)]) -> Journal {
        let durable = durable.iter().map(|(at, value)| Durable {
            at: Cycles(0),
            line: line(*at),
            data: [*value; 8],
        });
        Journal {
            durable: durable.collect(),
            ..Journal::default()
        }
    }

    fn names(points: &[Point]) -> Vec<String> {
        points.iter().map(Point::to_string).collect()
    }

    #[test]
    fn contents_that_were_seen_are_no_new_states() {
        let (memory, mut distinct) = (Memory::new(64, 256), Distinct::default());
        // The third write undoes the second, and the last one the first: memory is as at first.
        let run = journal(&[(0, 7), (1, 7), (1, 0), (0, 0), (2, 5)]);
        assert_eq!(
            names(&distinct.of_run(0, &run, &memory)),
            ["run0:1", "run0:2", "run0:5"]
        );
        let other = journal(&[(1, 7), (0, 7), (2, 5)]);
        assert_eq!(names(&distinct.of_run(1, &other, &memory)), ["run1:1", "run1:3"]);
        assert_eq!(distinct.count(), 6, "with the state at first");
    }
}
