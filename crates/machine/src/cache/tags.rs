//! A set-associative tag array with true LRU replacement.

use strandline_isa::Line;

/// The state of a line in a private cache (MESI; invalid lines are absent).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Others may hold it too.
    Shared = 1,
    /// Nobody else holds it; clean.
    Exclusive = 2,
    /// Nobody else holds it; newer than the next level.
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

    /// Whether a store may write the line without asking anybody.
    #[inline(always)]
    pub fn is_writable(self) -> bool {
        self >= State::Exclusive
    }
}

/// Tags and states. The ways of a set stand in order of use, the latest first.
pub struct Tags {
    ways: usize,
    sets: u64,
    /// `sets - 1` if that is a mask, else zero.
    mask: u64,
    /// `line << 2 | state`; zero is an empty way.
    entries: Box<[u64]>,
}

impl Tags {
    /// An empty array for so many bytes of 64-byte lines.
    pub fn new(bytes: u64, ways: u64) -> Tags {
        let sets = (bytes / 64 / ways).max(1);
        Tags {
            ways: ways as usize,
            sets,
            mask: if sets.is_power_of_two() { sets - 1 } else { 0 },
            entries: vec![0; (sets * ways) as usize].into_boxed_slice(),
        }
    }

    #[inline(always)]
    fn set_of(&self, line: Line) -> usize {
        let set = if self.mask != 0 { line.0 & self.mask } else { line.0 % self.sets };
        set as usize * self.ways
    }

    #[inline(always)]
    fn position(&self, line: Line) -> Option<usize> {
        let base = self.set_of(line);
        let set = &self.entries[base..base + self.ways];
        set.iter().position(|e| e >> 2 == line.0 && *e != 0).map(|way| base + way)
    }

    /// The state of `line`, which becomes the latest used of its set.
    #[inline(always)]
    pub fn touch(&mut self, line: Line) -> Option<State> {
        let base = self.set_of(line);
        let first = self.entries[base];
        if first >> 2 == line.0 && first != 0 {
            return State::from_bits(first);
        }
        self.touch_further(line, base)
    }

    fn touch_further(&mut self, line: Line, base: usize) -> Option<State> {
        let set = &mut self.entries[base..base + self.ways];
        let way = set.iter().position(|e| e >> 2 == line.0 && *e != 0)?;
        move_to_front(set, way);
        State::from_bits(set[0])
    }

    /// The state of `line`, without using it.
    pub fn peek(&self, line: Line) -> Option<State> {
        self.position(line).and_then(|at| State::from_bits(self.entries[at]))
    }

    /// Changes the state of `line`; whether it is here.
    #[inline(always)]
    pub fn set_state(&mut self, line: Line, state: State) -> bool {
        match self.position(line) {
            Some(at) => {
                self.entries[at] = line.0 << 2 | state as u64;
                true
            }
            None => false,
        }
    }

    /// Changes the state of `line`, which has just been touched.
    #[inline(always)]
    pub fn set_latest(&mut self, line: Line, state: State) {
        let base = self.set_of(line);
        debug_assert_eq!(self.entries[base] >> 2, line.0, "the latest of its set");
        self.entries[base] = line.0 << 2 | state as u64;
    }

    /// Removes `line` and returns the state that it had.
    pub fn remove(&mut self, line: Line) -> Option<State> {
        let at = self.position(line)?;
        let state = State::from_bits(self.entries[at]);
        self.entries[at] = 0;
        state
    }

    /// Puts `line` in as the latest used and returns the line that it drives out, if the set is full.
    pub fn insert(&mut self, line: Line, state: State) -> Option<(Line, State)> {
        let base = self.set_of(line);
        let set = &mut self.entries[base..base + self.ways];
        let way = set
            .iter()
            .position(|e| e >> 2 == line.0 && *e != 0)
            .or_else(|| set.iter().position(|e| *e == 0))
            .unwrap_or(self.ways - 1);
        let old = set[way];
        move_to_front(set, way);
        set[0] = line.0 << 2 | state as u64;
        let victim = State::from_bits(old)?;
        (old >> 2 != line.0).then_some((Line(old >> 2), victim))
    }
}

/// Makes a way the first of its set; those before it move back by one.
#[inline(always)]
pub fn move_to_front<T: Copy>(set: &mut [T], way: usize) {
    let mut carried = set[way];
    for slot in &mut set[..=way] {
        std::mem::swap(slot, &mut carried);
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
        assert_eq!(t.insert(Line(4), State::Modified), None, "already here: only its state changes");
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
