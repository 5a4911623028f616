//! Entries leave persist buffers, and epochs become durable.

use super::names::{GATHERED, RESOLVED};
use super::{named, naming, EpochId, EpochTable, Gates, PersistBuffers};
use crate::parts::persist_buffer::{Commit, Entry, Flush};
use strandline_design::{Message, Services, Until};
use strandline_isa::CoreId;
use strandline_kernel::Cycles;
use strandline_rules::{broken, Rule};

impl PersistBuffers {
    /// Flushes the oldest entry of a core that may be, if there is one: `how` says whether a write of an epoch may be flushed now, and how.
    pub fn flush(
        &mut self,
        hw: &mut dyn Services,
        core: CoreId,
        how: impl Fn(&EpochTable, u64) -> Option<Flush>,
    ) -> Option<Entry> {
        let most = self.settings.gather;
        let state = self.core(core);
        let held = state.held_back(most);
        let epochs = &state.epochs;
        let mut entry = state.buffer.flush(held, |number| how(epochs, number))?;
        if broken(Rule::EntryKeepsBytes) {
            entry.data = hw.visible_line(entry.line);
        }
        if broken(Rule::EpochAwaitsWrites) {
            state.epochs.acknowledge(entry.epoch);
        }
        hw.write(core, entry.line, entry.data, entry.id);
        Some(entry)
    }

    /// Commits the oldest epoch of a core that is safe and complete, if there is one.
    pub fn start_commit(&mut self, core: CoreId) -> Option<Commit> {
        self.core(core).epochs.start_commit()
    }

    /// Removes an epoch that is durable, and sends word to the cores with epochs that depend on it, which have it at `known`.
    pub fn durable(&mut self, hw: &mut dyn Services, done: EpochId, known: Cycles) {
        self.writers.forget(done);
        let state = self.core(done.core);
        let dependents = state.epochs.remove(done.number);
        if std::mem::take(&mut state.epoch_waits) {
            hw.open(Gates(done.core).epoch());
        }
        for dependent in dependents {
            hw.send(known, naming(RESOLVED, u32::from(dependent.0), done));
        }
    }

    /// Releases a core's fence if its epochs are durable, and notes how full the buffer is and whether it is blocked. `may`: whether a
    /// write of an epoch may be flushed. To be called when nothing more is flushed or committed.
    pub fn settle(&mut self, hw: &mut dyn Services, core: CoreId, may: impl Fn(&EpochTable, u64) -> bool) {
        let state = self.core(core);
        if state
            .fence
            .is_some_and(|number| state.epochs.are_durable_through(number))
        {
            state.fence = None;
            hw.open(Gates(core).fence());
        }
        let blocked = state.buffer.is_blocked(|number| may(&state.epochs, number));
        state.note(hw.now(), blocked);
    }

    /// Frees the entry of a write that is acknowledged, and releases what waits for it.
    pub fn acknowledged(&mut self, hw: &mut dyn Services, core: CoreId, id: u64) {
        let state = self.core(core);
        if let Some(number) = state.buffer.acknowledge(id) {
            if !broken(Rule::EpochAwaitsWrites) {
                state.epochs.acknowledge(number);
            }
        }
        if std::mem::take(&mut state.store_waits) {
            hw.open(Gates(core).room());
        }
        let oldest = state.buffer.oldest().unwrap_or(u64::MAX);
        state.drains.retain(|entry| {
            let is_held = *entry >= oldest;
            if !is_held {
                hw.open(Gates(core).drained(*entry));
            }
            is_held
        });
        self.note_changed(core);
    }

    /// Makes a write that was refused wait again: its epoch.
    pub fn refused(&mut self, core: CoreId, id: u64) -> Option<EpochId> {
        self.note_changed(core);
        let number = self.core(core).buffer.refuse(id)?;
        Some(EpochId { core, number })
    }

    /// The entry of this number, while it has one.
    pub fn entry(&mut self, core: CoreId, id: u64) -> Option<&Entry> {
        self.core(core).buffer.get(id)
    }

    /// Drains a core's buffer of what is in it now: what to wait for, if there is anything.
    pub fn drain(&mut self, core: CoreId) -> Option<Until> {
        let state = self.core(core);
        let newest = state.buffer.newest()?;
        state.drains.push(newest);
        self.note_changed(core);
        Some(Until::Open(Gates(core).drained(newest)))
    }

    /// Starts the timer after which a core's entries are no longer held back for stores that coalesce with them.
    pub(super) fn gather(&mut self, hw: &mut dyn Services, core: CoreId) {
        let settings = self.settings;
        let state = self.core(core);
        if settings.gather <= 1 || state.gathers {
            return;
        }
        if let Some(newest) = state.buffer.newest() {
            state.gathers = true;
            let (kind, to, body) = (GATHERED, u32::from(core.0), newest);
            hw.send(hw.now() + settings.gather_time, Message { kind, to, body });
        }
    }

    /// The entries of a core's buffer up to this one have waited for long enough.
    fn gathered(&mut self, hw: &mut dyn Services, core: CoreId, newest: u64) {
        let state = self.core(core);
        state.gathered = Some(newest);
        state.gathers = false;
        if state.buffer.gathering(state.epochs.current(), state.gathered).is_some() {
            self.gather(hw, core);
        }
    }

    /// Takes one of the buffers' own messages.
    pub fn message(&mut self, hw: &mut dyn Services, message: Message) {
        let core = CoreId(message.to as u16);
        match message.kind {
            RESOLVED => self.core(core).epochs.resolve(named(message)),
            _ => self.gathered(hw, core, message.body),
        }
        self.note_changed(core);
    }
}
