//! Flushes of persist buffers' entries, and commits of epochs.

use super::{EpochId, EpochTable, Gate, Message, PersistBuffers, Wraps};
use crate::epochs::rules::Rule;
use crate::parts::epochs::Commit;
use crate::parts::persist_buffer::{Flush, Sent, Write};
use strandline_design::Services;
use strandline_isa::CoreId;
use strandline_kernel::Cycles;
use strandline_rules::{breaks, broken, keeps};

impl PersistBuffers {
    /// Flushes the oldest entry of a core that is allowed, if there is one. Those of safe epochs are; with `eager` all. `tag`
    /// makes the write's tag.
    pub fn flush<T: Wraps>(
        &mut self,
        hw: &mut dyn Services<T>,
        core: CoreId,
        eager: bool,
        tag: impl Fn(&EpochTable, Sent) -> T::Tag,
    ) -> Option<Write> {
        let most = self.settings.gather;
        let state = self.core(core);
        if state.buffer.waiting() == 0 {
            return None;
        }
        let held = state.held_back(most);
        let epochs = &state.epochs;
        let mut write = state
            .buffer
            .flush(held, last(epochs, eager), |number| match epochs.is_safe(number) {
                true => Some(Flush::Safe),
                false => eager.then_some(Flush::Early),
            })?;
        breaks(Rule::EntryKeepsBytes, || write.data = hw.visible_line(write.line));
        breaks(Rule::EpochAwaitsWrites, || state.epochs.acknowledge(write.tag.epoch));
        let tag = tag(&state.epochs, write.tag);
        hw.write(core, write.line, write.data, tag);
        Some(write)
    }

    /// Commits the oldest epoch of a core that is safe and complete, if there is one.
    pub fn start_commit(&mut self, core: CoreId) -> Option<Commit> {
        self.core(core).epochs.start_commit()
    }

    /// Removes a durable epoch, and notifies the cores with epochs that depend on it, which learn
    /// of it at `known`.
    pub fn durable<T: Wraps>(&mut self, hw: &mut dyn Services<T>, done: EpochId, known: Cycles) {
        self.writers.forget(done);
        let state = self.core(done.core);
        let dependents = state.epochs.remove(done.number);
        if std::mem::take(&mut state.epoch_waits) {
            hw.open(Gate::Epoch(done.core).into());
        }
        for dependent in dependents {
            hw.send(known, Message::Resolved(dependent, done).into());
        }
    }

    /// Releases a core's fence if its epochs are durable, and notes the buffer's occupancy and
    /// whether it is blocked. To be called after the last flush, with the same `eager`, and commit.
    pub fn release_fence<T: Wraps>(&mut self, hw: &mut dyn Services<T>, core: CoreId, eager: bool) {
        let state = self.core(core);
        if let Some(fence) = state.fence.take_if(|number| state.epochs.are_durable_through(*number)) {
            hw.open(Gate::Fence(core).into());
            if broken(Rule::FencedStaySources) {
                return self.settle_through(hw, EpochId { core, number: fence });
            }
        }
        state.settled = true;
        let epochs = &state.epochs;
        let blocked = state
            .buffer
            .is_blocked(last(epochs, eager), |number| eager || epochs.is_safe(number));
        state.note(hw.now(), blocked, eager);
    }

    /// A broken rule: what a fence has waited for is no source of dependences any more.
    fn settle_through<T: Wraps>(&mut self, hw: &mut dyn Services<T>, fence: EpochId) {
        while self.core(fence.core).epochs.oldest().0 <= fence.number {
            let (number, now) = (self.core(fence.core).epochs.oldest().0, hw.now());
            self.durable(hw, EpochId { number, ..fence }, now);
        }
        self.note_changed(fence.core);
    }

    /// Frees the entry of an acknowledged write, and releases its waiters.
    pub fn acknowledged<T: Wraps>(&mut self, hw: &mut dyn Services<T>, core: CoreId, id: u64) {
        let state = self.core(core);
        if let Some(number) = state.buffer.acknowledge(id) {
            keeps(Rule::EpochAwaitsWrites, || state.epochs.acknowledge(number));
        }
        if std::mem::take(&mut state.store_waits) {
            hw.open(Gate::Room(core).into());
        }
        let oldest = state.buffer.oldest().unwrap_or(u64::MAX);
        state.drains.retain(|entry| {
            let is_held = *entry >= oldest;
            if !is_held {
                hw.open(Gate::Drained(core, *entry).into());
            }
            is_held
        });
        self.note_changed(core);
    }

    /// Requeues a refused write: its epoch.
    pub fn refused(&mut self, core: CoreId, id: u64) -> Option<EpochId> {
        self.note_changed(core);
        let number = self.core(core).buffer.refuse(id)?;
        Some(EpochId { core, number })
    }

    /// Drains the present content of a core's buffer: what to wait for, if anything.
    pub fn drain(&mut self, core: CoreId) -> Option<Gate> {
        let state = self.core(core);
        let newest = state.buffer.newest()?;
        state.drains.push(newest);
        self.note_changed(core);
        Some(Gate::Drained(core, newest))
    }

    /// Starts the timer after which a core's entries are no longer held back for stores that
    /// coalesce with them.
    pub(super) fn gather<T: Wraps>(&mut self, hw: &mut dyn Services<T>, core: CoreId) {
        let settings = self.settings;
        let state = self.core(core);
        if settings.gather <= 1 || state.gathers {
            return;
        }
        if let Some(newest) = state.buffer.newest() {
            state.gathers = true;
            let at = hw.now() + settings.gather_time;
            hw.send(at, Message::Gathered(core, newest).into());
        }
    }

    /// Stops holding back the entries of a core's buffer up to this one.
    fn gathered<T: Wraps>(&mut self, hw: &mut dyn Services<T>, core: CoreId, newest: u64) {
        let state = self.core(core);
        state.gathered = Some(newest);
        state.gathers = false;
        if state.buffer.gathering(state.epochs.current(), state.gathered).is_some() {
            self.gather(hw, core);
        }
    }

    /// Handles a message to a core.
    pub fn message<T: Wraps>(&mut self, hw: &mut dyn Services<T>, message: Message) {
        let (Message::Resolved(core, _) | Message::Gathered(core, _)) = message;
        match message {
            Message::Resolved(_, epoch) => self.core(core).epochs.resolve(epoch),
            Message::Gathered(_, newest) => self.gathered(hw, core, newest),
        }
        self.note_changed(core);
    }
}

/// An epoch after which none may be flushed.
fn last(epochs: &EpochTable, eager: bool) -> u64 {
    match eager {
        true => u64::MAX,
        false => epochs.last_safe(),
    }
}
