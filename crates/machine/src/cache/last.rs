//! The last level: shared, inclusive, with the directory of who holds what.

use super::tags::move_to_front;
use super::Misses;
use crate::config;
use strandline_isa::{CoreId, Line};

/// A set of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharers(u64);

impl Sharers {
    /// Only this core.
    pub fn only(core: CoreId) -> Sharers {
        Sharers(1 << core.0)
    }

    /// Adds a core.
    pub fn add(&mut self, core: CoreId) {
        self.0 |= 1 << core.0;
    }

    /// Removes a core.
    pub fn remove(&mut self, core: CoreId) {
        self.0 &= !(1 << core.0);
    }

    /// Whether the core is one of them.
    pub fn contains(self, core: CoreId) -> bool {
        self.0 & (1 << core.0) != 0
    }

    /// All but this core, in order.
    pub fn others(self, core: CoreId) -> impl Iterator<Item = CoreId> {
        let mut rest = self.0 & !(1 << core.0);
        std::iter::from_fn(move || {
            let next = rest.trailing_zeros();
            (next < 64).then(|| {
                rest &= rest - 1;
                CoreId(next as u16)
            })
        })
    }
}

/// A line of the last level.
#[derive(Clone, Copy, Debug)]
pub struct LastLine {
    /// Which line.
    pub line: Line,
    /// Whether it is newer than memory. Of an owned line its owner knows: giving a line away hands this on.
    pub dirty: bool,
    /// Whether its single sharer may have written it.
    pub owned: bool,
    /// The cores whose private levels may hold it.
    pub sharers: Sharers,
}

const EMPTY: Line = Line(u64::MAX);

/// The last level's lines. The ways of a set stand in order of use, the latest first.
pub struct Last {
    ways: usize,
    sets: u64,
    lines: Box<[LastLine]>,
    /// Cycles of a look-up.
    pub latency: u64,
    /// Misses outstanding to memory.
    pub misses: Misses,
}

impl Last {
    pub fn new(cache: &config::Cache) -> Last {
        let sets = (cache.bytes / 64 / cache.ways).max(1);
        let empty = LastLine {
            line: EMPTY,
            dirty: false,
            owned: false,
            sharers: Sharers::default(),
        };
        Last {
            ways: cache.ways as usize,
            sets,
            lines: vec![empty; (sets * cache.ways) as usize].into_boxed_slice(),
            latency: cache.latency.0,
            misses: Misses::new(cache.mshrs),
        }
    }

    fn set(&mut self, line: Line) -> &mut [LastLine] {
        let base = (line.0 % self.sets) as usize * self.ways;
        &mut self.lines[base..base + self.ways]
    }

    /// The line, which becomes the latest used of its set.
    pub fn touch(&mut self, line: Line) -> Option<&mut LastLine> {
        let set = self.set(line);
        let way = set.iter().position(|l| l.line == line)?;
        move_to_front(set, way);
        Some(&mut set[0])
    }

    /// The line, without using it.
    pub fn peek(&mut self, line: Line) -> Option<&mut LastLine> {
        self.set(line).iter_mut().find(|l| l.line == line)
    }

    /// The line that `line` would drive out.
    pub fn victim_for(&mut self, line: Line) -> Option<LastLine> {
        let set = self.set(line);
        if set.iter().any(|l| l.line == EMPTY || l.line == line) {
            return None;
        }
        set.last().copied()
    }

    /// Puts a clean line in as the latest used, over an empty way or the least recently used line.
    pub fn insert(&mut self, line: Line) -> &mut LastLine {
        let set = self.set(line);
        let way = set.iter().position(|l| l.line == EMPTY).unwrap_or(set.len() - 1);
        move_to_front(set, way);
        set[0] = LastLine {
            line,
            dirty: false,
            owned: false,
            sharers: Sharers::default(),
        };
        &mut set[0]
    }

    /// Removes the line.
    pub fn remove(&mut self, line: Line) {
        if let Some(l) = self.peek(line) {
            l.line = EMPTY;
        }
    }
}
