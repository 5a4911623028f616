//! Stores enter persist buffers, and primitives order them.

use super::{CoreState, EpochId, Follows, Gates, PersistBuffers, Persistency};
use strandline_design::{Admission, Departure, Entry, Services, Until};
use strandline_isa::{Addr, CoreId, Line, Primitive};
use strandline_rules::{broken, Rule};

impl PersistBuffers {
    /// What a dispatched primitive waits for: a `dfence`, and that for which buffers have nothing weaker, for its epochs, and younger
    /// stores with it; one that only orders does so when it leaves the store queue.
    #[must_use]
    pub fn admission(core: CoreId, primitive: Primitive) -> Admission {
        match primitive {
            Primitive::Ofence
            | Primitive::PersistBarrier
            | Primitive::NewStrand
            | Primitive::Release
            | Primitive::Acquire
            | Primitive::Setctx(_) => Admission::Enter,
            Primitive::StoreBarrier => Admission::plain(primitive),
            _ => Admission::EnterHeld {
                until: Until::Open(Gates(core).fence()),
                loads: primitive == Primitive::Mfence,
            },
        }
    }

    /// Answers an entry at the head of the store queue, or a locked instruction. Flushes write nothing back.
    pub fn departs(&mut self, hw: &mut dyn Services, core: CoreId, entry: Entry, context: u8) -> Departure {
        match entry {
            Entry::Store(addr) | Entry::StoreNt(addr) if addr.is_persistent() => self.store(core, addr.line()),
            Entry::Store(_) | Entry::StoreNt(_) | Entry::Primitive(Primitive::StoreBarrier) => Departure::Go,
            Entry::Flush(..) => {
                hw.acknowledge(core, context);
                Departure::Keep
            }
            Entry::Primitive(primitive) => self.order(hw, core, primitive),
        }
    }

    /// A persistent store is about to become visible: it waits if its core's buffer has no room for it.
    fn store(&mut self, core: CoreId, line: Line) -> Departure {
        if let Some(until) = self.follow_last_writer(core, line) {
            return Departure::Wait(until);
        }
        let state = self.core(core);
        state.note_store();
        if state.buffer.has_room(line, state.epochs.current()) || broken(Rule::FullBufferHoldsStore) {
            return Departure::Go;
        }
        state.store_waits = true;
        self.note_changed(core);
        Departure::Wait(Until::Open(Gates(core).room()))
    }

    /// Orders what came before a primitive and what follows it.
    fn order(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Departure {
        if let Some(until) = self.request_epoch(core) {
            return Departure::Wait(until);
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
                    hw.open(Gates(core).fence());
                }
            }
        });
        self.note_changed(core);
        Departure::Go
    }

    /// Requests an entry of a core's epoch table: what to wait for if it is full.
    pub(super) fn request_epoch(&mut self, core: CoreId) -> Option<Until> {
        let most = self.settings.epochs?;
        let state = self.core(core);
        if state.epochs.occupied() < most {
            return None;
        }
        state.epoch_waits = true;
        Some(Until::Open(Gates(core).epoch()))
    }

    /// A store has become visible: it enters the buffer if it is persistent. Volatile lines may carry dependences, too.
    pub fn visible(&mut self, hw: &mut dyn Services, core: CoreId, addr: Addr) {
        let line = addr.line();
        let state = self.core(core);
        let number = state.epochs.current();
        let enters = addr.is_persistent() && state.buffer.has_room(line, number);
        if enters && state.buffer.insert(line, hw.visible_line(line), number) {
            state.epochs.add_write();
            self.gather(hw, core);
        }
        self.record_writer(core, number, addr);
        self.note_changed(core);
    }

    /// Records in whose epoch a line was written last, and released last.
    fn record_writer(&mut self, core: CoreId, number: u64, addr: Addr) {
        let epoch = EpochId { core, number };
        let releases = std::mem::take(&mut self.core(core).releases);
        if addr.is_persistent() || self.persistency == Persistency::Epoch {
            self.writers.record_write(addr.line(), epoch);
        }
        if releases && self.persistency == Persistency::Release {
            self.core(core).released = Some(number);
            self.writers.record_release(addr.line(), epoch);
        }
    }
}

/// What a fence for all of a core's stores follows.
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
    if !broken(Rule::ReleaseBeginsEpoch) {
        state.epochs.begin(all(persistency));
    }
}

/// Of another core's release the core learns with the line; its own may be in this very epoch.
fn acquire(state: &mut CoreState, persistency: Persistency) {
    if state.released == Some(state.epochs.current()) {
        state.epochs.begin(all(persistency));
    }
}
