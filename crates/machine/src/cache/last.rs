//! The last level: shared, inclusive, with the directory of who holds what.

use super::tags::{move_to_front, Sets};
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

    /// So many cores, from the first on.
    pub fn first(cores: usize) -> Sharers {
        Sharers(u64::MAX >> (64 - cores))
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

/// What the last level knows of a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastLine {
    /// Whether it is newer than memory. Of an owned line its owner knows: giving a line away hands this on.
    pub dirty: bool,
    /// Whether its single sharer may have written it.
    pub owned: bool,
    /// The cores whose private levels may hold it.
    pub sharers: Sharers,
}

/// The last level's lines.
pub struct Last {
    ways: usize,
    sets: Sets,
    /// Which line a way holds, and in its low bits which place of its set in `lines`. The ways of a set stand in order
    /// of use, the latest first, the empty ones last.
    tags: Box<[u64]>,
    lines: Box<[LastLine]>,
    /// Cycles of a look-up.
    pub latency: u64,
    /// Misses outstanding to memory.
    pub misses: Misses,
}

/// Bits of a tag that say which place: as many as the most ways that a machine may have need.
const PLACE_BITS: u32 = 16;

/// The place that a tag names.
#[inline(always)]
fn place(tag: u64) -> usize {
    (tag & ((1 << PLACE_BITS) - 1)) as usize
}

/// The line's part of a tag; never zero, which is an empty way's.
#[inline(always)]
fn key(line: Line) -> u64 {
    (line.0 + 1) << PLACE_BITS
}

impl Last {
    pub fn new(cache: &config::Cache) -> Last {
        let sets = Sets::new(cache.bytes, cache.ways);
        let tags = (0..sets.count).flat_map(|_| 0..cache.ways);
        Last {
            ways: cache.ways as usize,
            sets,
            tags: tags.collect(),
            lines: vec![LastLine::default(); (sets.count * cache.ways) as usize].into_boxed_slice(),
            latency: cache.latency.0,
            misses: Misses::new(cache.mshrs),
        }
    }

    /// Where the set of a line begins.
    #[inline(always)]
    fn base(&self, line: Line) -> usize {
        self.sets.of(line) * self.ways
    }

    #[inline(always)]
    fn way(&self, base: usize, line: Line) -> Option<usize> {
        self.tags[base..base + self.ways]
            .iter()
            .position(|tag| tag ^ key(line) < 1 << PLACE_BITS)
    }

    /// The line, which becomes the latest used of its set.
    pub fn touch(&mut self, line: Line) -> Option<&mut LastLine> {
        let base = self.base(line);
        let way = self.way(base, line)?;
        let set = &mut self.tags[base..base + self.ways];
        move_to_front(set, way);
        Some(&mut self.lines[base + place(set[0])])
    }

    /// The line, without using it.
    pub fn peek(&mut self, line: Line) -> Option<&mut LastLine> {
        let base = self.base(line);
        let way = self.way(base, line)?;
        Some(&mut self.lines[base + place(self.tags[base + way])])
    }

    /// The line that `line`, which is not here, would drive out.
    pub fn victim_for(&self, line: Line) -> Option<Line> {
        let tag = self.tags[self.base(line) + self.ways - 1] >> PLACE_BITS;
        tag.checked_sub(1).map(Line)
    }

    /// Puts a clean line that is not here in as the latest used, over an empty way or the least recently used line.
    pub fn insert(&mut self, line: Line) {
        let base = self.base(line);
        let set = &mut self.tags[base..base + self.ways];
        move_to_front(set, set.len() - 1);
        let place = place(set[0]);
        set[0] = key(line) | place as u64;
        self.lines[base + place] = LastLine::default();
    }

    /// Removes the line.
    pub fn remove(&mut self, line: Line) {
        let base = self.base(line);
        let Some(way) = self.way(base, line) else { return };
        let set = &mut self.tags[base..base + self.ways];
        let place = place(set[way]);
        set.copy_within(way + 1.., way);
        set[set.len() - 1] = place as u64;
    }
}
