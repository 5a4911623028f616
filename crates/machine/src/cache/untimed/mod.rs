//! The caches as tags alone: which lines they hold, and which are dirty. Nothing takes time, and no design is asked.

use super::{Llc, LlcLine, Private, Sharers, State, Victim};
use crate::config::MachineConfig;
use strandline_design::{Access, Wants};
use strandline_isa::{CoreId, Flush, Line, LINE_BYTES};

/// Any store finds its line filled: misses take no time.
const FILLED: u64 = u64::MAX;

/// The private levels of all cores, and the LLC.
pub struct Untimed {
    private: Vec<Private>,
    /// Lines that each core's private levels have evicted for others.
    replaced: Vec<u64>,
    /// Lines of a core's private levels.
    pub private_capacity: u64,
    llc: Llc,
    /// A flush leaves its core's line writable.
    keeps_ownership: bool,
    /// A dirty persistent line is written back when another core takes it.
    handed_over_clean: bool,
    /// Non-temporal stores go to the caches.
    nt_cached: bool,
    /// Lines of the LLC.
    pub capacity: u64,
    /// Lines that the LLC has taken in for accesses.
    pub taken: u64,
    /// Lines that the LLC has evicted.
    pub evicted: u64,
}

impl Untimed {
    /// Empty caches of `cores` cores.
    pub fn new(machine: &MachineConfig, wants: &Wants, cores: usize) -> Untimed {
        let private = || Private::new(&machine.l1, machine.l2.as_ref());
        Untimed {
            private: (0..cores).map(|_| private()).collect(),
            replaced: vec![0; cores],
            private_capacity: Private::capacity(&machine.l1, machine.l2.as_ref()),
            llc: Llc::new(&machine.llc),
            keeps_ownership: machine.core.clwb_keeps_ownership,
            handed_over_clean: wants.handed_over_clean,
            nt_cached: wants.nt_cached,
            capacity: machine.llc.bytes / LINE_BYTES,
            taken: 0,
            evicted: 0,
        }
    }

    /// Puts a clean line into the LLC, unless it is there.
    pub fn put(&mut self, line: Line) {
        if self.llc.peek(line).is_none() {
            self.llc.insert(line);
        }
    }

    /// A load.
    #[inline]
    pub fn read(&mut self, core: CoreId, line: Line) {
        if self.private[core.index()].look_up(line).state.is_none() {
            self.miss(core, line, Access::Read, false);
        }
    }

    /// A store or locked instruction.
    #[inline]
    pub fn write(&mut self, core: CoreId, line: Line) {
        if self.private[core.index()].store_hit(line, FILLED) {
            return;
        }
        let state = self.private[core.index()].look_up(line).state;
        if !state.is_some_and(State::is_writable) {
            self.miss(core, line, Access::Own, state.is_some());
        }
        let written = self.private[core.index()].store_hit(line, FILLED);
        debug_assert!(written, "{line} is writable in the L1");
    }

    /// A non-temporal store.
    pub fn write_nt(&mut self, core: CoreId, line: Line) {
        match self.nt_cached {
            true => self.write(core, line),
            false => self.evict(line),
        }
    }

    /// A flush: the line is clean then, or in no cache.
    pub fn flush(&mut self, line: Line, flush: Flush) {
        if flush != Flush::Clwb {
            return self.evict(line);
        }
        let keeps = self.keeps_ownership;
        let sharers = self.llc.peek(line).map_or(Sharers::default(), |known| known.sharers);
        for core in sharers.cores() {
            self.private[core.index()].clean(line, keeps);
        }
        self.llc.change(line, |known| {
            known.dirty = false;
            known.owned &= keeps;
        });
    }

    /// Brings a line from the LLC or memory. `held`: the core has a shared copy and requests only ownership.
    fn miss(&mut self, core: CoreId, line: Line, access: Access, held: bool) {
        let mut known = self.llc.touch(line).unwrap_or_else(|| self.fetch(line));
        let alone = known.sharers.others(core).next().is_none();
        for other in known.sharers.others(core) {
            let private = &mut self.private[other.index()];
            known.dirty |= match access {
                Access::Own => private.remove(line),
                Access::Read => private.set_state(line, State::Shared),
            };
        }
        known.join(core, access, alone);
        if known.owned && line.is_persistent() && self.handed_over_clean {
            known.dirty = false;
        }
        let state = known.hand_over(access);
        self.llc.set_latest(line, known);
        let private = &mut self.private[core.index()];
        if held {
            return private.upgrade(line, state);
        }
        if let Some(victim) = private.fill(line, state) {
            self.replaced[core.index()] += 1;
            self.leaves_private(core, victim);
        }
    }

    /// Takes a line into the LLC, over the least recently used one of a full set.
    fn fetch(&mut self, line: Line) -> LlcLine {
        if !self.llc.has_room_for(line) {
            let victim = self.llc.victims_for(line).next();
            if let Some((victim, _)) = victim {
                self.evict(victim);
                self.evicted += 1;
            }
        }
        self.llc.insert(line);
        self.taken += 1;
        LlcLine::default()
    }

    fn leaves_private(&mut self, core: CoreId, victim: Victim) {
        if victim.dirty {
            self.llc.change(victim.line, |known| {
                known.sharers.remove(core);
                known.owned = false;
                known.dirty = true;
            });
        }
    }

    /// Lines that each core's private levels have taken in beside those that other cores took from them: those that are
    /// there, and those that others have replaced.
    pub fn filled(&self) -> impl Iterator<Item = u64> + '_ {
        let private = self.private.iter().zip(&self.replaced);
        private.map(|(private, replaced)| private.count() + replaced)
    }

    /// Removes a line from all caches.
    fn evict(&mut self, line: Line) {
        let Some(known) = self.llc.peek(line) else { return };
        for core in known.sharers.cores() {
            self.private[core.index()].remove(line);
        }
        self.llc.remove(line);
    }

    /// The LLC with its directory, and the private levels of each core. How many lines the LLC holds, and how many of them
    /// are dirty there or in a private level.
    ///
    /// A persistent line that is dirty in a private level is exclusive there and dirty in the LLC: it is durable, and no
    /// design has seen the store that made it dirty, as it must before such a line is taken from its core. Its eviction
    /// from the LLC writes it.
    pub fn into_parts(mut self) -> Parts {
        let (mut lines, mut dirty) = (0, 0);
        let private = &mut self.private;
        self.llc.change_all(|line, known| {
            for core in known.sharers.cores() {
                let private = &mut private[core.index()];
                let modified = private.state(line) == Some(State::Modified);
                dirty += u64::from(modified && !line.is_persistent());
                known.dirty |= modified && line.is_persistent() && private.clean(line, true);
            }
            lines += 1;
            dirty += u64::from(known.dirty);
        });
        Parts {
            llc: self.llc,
            private: self.private,
            lines,
            dirty,
        }
    }
}

/// Caches with what they hold.
pub struct Parts {
    /// The LLC.
    pub llc: Llc,
    /// The private levels of each core.
    pub private: Vec<Private>,
    /// Lines in the LLC.
    pub lines: u64,
    /// Those that are dirty there or in a private level.
    pub dirty: u64,
}

#[cfg(test)]
mod tests;
