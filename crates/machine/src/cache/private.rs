//! A core's private caches: the L1 and, on machines that have one, the L2, which includes it.

use super::{Misses, State, Tags};
use crate::config;
use strandline_isa::{Line, LINE_BYTES};
use strandline_rules::{broken, Rule};

/// The private levels of one core.
#[derive(Clone)]
pub struct Private {
    l1: Tags,
    l2: Option<Tags>,
    l1_latency: u64,
    l2_latency: u64,
    /// Misses outstanding at the L1.
    pub misses: Misses,
    /// Misses outstanding at the L2.
    pub misses_l2: Misses,
}

/// The result of a look-up in the private levels.
pub struct Fill {
    /// Cycles of the look-up.
    pub latency: u64,
    /// The line's state, if it is here.
    pub state: Option<State>,
    /// The L1 did not have it.
    pub second: bool,
}

/// A line that left the private levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// Which.
    pub line: Line,
    /// Whether it was newer than the next level.
    pub dirty: bool,
}

impl Private {
    pub fn new(l1: &config::Cache, l2: Option<&config::Cache>) -> Private {
        Private {
            l1: Tags::new(l1.bytes, l1.ways),
            l2: l2.map(|c| Tags::new(c.bytes, c.ways)),
            l1_latency: l1.latency.0,
            l2_latency: l2.map_or(0, |c| c.latency.0),
            misses: Misses::new(l1.mshrs),
            misses_l2: Misses::new(l2.map_or(l1.mshrs, |c| c.mshrs)),
        }
    }

    /// When a load issued at `at` gets its line from the private levels; `None` if it misses there.
    #[inline(always)]
    pub fn load_hit(&mut self, line: Line, at: u64) -> Option<u64> {
        if self.l1.touch(line).is_some() {
            return Some(self.misses.filled(line, at) + self.l1_latency);
        }
        self.look_up_second(line).state?;
        Some(self.filled_from_second(line, at))
    }

    /// When an access at `at` gets a line that [`Private::look_up`] has found.
    pub fn found(&mut self, line: Line, at: u64, fill: &Fill) -> u64 {
        match fill.second {
            false => self.misses.filled(line, at) + fill.latency,
            true => self.filled_from_second(line, at),
        }
    }

    /// Brings a line of the L2 to the L1, for an access at `at`: when it is there. It has a register of the L1 until
    /// then, since other accesses to the line wait for it, too.
    fn filled_from_second(&mut self, line: Line, at: u64) -> u64 {
        let start = self.misses.start(at);
        let done = self.misses.filled(line, start) + self.latency();
        self.misses.keep(line, done);
        done
    }

    /// Makes the line modified if the L1 may write it at `at`; whether it could.
    #[inline(always)]
    pub fn store_hit(&mut self, line: Line, at: u64) -> bool {
        self.l1.modify(line, || self.misses.filled(line, at) <= at)
    }

    /// Whether the private levels hold the line writable, its fill possibly still in flight; it is
    /// then in the L1.
    #[inline(always)]
    pub fn owns(&mut self, line: Line) -> bool {
        match self.l1.touch(line) {
            Some(state) => state.is_writable(),
            None => self.second_owns(line),
        }
    }

    /// When the private levels have the line writable, for a store at `at`; `None` if it must be requested.
    pub fn owned(&mut self, line: Line, at: u64) -> Option<u64> {
        self.owns(line).then(|| self.misses.filled(line, at))
    }

    #[inline(never)]
    fn second_owns(&mut self, line: Line) -> bool {
        self.look_up_second(line).state.is_some_and(State::is_writable)
    }

    /// Looks the line up in both levels; an L2 hit moves the line into the L1.
    pub fn look_up(&mut self, line: Line) -> Fill {
        if let Some(state) = self.l1.touch(line) {
            return Fill {
                latency: self.l1_latency,
                state: Some(state),
                second: false,
            };
        }
        self.look_up_second(line)
    }

    /// Looks up the L2 for a line that the L1 does not hold; a hit moves the line into the L1.
    fn look_up_second(&mut self, line: Line) -> Fill {
        let state = self.l2.as_mut().and_then(|l2| l2.touch(line));
        if let Some(state) = state {
            self.fill_l1(line, state);
        }
        Fill {
            latency: self.latency(),
            state,
            second: true,
        }
    }

    /// Inserts a line into the L1 that is not there.
    fn fill_l1(&mut self, line: Line, state: State) -> Option<Victim> {
        let (victim, state) = self.l1.insert_absent(line, state)?;
        let dirty = state == State::Modified;
        match &mut self.l2 {
            None => Some(Victim { line: victim, dirty }),
            Some(l2) => {
                if dirty && !broken(Rule::SecondLevelTakesDirty) {
                    l2.set_state(victim, State::Modified);
                }
                None
            }
        }
    }

    /// Inserts a line that is not here into both levels and returns the line that it evicts from
    /// the private levels.
    pub fn fill(&mut self, line: Line, state: State) -> Option<Victim> {
        let Some(l2) = &mut self.l2 else {
            return self.fill_l1(line, state);
        };
        let out = l2.insert_absent(line, state).map(|(victim, state)| {
            let inner = self.l1.remove(victim);
            Victim {
                line: victim,
                dirty: state == State::Modified
                    || inner == Some(State::Modified) && !broken(Rule::SecondLevelVictimDirty),
            }
        });
        self.fill_l1(line, state);
        out
    }

    /// Sets the state of a line that is here, as its latest use at both levels.
    pub fn upgrade(&mut self, line: Line, state: State) {
        self.l1.insert(line, state);
        if let Some(l2) = &mut self.l2 {
            l2.insert(line, state);
        }
    }

    /// The line's state in the private levels as other cores see it.
    pub fn state(&self, line: Line) -> Option<State> {
        let inner = self.l1.peek(line);
        let outer = self.l2.as_ref().and_then(|l2| l2.peek(line));
        inner.max(outer)
    }

    /// Changes the line's state wherever it is here; whether it was modified.
    pub fn set_state(&mut self, line: Line, state: State) -> bool {
        let inner = self.l1.set_state(line, state);
        let outer = self.l2.as_mut().and_then(|l2| l2.set_state(line, state));
        inner.max(outer) == Some(State::Modified)
    }

    /// Makes a modified line exclusive, or shared any line here if the caches do not `keep` its ownership; whether it
    /// was modified.
    pub fn clean(&mut self, line: Line, keep: bool) -> bool {
        if broken(Rule::FlushFindsSecondLevel) && self.l1.peek(line) != Some(State::Modified) {
            self.set_state(line, State::Exclusive);
            return false;
        }
        if !keep {
            return self.set_state(line, State::Shared);
        }
        let inner = self.l1.clean(line);
        let outer = self.l2.as_mut().is_some_and(|l2| l2.clean(line));
        inner || outer
    }

    /// Removes the line; whether it was modified.
    pub fn remove(&mut self, line: Line) -> bool {
        let inner = self.l1.remove(line);
        let outer = self.l2.as_mut().and_then(|l2| l2.remove(line));
        inner.max(outer) == Some(State::Modified)
    }

    /// Cycles of a look-up for a modified line, found or not.
    pub fn modified_after(&self, line: Line) -> u64 {
        match self.l1.peek(line) {
            Some(State::Modified) => self.l1_latency,
            _ => self.latency(),
        }
    }

    /// The lines that are here.
    pub fn count(&self) -> u64 {
        self.l2.as_ref().unwrap_or(&self.l1).count()
    }

    /// The lines that it can hold, at its last level.
    pub fn capacity(l1: &config::Cache, l2: Option<&config::Cache>) -> u64 {
        l2.unwrap_or(l1).bytes / LINE_BYTES
    }

    /// The result of a look-up of a line that is not here.
    pub fn miss(&self) -> Fill {
        Fill {
            latency: self.latency(),
            state: None,
            second: true,
        }
    }

    /// The latency of looking up all private levels.
    pub fn latency(&self) -> u64 {
        self.l1_latency + self.l2_latency
    }
}
