//! What leaves a store queue: stores to the caches, flushes to the write-back buffer, primitives to the design.

use super::access::Blocked;
use super::events::Event;
use super::queue::{next_entry, next_time};
use super::running::Running;
use super::waiters::{Condition, Waiter};
use crate::core::{Core, Entry, EntryKind};
use crate::timeline::Who;
use strandline_design::{Access, Departure, Hook, Key, Ordering, Store, StoreId, Until, Write, WriteKind};
use strandline_isa::{CoreId, Flush, Primitive};
use strandline_rules::{broken, Rule};

impl Running {
    /// Drains the queue up to `horizon`: stores as long as they come next in the run, up to `last`, or one other entry at
    /// its head; or sets when to look again.
    pub(super) fn drain(&mut self, core: CoreId, horizon: u64, last: u64) {
        let shared = self.hw.hart(core).core.clone();
        let mut horizon = Some(horizon);
        while let Some(until) = horizon {
            let goes_on = self.drain_one(core, &shared, until) && self.hw.commands.is_empty();
            horizon = goes_on.then(|| self.drains_again(core, last)).flatten();
        }
        self.run_deferred();
    }

    /// Drains one entry, or stores that hit; whether one store has left for the caches or the design.
    fn drain_one(&mut self, core: CoreId, shared: &Core, horizon: u64) -> bool {
        if !self.hw.wants_room(core) && shared.drain_hits(horizon) {
            self.hw.drained_hits(core);
            return false;
        }
        // Behind what has drained.
        let at = shared.drain.next.get();
        self.hw.clock.begin(at);
        if shared.drain.shut.get() {
            self.hw.wait_for_buffer(core);
            return false;
        }
        let queue = shared.queue.borrow();
        let Some(&entry) = next_entry(shared, &queue, at) else {
            drop(queue);
            shared.drain.next.set(next_time(shared));
            return false;
        };
        drop(queue);
        self.hw.hart(core).at_turn = entry.number;
        self.hw.record(move |recorder, _| recorder.op_acts(Some(entry.op)));
        match entry.kind {
            EntryKind::Store { .. } => return self.drain_store(core, shared, &entry, at),
            EntryKind::StoreNt { size, .. } => self.drain_nt(core, &entry, size, at),
            EntryKind::Flush(kind) => self.drain_flush(core, &entry, kind, at),
            EntryKind::Primitive(primitive) => {
                self.hw.send_all_combined(core, at);
                if entry.is_fence && !shared.is_drained_ahead() {
                    self.hw.block_drain(core, Until::Drained(None));
                } else if self.primitive_departs(core, &entry, primitive, at) {
                    if primitive == Primitive::JoinStrand || entry.is_fence && !broken(Rule::QueuedFenceHoldsWords) {
                        self.hw.hart(core).core.notes.joined(at);
                    }
                    self.hw.complete(core, entry.context);
                }
            }
        }
        false
    }

    /// Drains a store, or makes it wait; whether it has left the queue.
    fn drain_store(&mut self, core: CoreId, shared: &Core, entry: &Entry, at: u64) -> bool {
        if shared.asks(Hook::Keep) {
            match self.ask_to_keep(core, entry, at) {
                Departure::Go => {}
                Departure::Keep => return true,
                Departure::Wait(_) => return false,
            }
        }
        if !store_hits(shared, entry, at) {
            self.request_line(core, shared, entry, at);
            return false;
        }
        match self.may_become_visible(core, write_of(WriteKind::Store, entry)) {
            Departure::Go | Departure::Keep => {
                self.perform_store(core, entry, at);
                true
            }
            Departure::Wait(until) => {
                self.hw.block_drain(core, until);
                false
            }
        }
    }

    /// Asks the design whether the machine performs a store; if not, the design keeps it or the
    /// store waits.
    fn ask_to_keep(&mut self, core: CoreId, entry: &Entry, at: u64) -> Departure<Key> {
        let (asked, id) = (write_of(WriteKind::Store, entry), StoreId(entry.number));
        let departure = self.design.keep(&mut self.hw, core, asked, id);
        match departure {
            Departure::Go => {}
            Departure::Keep => {
                self.hw.record(move |recorder, _| recorder.left(entry.op, at));
                self.hw.leave(core, entry.number, at);
                let kept = Entry { owned: 0, ..*entry };
                self.hw.hart(core).core.kept.borrow_mut().push_back(kept);
            }
            Departure::Wait(until) => self.hw.block_drain(core, until),
        }
        departure
    }

    /// Requests the line of the store at the head of the queue, which its core does not own.
    fn request_line(&mut self, core: CoreId, shared: &Core, entry: &Entry, at: u64) {
        let answer = self.access(core, entry.line(), Access::Own, at);
        if let Err(Blocked::Until(until)) = answer {
            return self.hw.block_drain(core, until);
        }
        if let Some(e) = shared.queue.borrow_mut().get_mut(entry.number) {
            match answer {
                Ok(done) => {
                    self.hw
                        .record(move |recorder, _| recorder.line_arrives(core, entry.op, (at, done)));
                    e.lost = e.owned != 0;
                    e.waited = e.waited.saturating_add(e.lost.into());
                    e.owned = done.max(at + 1);
                }
                Err(Blocked::Filling(filled)) => {
                    e.owned = (filled + 1).max(at);
                    e.waited = e.waited.saturating_add(1);
                }
                Err(Blocked::Until(_)) => unreachable!("it waits"),
            }
        }
        // Entries behind one that had lost its line may have been ready before.
        shared.drain.next.set(next_time(shared).max(at));
    }

    /// Asks the design whether a store or locked instruction may become visible; its core owns the
    /// line.
    pub(super) fn may_become_visible(&mut self, core: CoreId, write: Write) -> Departure<Key> {
        let line = write.store.line();
        let shared = self.hw.core(core);
        let (watched, asks) = (shared.is_watched(line), shared.asks(Hook::Store));
        if watched {
            let departure = self.design.watched(&mut self.hw, core, line);
            if departure != Departure::Go {
                return departure;
            }
        }
        match asks {
            true => self.design.store(&mut self.hw, core, write),
            false => Departure::Go,
        }
    }

    fn perform_store(&mut self, core: CoreId, entry: &Entry, at: u64) {
        self.visible(core, entry, at);
        self.hw.leave(core, entry.number, at);
        self.hw.complete(core, entry.context);
        if entry.is_pointed {
            self.design.performed(&mut self.hw, core, StoreId(entry.number));
        }
        self.maybe_evict(core, entry, at);
    }

    /// Asks the design about a primitive, which leaves the queue unless it waits; true if it is
    /// done.
    fn primitive_departs(&mut self, core: CoreId, entry: &Entry, primitive: Primitive, at: u64) -> bool {
        let asked = Ordering::Primitive(primitive);
        let departure = self.design.departs(&mut self.hw, core, asked, entry.context);
        if let Departure::Wait(until) = departure {
            self.hw.block_drain(core, until);
            return false;
        }
        self.hw.record(move |recorder, _| recorder.left(entry.op, at));
        self.hw.leave(core, entry.number, at);
        departure == Departure::Go
    }

    /// Performs a store that the design kept, or makes it wait.
    pub(super) fn perform_kept(&mut self, core: CoreId, id: StoreId) {
        let shared = self.hw.hart(core).core.clone();
        let found = shared.kept.borrow().iter().position(|e| e.number == id.0);
        let Some(index) = found else { return };
        let entry = shared.kept.borrow()[index];
        let now = self.hw.now();
        self.hw
            .record(move |recorder, _| recorder.woken(Who::Kept(core, id.0), now));
        if !store_hits(&shared, &entry, now) {
            let answer = self.access(core, entry.line(), Access::Own, now);
            let kept = &mut shared.kept.borrow_mut()[index];
            kept.lost |= kept.owned != 0;
            kept.owned = 0;
            return match answer {
                Ok(at) | Err(Blocked::Filling(at)) => {
                    let again = at.max(now) + 1;
                    kept.waited = kept.waited.saturating_add((answer.is_err() || kept.lost).into());
                    if answer.is_ok() {
                        kept.owned = again;
                    }
                    self.hw.post(again, Event::Perform { core, id });
                }
                Err(Blocked::Until(until)) => {
                    let condition = Condition::of(core, until);
                    self.hw.record(move |recorder, _| {
                        recorder.wait(Who::Kept(core, id.0), condition.why(), now, Some(entry.op))
                    });
                    self.hw.waiters.park(condition, Waiter::Perform { core, id });
                }
            };
        }
        shared.kept.borrow_mut().remove(index);
        self.visible(core, &entry, now);
        self.hw.complete(core, entry.context);
        self.design.performed(&mut self.hw, core, id);
        self.maybe_evict(core, &entry, now);
    }

    fn drain_nt(&mut self, core: CoreId, entry: &Entry, size: u8, at: u64) {
        if self.hw.core(core).asks(Hook::Keep) {
            let asked = write_of(WriteKind::NonTemporal, entry);
            let departure = self.design.keep(&mut self.hw, core, asked, StoreId(entry.number));
            if let Departure::Wait(until) = departure {
                return self.hw.block_drain(core, until);
            }
        }
        if let Err(until) = self.snoop_speculating(core, entry.line()) {
            return self.hw.block_drain(core, until);
        }
        if self.hw.directory.is_some() {
            if let Err(Blocked::Filling(again)) = self.recall(core, entry.line(), Access::Own, at) {
                return self.hw.core(core).drain.next.set(again.max(at + 1));
            }
        }
        if self.combine(core, entry, size, at) {
            self.hw.leave(core, entry.number, at);
            self.hw.send_what_is_waited_for(core, at);
        } else {
            self.hw.wait_for_buffer(core);
        }
    }

    fn drain_flush(&mut self, core: CoreId, entry: &Entry, kind: Flush, at: u64) {
        match self
            .design
            .departs(&mut self.hw, core, Ordering::Flush(entry.line(), kind), entry.context)
        {
            Departure::Go => match self.flush(core, entry, kind, at) {
                Ok(true) if self.hw.core(core).drain.shut.get() => self.hw.wait_for_buffer(core),
                Ok(true) => self.hw.leave(core, entry.number, at),
                Ok(false) => self.hw.wait_for_buffer(core),
                Err(until) => self.hw.block_drain(core, until),
            },
            Departure::Keep => {
                self.hw.record(move |recorder, _| recorder.left(entry.op, at));
                self.hw.leave(core, entry.number, at);
            }
            Departure::Wait(until) => self.hw.block_drain(core, until),
        }
    }

    /// Makes a store's bytes visible to every core of its host.
    pub(super) fn visible(&mut self, core: CoreId, entry: &Entry, at: u64) {
        let (EntryKind::Store { size, value } | EntryKind::StoreNt { size, value }) = entry.kind else {
            return;
        };
        self.hw.core(core).memory.write(entry.addr, size, value);
        self.hw.core(core).trace_visible(entry.op, at);
        if entry.counted {
            self.hw.count_write(entry.addr, at);
        }
        if self.hw.core(core).asks(Hook::Visible) {
            self.design.visible(&mut self.hw, core, store_of(entry));
        }
        if !entry.addr.is_persistent() {
            return;
        }
        let temporal = matches!(entry.kind, EntryKind::Store { .. });
        if temporal && self.hw.crash_image.is_some() && self.durable_from.has_visible() {
            let line = entry.line();
            let data = self.hw.seen(core).line(line);
            self.visible_is_saved(at, line, data);
        }
        self.hw.note_recent(core, entry.line());
    }

    /// On shaken machines, evicts a recently stored line from the caches now and then.
    #[inline(always)]
    fn maybe_evict(&mut self, core: CoreId, entry: &Entry, at: u64) {
        let one_in = self.hw.machine.simulation.evict_one_in;
        if one_in > 0 && entry.addr.is_persistent() {
            self.evict_one_in(one_in, core, at);
        }
    }

    #[inline(never)]
    fn evict_one_in(&mut self, one_in: u64, core: CoreId, at: u64) {
        if !self.hw.rng.one_in(one_in) {
            return;
        }
        let index = self.hw.rng.below(self.hw.recent.len() as u64) as usize;
        let (by, line) = self.hw.recent[index];
        // From the caches of the host that has it.
        let core = if self.hw.hosts.len() > 1 { by } else { core };
        self.evict(core, line, at);
    }
}

/// The store in an entry.
pub fn store_of(entry: &Entry) -> Store {
    let (EntryKind::Store { size, value } | EntryKind::StoreNt { size, value }) = entry.kind else {
        unreachable!("a store's entry")
    };
    let addr = entry.addr;
    Store { addr, size, value }
}

/// An entry that writes, as designs know it.
pub fn write_of(kind: WriteKind, entry: &Entry) -> Write {
    let store = store_of(entry);
    Write { kind, store }
}

/// Whether a store finds its line in the L1, or in the L2 if it has lost the line before: its own
/// core's loads could evict the line from the L1 each time.
fn store_hits(core: &Core, entry: &Entry, at: u64) -> bool {
    let mut private = core.private.borrow_mut();
    let line = entry.line();
    private.store_hit(line, at) || entry.lost && private.owns(line) && private.store_hit(line, at)
}
