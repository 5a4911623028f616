//! A set-associative tag array with true LRU replacement.

use strandline_isa::{Line, LINE_BYTES};

/// The state of a line in a private cache (MESI; invalid lines are absent).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Other cores may hold it too.
    Shared = 1,
    /// No other core holds it; clean.
    Exclusive = 2,
    /// No other core holds it; newer than the next level.
    Modified = 3,
}

impl State {
    fn from_bits(bits: u64) -> Option<State> {
        match bits & 3 {
            1 => Some(State::Shared),
            2 => Some(State::Exclusive),
            3 => Some(State::Modified),
            _ => None,
        }
    }

    /// Whether a store may write the line without a request.
    #[inline(always)]
    pub fn is_writable(self) -> bool {
        self >= State::Exclusive
    }
}

/// Tags and states. The ways of a set are in order of use, the latest first, the empty ones last.
#[derive(Clone)]
pub struct Tags {
    ways: usize,
    sets: Sets,
    /// The line's key with its state; zero is an empty way.
    entries: Box<[u64]>,
}

/// The line's part of an entry: above the two bits of the state, and never zero.
#[inline(always)]
fn key(line: Line) -> u64 {
    (line.0 + 1) << 2
}

/// Whether an entry has this key: they differ in the state at most.
#[inline(always)]
fn is_of(entry: u64, key: u64) -> bool {
    entry ^ key < 4
}

impl Tags {
    /// An empty array for `bytes` bytes of 64-byte lines.
    pub fn new(bytes: u64, ways: u64) -> Tags {
        let sets = Sets::new(bytes, ways);
        Tags {
            ways: ways as usize,
            sets,
            entries: vec![0; (sets.count * ways) as usize].into_boxed_slice(),
        }
    }

    #[inline(always)]
    fn base(&self, line: Line) -> usize {
        self.sets.of(line) * self.ways
    }

    #[inline(always)]
    fn set(&mut self, line: Line) -> &mut [u64] {
        let base = self.base(line);
        &mut self.entries[base..base + self.ways]
    }

    /// The state of `line`; makes it the latest used of its set.
    #[inline(always)]
    pub fn touch(&mut self, line: Line) -> Option<State> {
        State::from_bits(*self.latest(line)?)
    }

    /// Makes `line`, if the L1 may write it, the latest used of its set, and modified.
    #[inline(always)]
    pub fn modify(&mut self, line: Line, may: impl FnOnce() -> bool) -> bool {
        let Some(entry) = self.latest(line) else { return false };
        let modified = *entry & 2 != 0 && may();
        if modified {
            *entry |= State::Modified as u64;
        }
        modified
    }

    /// The entry of `line`, which is then the latest used of its set.
    #[inline(always)]
    fn latest(&mut self, line: Line) -> Option<&mut u64> {
        let base = self.base(line);
        if is_of(self.entries[base], key(line)) || self.touch_further(line, base) {
            return Some(&mut self.entries[base]);
        }
        None
    }

    fn touch_further(&mut self, line: Line, base: usize) -> bool {
        let set = &mut self.entries[base..base + self.ways];
        let Some(way) = set.iter().position(|e| is_of(*e, key(line))) else {
            return false;
        };
        move_to_front(set, way);
        true
    }

    /// The state of `line`, without a use.
    pub fn peek(&self, line: Line) -> Option<State> {
        let base = self.base(line);
        let set = &self.entries[base..base + self.ways];
        set.iter()
            .find(|e| is_of(**e, key(line)))
            .and_then(|e| State::from_bits(*e))
    }

    /// Changes the state of `line`; its former state, if it is here.
    #[inline]
    pub fn set_state(&mut self, line: Line, state: State) -> Option<State> {
        let entry = self.set(line).iter_mut().find(|e| is_of(**e, key(line)))?;
        let old = std::mem::replace(entry, key(line) | state as u64);
        State::from_bits(old)
    }

    /// Makes `line` exclusive if it is modified; whether it was.
    #[inline]
    pub fn clean(&mut self, line: Line) -> bool {
        let found = self.set(line).iter_mut().find(|e| is_of(**e, key(line)));
        let modified = found.filter(|entry| **entry == key(line) | State::Modified as u64);
        modified
            .map(|entry| *entry = key(line) | State::Exclusive as u64)
            .is_some()
    }

    /// Changes the state of `line`, which has just been touched.
    #[inline(always)]
    pub fn set_latest(&mut self, line: Line, state: State) {
        let base = self.base(line);
        debug_assert!(is_of(self.entries[base], key(line)), "the latest of its set");
        self.entries[base] = key(line) | state as u64;
    }

    /// The lines that are here.
    pub fn count(&self) -> u64 {
        self.entries.iter().filter(|entry| **entry != 0).count() as u64
    }

    /// Removes `line` and returns its former state.
    pub fn remove(&mut self, line: Line) -> Option<State> {
        let set = self.set(line);
        let way = set.iter().position(|e| is_of(*e, key(line)))?;
        let state = State::from_bits(set[way]);
        set.copy_within(way + 1.., way);
        set[set.len() - 1] = 0;
        state
    }

    /// Inserts `line` as the latest used and returns the line that it evicts, if the set is full.
    pub fn insert(&mut self, line: Line, state: State) -> Option<(Line, State)> {
        match self.touch(line) {
            Some(_) => {
                self.set_latest(line, state);
                None
            }
            None => self.insert_absent(line, state),
        }
    }

    /// Inserts `line`, which is not here, as the latest used; returns the line that it evicts, if the set is full.
    pub fn insert_absent(&mut self, line: Line, state: State) -> Option<(Line, State)> {
        let set = self.set(line);
        debug_assert!(!set.iter().any(|e| is_of(*e, key(line))), "{line} is here already");
        let last = set.len() - 1;
        let old = set[last];
        set.copy_within(..last, 1);
        set[0] = key(line) | state as u64;
        State::from_bits(old).map(|state| (Line((old >> 2) - 1), state))
    }
}

/// The sets of a cache.
#[derive(Clone, Copy)]
pub struct Sets {
    /// The number of sets.
    pub count: u64,
    /// `count - 1` if that is a mask, else zero.
    mask: u64,
}

impl Sets {
    /// The number of sets of a cache of `bytes` bytes.
    pub fn new(bytes: u64, ways: u64) -> Sets {
        let count = (bytes / LINE_BYTES / ways).max(1);
        Sets {
            count,
            mask: if count.is_power_of_two() { count - 1 } else { 0 },
        }
    }

    /// The set of a line.
    #[inline(always)]
    pub fn of(self, line: Line) -> usize {
        match self.mask {
            0 => self.of_any_number(line),
            mask => (line.0 & mask) as usize,
        }
    }

    #[cold]
    #[inline(never)]
    fn of_any_number(self, line: Line) -> usize {
        (line.0 % self.count) as usize
    }
}

/// Moves a way to the front of its set; those before it move back by one.
#[inline(always)]
pub fn move_to_front(set: &mut [u64], way: usize) {
    let mut moved = set[way];
    for entry in &mut set[..=way] {
        moved = std::mem::replace(entry, moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_way_is_driven_out() {
        let mut t = Tags::new(64 * 4, 2);
        for line in [0, 2] {
            assert_eq!(t.insert(Line(line), State::Shared), None);
        }
        assert_eq!(t.touch(Line(0)), Some(State::Shared));
        assert_eq!(t.insert(Line(4), State::Exclusive), Some((Line(2), State::Shared)));
        assert_eq!(
            t.insert(Line(4), State::Modified),
            None,
            "already here: only its state changes"
        );
        assert_eq!(t.peek(Line(4)), Some(State::Modified));
        assert_eq!(t.insert(Line(1), State::Shared), None, "another set");
    }

    #[test]
    fn any_number_of_sets_will_do() {
        let mut t = Tags::new(64 * 3, 1);
        (0..3).for_each(|l| _ = t.insert(Line(l), State::Shared));
        assert_eq!(t.insert(Line(5), State::Shared), Some((Line(2), State::Shared)));
    }
}
