//! Inserts stores into persist buffers, and applies the order of primitives.

use super::{CoreState, EpochId, Follows, Gate, PersistBuffers, Persistency, Wraps};
use crate::epochs::rules::Rule;
use strandline_design::{Departure, Ordering, Services, Store, Until, Write};
use strandline_isa::{CoreId, Line, Primitive};
use strandline_rules::{keeps, kept};

impl PersistBuffers {
    /// Answers a store or locked instruction that is about to become visible: what it waits for, if
    /// anything. One to persistent memory waits for room in its core's buffer.
    pub fn store(&mut self, core: CoreId, write: Write) -> Option<Gate> {
        self.persistent_store(core, write.persistent_line()?)
    }

    fn persistent_store(&mut self, core: CoreId, line: Line) -> Option<Gate> {
        if let Some(gate) = self.follow_last_writer(core, line) {
            return Some(gate);
        }
        let state = self.core(core);
        state.note_store();
        let has_room = state.buffer.has_room(line, state.epochs.current());
        if kept(Rule::FullBufferHoldsStore, has_room, || true) {
            return None;
        }
        state.store_waits = true;
        self.note_changed(core);
        Some(Gate::Room(core))
    }

    /// Answers a flush or primitive at the head of the store queue. Flushes write nothing back.
    pub fn departs<T: Wraps>(
        &mut self,
        hw: &mut dyn Services<T>,
        core: CoreId,
        ordering: Ordering,
        context: u8,
    ) -> Departure<T::Gate> {
        match ordering {
            Ordering::Flush(..) => {
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Ordering::Primitive(Primitive::StoreBarrier) => Departure::Go,
            Ordering::Primitive(primitive) => match self.order(hw, core, primitive) {
                Some(gate) => Departure::Wait(Until::Open(gate.into())),
                None => Departure::Go,
            },
        }
    }

    /// Orders the stores before a primitive and those after it: what it waits for, if anything.
    fn order<T: Wraps>(&mut self, hw: &mut dyn Services<T>, core: CoreId, primitive: Primitive) -> Option<Gate> {
        if let Some(gate) = self.request_epoch(core) {
            return Some(gate);
        }
        let persistency = self.persistency;
        self.counting(core, |state| match primitive {
            Primitive::Setctx(context) => state.switch(context),
            Primitive::PersistBarrier => _ = state.epochs.begin(Follows::Current),
            Primitive::NewStrand => new_strand(state, persistency),
            Primitive::Release => release(state, persistency),
            Primitive::Acquire => acquire(state, persistency),
            Primitive::Ofence => _ = state.epochs.begin(all(persistency)),
            _ => {
                state.fence = state.end_for_fence();
                state.epochs.begin(all(persistency));
                if state.fence.is_none() {
                    hw.open(Gate::Fence(core).into());
                }
            }
        });
        self.note_changed(core);
        None
    }

    /// Requests an entry of a core's epoch table, and a number: what to wait for if it is full, or its oldest epoch too old.
    pub(super) fn request_epoch(&mut self, core: CoreId) -> Option<Gate> {
        let (most, within) = (self.settings.epochs?, self.settings.within);
        let state = self.core(core);
        let (oldest, _) = state.epochs.oldest();
        let is_near = kept(Rule::EpochsStayNear, state.epochs.current() - oldest < within, || true);
        if state.epochs.occupied() < most && is_near {
            return None;
        }
        state.epoch_waits = true;
        Some(Gate::Epoch(core))
    }

    /// Inserts a visible store into the buffer if it is persistent. Volatile lines may carry
    /// dependences, too.
    pub fn visible<T: Wraps>(&mut self, hw: &mut dyn Services<T>, core: CoreId, store: Store) {
        let (line, is_persistent) = (store.line(), store.addr.is_persistent());
        let state = self.core(core);
        let epoch = EpochId {
            core,
            number: state.epochs.current(),
        };
        let releases = std::mem::take(&mut state.releases);
        let is_new = is_persistent && state.buffer.insert(line, hw.visible_line(line), epoch.number);
        if is_new {
            state.epochs.add_write();
        }
        match is_new || !state.settled {
            true => self.note_changed(core),
            // It has coalesced, or is volatile: nothing more may be flushed.
            false => state.note_again(hw.now()),
        }
        if is_new {
            self.gather(hw, core);
        }
        if is_persistent || self.persistency == Persistency::Epoch {
            self.writers.record_write(line, epoch);
        }
        if releases && self.persistency == Persistency::Release {
            self.core(core).released = Some(epoch.number);
            self.writers.record_release(line, epoch);
        }
    }
}

/// The epochs that a fence for all of a core's stores waits for.
fn all(persistency: Persistency) -> Follows {
    match persistency {
        Persistency::Strand => Follows::All,
        Persistency::Epoch | Persistency::Release => Follows::Current,
    }
}

fn new_strand(state: &mut CoreState, persistency: Persistency) {
    if persistency == Persistency::Strand {
        state.epochs.begin(Follows::Join);
    }
}

fn release(state: &mut CoreState, persistency: Persistency) {
    state.releases = true;
    keeps(Rule::ReleaseBeginsEpoch, || _ = state.epochs.begin(all(persistency)));
}

/// A core learns of another core's release with the line; its own may be in this very epoch.
fn acquire(state: &mut CoreState, persistency: Persistency) {
    if state.released == Some(state.epochs.current()) {
        state.epochs.begin(all(persistency));
    }
}
