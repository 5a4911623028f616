//! The state of persist buffers for one core.

use super::{Commits, EpochTable, Follows};
use crate::epochs::rules::Rule;
use crate::parts::dependence_wait::DependenceWait;
use crate::parts::persist_buffer::Buffer;
use std::collections::BTreeMap;
use strandline_design::Occupancy;
use strandline_isa::CoreId;
use strandline_kernel::Cycles;
use strandline_rules::broken;

/// A core's buffer and epochs, and their waiters.
#[derive(Clone, Debug)]
pub struct CoreState {
    /// Its writes.
    pub buffer: Buffer,
    /// Its epochs.
    pub epochs: EpochTable,
    /// A store waits for room in the buffer.
    pub store_waits: bool,
    /// Something waits for room in the epoch table.
    pub epoch_waits: bool,
    /// A fence waits for this epoch and all before it to be durable.
    pub fence: Option<u64>,
    /// For each of these entries a waiter until it and all before it are acknowledged.
    pub drains: Vec<u64>,
    /// The newest entry that has waited long enough for stores that coalesce with it.
    pub gathered: Option<u64>,
    /// A timer runs; this is the newest entry at its end.
    pub gathers: bool,
    /// The next store is a release.
    pub releases: bool,
    /// The epoch of the last release.
    pub released: Option<u64>,
    /// All that may be flushed or committed has been since the last change.
    pub settled: bool,
    /// The newest epoch that depends on another core's.
    dependent: Option<u64>,
    contexts: Contexts,
    occupancy: Occupancy,
    blocked: Occupancy,
    waits: DependenceWait,
}

/// The writes of the tasks that share the core.
#[derive(Clone, Debug, Default)]
struct Contexts {
    current: u8,
    /// The current one has written since it was resumed.
    wrote: bool,
    /// The epochs of the other tasks' last writes.
    last: BTreeMap<u8, u64>,
}

impl CoreState {
    /// A core with an empty buffer of `entries` entries.
    #[must_use]
    pub fn new(core: CoreId, entries: usize, commits: Commits) -> CoreState {
        CoreState {
            buffer: Buffer::new(entries),
            epochs: EpochTable::new(core, commits),
            store_waits: false,
            epoch_waits: false,
            fence: None,
            drains: Vec::new(),
            gathered: None,
            gathers: false,
            releases: false,
            released: None,
            settled: false,
            dependent: None,
            contexts: Contexts::default(),
            occupancy: Occupancy::default(),
            blocked: Occupancy::default(),
            waits: DependenceWait::default(),
        }
    }

    /// Notes a store of the current context.
    pub fn note_store(&mut self) {
        self.contexts.wrote = true;
    }

    /// Notes that the current epoch depends on another core's.
    pub fn note_dependence(&mut self) {
        self.dependent = Some(self.epochs.current());
    }

    /// Switches to another context: its writes are in later epochs than those of the last one.
    pub fn switch(&mut self, to: u8) {
        let contexts = &mut self.contexts;
        if std::mem::take(&mut contexts.wrote) {
            contexts.last.insert(contexts.current, self.epochs.current());
            self.epochs.begin(Follows::Current);
        }
        contexts.current = to;
    }

    /// Ends the current epoch for a fence of the current context: the epoch that the fence waits
    /// for. It excludes writes of other contexts since its own last write.
    pub fn end_for_fence(&mut self) -> Option<u64> {
        let current = self.epochs.current();
        let newest = match self.epochs.begin(Follows::Current) {
            true => Some(current),
            false => current.checked_sub(1),
        };
        let contexts = &self.contexts;
        let own = match contexts.wrote {
            true => newest,
            false => contexts.last.get(&contexts.current).copied(),
        };
        let dependent = self.dependent.filter(|_| !broken(Rule::FenceAwaitsDependent));
        own.max(dependent).min(newest)
    }

    /// The oldest entry that is held back for stores that coalesce with it, if fewer than `most`
    /// are: those of the current epoch, while nothing waits for them.
    #[must_use]
    pub fn held_back(&self, most: usize) -> Option<u64> {
        if self.store_waits || !self.drains.is_empty() {
            return None;
        }
        let (oldest, waiting) = self.buffer.gathering(self.epochs.current(), self.gathered)?;
        (waiting < most).then_some(oldest)
    }

    /// Notes the buffer's occupancy from now on, whether it is blocked (it holds unsent writes and may flush none of them),
    /// and whether its oldest epoch waits for other cores'.
    pub fn note(&mut self, now: Cycles, blocked: bool, eager: bool) {
        self.waits.note(now, self.epochs.waits_for_others(eager));
        self.occupancy.set(now, self.buffer.occupied());
        self.blocked.set(now, usize::from(blocked));
    }

    /// Notes that the occupancy is still the same.
    #[inline]
    pub fn note_again(&mut self, now: Cycles) {
        self.waits.note_again(now);
        self.occupancy.set_again(now);
        self.blocked.set_again(now);
    }

    /// The time at each occupancy.
    #[must_use]
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// The dependences on other cores that it has waited for.
    #[must_use]
    pub fn dependence_wait(&self) -> &DependenceWait {
        &self.waits
    }

    /// Cycles for which the buffer was blocked.
    #[must_use]
    pub fn blocked(&self, now: Cycles) -> u64 {
        self.blocked.cycles_at(now, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::EpochId;
    use super::*;

    fn state() -> CoreState {
        CoreState::new(CoreId(0), 4, Commits::InTurn)
    }

    fn write(state: &mut CoreState) {
        state.note_store();
        state.epochs.add_write();
    }

    #[test]
    fn a_fence_waits_for_the_epoch_that_it_ends() {
        let mut state = state();
        assert_eq!(state.end_for_fence(), None, "nothing was written");
        write(&mut state);
        assert_eq!((state.end_for_fence(), state.epochs.current()), (Some(0), 1));
        assert_eq!(state.end_for_fence(), Some(0), "nothing was written since");
    }

    #[test]
    fn a_context_that_goes_on_waits_for_its_own_writes_only() {
        let mut state = state();
        state.switch(1);
        write(&mut state);
        state.switch(2);
        write(&mut state);
        state.switch(1);
        assert_eq!(state.end_for_fence(), Some(0));
        state.switch(2);
        assert_eq!(state.end_for_fence(), Some(1));
        state.switch(1);
        write(&mut state);
        assert_eq!(state.end_for_fence(), Some(2), "it has written again");
    }

    #[test]
    fn a_fence_waits_for_what_any_context_depends_on() {
        let mut state = state();
        state.switch(1);
        write(&mut state);
        state.switch(2);
        let number = 5;
        let core = CoreId(1);
        state.epochs.depend_on(EpochId { core, number });
        state.note_dependence();
        state.switch(1);
        assert_eq!(state.end_for_fence(), Some(1));
    }
}
