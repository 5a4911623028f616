//! The LLC: shared, inclusive, with the directory of the lines' sharers.

use super::tags::{move_to_front, Sets};
use super::{Misses, State};
use crate::config;
use strandline_design::Access;
use strandline_isa::{CoreId, Line};
use strandline_rules::{broken, Rule};

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

    /// These and those.
    pub fn and(self, others: Sharers) -> Sharers {
        Sharers(self.0 | others.0)
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
        Sharers(self.0 & !(1 << core.0)).cores()
    }

    /// All of them, in order.
    pub fn cores(self) -> impl Iterator<Item = CoreId> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let next = rest.trailing_zeros();
            (next < 64).then(|| {
                rest &= rest - 1;
                CoreId(next as u16)
            })
        })
    }
}

/// The LLC's state of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LlcLine {
    /// Whether it is newer than memory. The owner of an owned line knows; a change of owner passes
    /// this on.
    pub dirty: bool,
    /// Whether its single sharer may have written it.
    pub owned: bool,
    /// The cores whose private levels may hold it. Clean lines leave those silently.
    pub sharers: Sharers,
}

impl LlcLine {
    /// Makes a core one of the sharers, once the others have answered it. `alone`: no other core has a copy.
    pub fn join(&mut self, core: CoreId, access: Access, alone: bool) {
        if access == Access::Own {
            self.sharers = Sharers::only(core);
        } else if !(alone && broken(Rule::ReaderIsKnown)) {
            self.sharers.add(core);
        }
        self.owned = access == Access::Own || alone;
    }

    /// The state in which the core that has joined gets the line. An owner takes over that it is dirty.
    pub fn hand_over(&mut self, access: Access) -> State {
        let kept = match access {
            Access::Read => Rule::ReadBackStaysDirty,
            Access::Own => Rule::OwnedBackStaysDirty,
        };
        let state = match (self.owned, self.dirty) {
            (false, _) => State::Shared,
            (true, true) if !broken(kept) => State::Modified,
            (true, _) => State::Exclusive,
        };
        self.dirty &= !self.owned && !broken(Rule::SharedLineStaysDirty);
        state
    }
}

/// The lines of the LLC.
///
/// A way is one word: the line, its state, and the place in `sharers` that is used while several
/// cores share it. So most look-ups touch one set of words and nothing else.
#[derive(Clone)]
pub struct Llc {
    ways: usize,
    sets: Sets,
    /// The ways of a set in order of use, the latest first, the empty ones last. All are zero before the first use.
    tags: Box<[u64]>,
    /// Several sharers of a line, by its place.
    sharers: Box<[u64]>,
    /// Cycles of a look-up.
    pub latency: u64,
    /// Misses outstanding to memory.
    pub misses: Misses,
}

/// Bits of a tag for the place, from 1: enough for the most ways that a machine may have.
const PLACE_BITS: u32 = 17;
const PLACE: u64 = (1 << PLACE_BITS) - 1;
/// The single sharer, if there is one.
const CORE_SHIFT: u32 = PLACE_BITS;
const ONE_SHARER: u64 = 1 << 23;
const MANY_SHARERS: u64 = 1 << 24;
const OWNED: u64 = 1 << 25;
const DIRTY: u64 = 1 << 26;
const LINE_SHIFT: u32 = 27;

/// The line's part of a tag; never zero, which is an empty way's.
#[inline(always)]
fn key(line: Line) -> u64 {
    (line.0 + 1) << LINE_SHIFT
}

/// The place in a tag.
#[inline(always)]
fn place(tag: u64) -> usize {
    (tag & PLACE) as usize - 1
}

/// Gives the ways of a set their places, at its first use.
#[cold]
fn number_places(set: &mut [u64]) {
    set.iter_mut().zip(1..).for_each(|(tag, place)| *tag = place);
}

impl Llc {
    pub fn new(cache: &config::Cache) -> Llc {
        let sets = Sets::new(cache.bytes, cache.ways);
        // Zeroes take no time: the host clears memory as it is touched.
        let zeroes = || vec![0; (sets.count * cache.ways) as usize].into_boxed_slice();
        Llc {
            ways: cache.ways as usize,
            sets,
            tags: zeroes(),
            sharers: zeroes(),
            latency: cache.latency.0,
            misses: Misses::new(cache.mshrs),
        }
    }

    /// The start of a line's set.
    #[inline(always)]
    fn base(&self, line: Line) -> usize {
        self.sets.of(line) * self.ways
    }

    #[inline(always)]
    fn way(&self, base: usize, line: Line) -> Option<usize> {
        self.tags[base..base + self.ways]
            .iter()
            .position(|tag| tag ^ key(line) < 1 << LINE_SHIFT)
    }

    fn decode(&self, base: usize, tag: u64) -> LlcLine {
        let sharers = match tag & (ONE_SHARER | MANY_SHARERS) {
            0 => Sharers::default(),
            ONE_SHARER => Sharers::only(CoreId((tag >> CORE_SHIFT & 63) as u16)),
            _ => Sharers(self.sharers[base + place(tag)]),
        };
        LlcLine {
            dirty: tag & DIRTY != 0,
            owned: tag & OWNED != 0,
            sharers,
        }
    }

    fn encode(&mut self, base: usize, way: usize, line: LlcLine) {
        let old = self.tags[base + way];
        let mut tag = old >> LINE_SHIFT << LINE_SHIFT | old & PLACE;
        if line.dirty {
            tag |= DIRTY;
        }
        if line.owned {
            tag |= OWNED;
        }
        tag |= match line.sharers.0.count_ones() {
            0 => 0,
            1 => ONE_SHARER | u64::from(line.sharers.0.trailing_zeros()) << CORE_SHIFT,
            _ => {
                self.sharers[base + place(old)] = line.sharers.0;
                MANY_SHARERS
            }
        };
        self.tags[base + way] = tag;
    }

    /// Prefetches the line's set on the host: it will be looked up soon, and the host's caches
    /// rarely hold it.
    #[inline]
    pub fn expect(&self, line: Line) {
        let base = self.base(line);
        std::hint::black_box(self.tags[base]);
        std::hint::black_box(self.tags[base + self.ways - 1]);
    }

    /// The line's state; makes it the latest used of its set.
    pub fn touch(&mut self, line: Line) -> Option<LlcLine> {
        let base = self.base(line);
        let way = self.way(base, line)?;
        move_to_front(&mut self.tags[base..base + self.ways], way);
        Some(self.decode(base, self.tags[base]))
    }

    /// The line's state, without a use.
    pub fn peek(&self, line: Line) -> Option<LlcLine> {
        let base = self.base(line);
        let way = self.way(base, line)?;
        Some(self.decode(base, self.tags[base + way]))
    }

    /// Sets the state of the latest used line of its set.
    pub fn set_latest(&mut self, line: Line, known: LlcLine) {
        let base = self.base(line);
        debug_assert!(self.tags[base] ^ key(line) < 1 << LINE_SHIFT, "the latest of its set");
        self.encode(base, 0, known);
    }

    /// Changes the state of a line, without a use; whether it is here.
    pub fn change(&mut self, line: Line, change: impl FnOnce(&mut LlcLine)) -> bool {
        let base = self.base(line);
        let Some(way) = self.way(base, line) else { return false };
        let mut known = self.decode(base, self.tags[base + way]);
        change(&mut known);
        self.encode(base, way, known);
        true
    }

    /// Changes the state of every line, without a use.
    pub fn change_all(&mut self, mut change: impl FnMut(Line, &mut LlcLine)) {
        for index in 0..self.tags.len() {
            let (tag, base) = (self.tags[index], index - index % self.ways);
            if let Some(line) = (tag >> LINE_SHIFT).checked_sub(1) {
                let mut known = self.decode(base, tag);
                change(Line(line), &mut known);
                self.encode(base, index - base, known);
            }
        }
    }

    /// Whether the set of `line`, which is not here, has an empty way.
    pub fn has_room_for(&self, line: Line) -> bool {
        self.tags[self.base(line) + self.ways - 1] >> LINE_SHIFT == 0
    }

    /// The lines that `line` could evict, the least recently used first.
    pub fn victims_for(&self, line: Line) -> impl Iterator<Item = (Line, LlcLine)> + '_ {
        let base = self.base(line);
        let held = self.tags[base..base + self.ways].iter().rev();
        held.filter_map(move |tag| Some((Line((tag >> LINE_SHIFT).checked_sub(1)?), self.decode(base, *tag))))
    }

    /// Inserts a clean line that is not here as the latest used, in an empty way or over the least
    /// recently used line.
    pub fn insert(&mut self, line: Line) {
        let base = self.base(line);
        let set = &mut self.tags[base..base + self.ways];
        let last = set.len() - 1;
        if set[last] == 0 {
            number_places(set);
        }
        move_to_front(set, last);
        set[0] = key(line) | set[0] & PLACE;
    }

    /// Inserts a clean line, if it is not here.
    pub fn warm(&mut self, line: Line) {
        if self.peek(line).is_none() {
            self.insert(line);
        }
    }

    /// Removes the line.
    pub fn remove(&mut self, line: Line) {
        let base = self.base(line);
        let Some(way) = self.way(base, line) else { return };
        let set = &mut self.tags[base..base + self.ways];
        let place = set[way] & PLACE;
        set.copy_within(way + 1.., way);
        set[set.len() - 1] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn llc() -> Llc {
        Llc::new(&config::Cache {
            bytes: 64 * 4,
            ways: 2,
            mshrs: 1,
            ..config::Cache::default()
        })
    }

    #[test]
    fn what_is_known_of_a_line_is_kept_for_none_one_and_many_sharers() {
        let mut llc = llc();
        llc.insert(Line(8));
        assert_eq!(llc.peek(Line(8)), Some(LlcLine::default()));
        let mut known = LlcLine {
            dirty: true,
            owned: true,
            sharers: Sharers::only(CoreId(63)),
        };
        llc.set_latest(Line(8), known);
        llc.insert(Line(10));
        assert_eq!(llc.touch(Line(8)), Some(known));
        known.sharers.add(CoreId(5));
        known.owned = false;
        assert!(llc.change(Line(8), |line| *line = known));
        assert_eq!(llc.peek(Line(8)), Some(known));
        assert_eq!(
            llc.peek(Line(10)),
            Some(LlcLine::default()),
            "each way has its own place"
        );
        assert!(!llc.change(Line(12), |_| ()));
    }

    #[test]
    fn the_least_recently_used_line_is_the_victim_and_holes_are_filled_first() {
        let mut llc = llc();
        llc.insert(Line(0));
        assert!(llc.has_room_for(Line(2)));
        llc.insert(Line(2));
        llc.touch(Line(0));
        assert!(!llc.has_room_for(Line(4)));
        let victims: Vec<Line> = llc.victims_for(Line(4)).map(|(line, _)| line).collect();
        assert_eq!(victims, [Line(2), Line(0)]);
        llc.remove(Line(0));
        assert!(llc.has_room_for(Line(4)));
    }
}
