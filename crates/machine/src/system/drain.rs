//! What leaves a store queue: stores to the caches, flushes to the write-back buffer, primitives to the design.

use super::access::Blocked;
use super::events::Event;
use super::hardware::ProgramState;
use super::running::Running;
use super::waiters::{Condition, Then, Waiter};
use crate::core::{Core, Entry, Kind, StoreQueue};
use crate::timeline::{Who, Why};
use strandline_design::{Access, Departure, Domain, Hook, Key, Ordering, Store, StoreId, Until, Write, WriteKind};
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
        self.obey();
    }

    /// Drains one entry, or stores that hit; whether one store has left for the caches or the design.
    fn drain_one(&mut self, core: CoreId, shared: &Core, horizon: u64) -> bool {
        if !self.wants_room(core) && shared.drain_hits(horizon) {
            self.drained_hits(core);
            return false;
        }
        // Behind what has drained.
        let at = shared.drain.next.get();
        self.hw.clock.begin(at);
        if shared.drain.shut.get() {
            self.wait_for_buffer(core);
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
            Kind::Store { .. } => return self.drain_store(core, shared, &entry, at),
            Kind::StoreNt { size, .. } => self.drain_nt(core, &entry, size, at),
            Kind::Flush(kind) => self.drain_flush(core, &entry, kind, at),
            Kind::Primitive(primitive) => {
                self.send_all_combined(core, at);
                if self.primitive_departs(core, &entry, primitive, at) {
                    if primitive == Primitive::JoinStrand {
                        self.hw.hart(core).core.notes.joined(at);
                    }
                    self.complete(core, entry.context);
                }
            }
        }
        false
    }

    /// Whether the core's program waits for room in the queue.
    #[inline(always)]
    fn wants_room(&self, core: CoreId) -> bool {
        let waits = matches!(self.hw.harts[core.index()].state, ProgramState::Waits);
        waits && self.hw.waiters.program_awaits(core, Condition::Room(core))
    }

    /// Drains a store, or makes it wait; whether it has left the queue.
    fn drain_store(&mut self, core: CoreId, shared: &Core, entry: &Entry, at: u64) -> bool {
        if shared.asks(Hook::Keep) {
            match self.leaves_it(core, entry, at) {
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
                self.block_drain(core, until);
                false
            }
        }
    }

    /// Asks the design whether the machine performs a store; if not, the design keeps it or the
    /// store waits.
    fn leaves_it(&mut self, core: CoreId, entry: &Entry, at: u64) -> Departure<Key> {
        let (asked, id) = (write_of(WriteKind::Store, entry), StoreId(entry.number));
        let departure = self.design.keep(&mut self.hw, core, asked, id);
        match departure {
            Departure::Go => {}
            Departure::Keep => {
                self.hw.record(move |recorder, _| recorder.left(entry.op, at));
                self.leave(core, entry.number, at);
                let kept = Entry { owned: 0, ..*entry };
                self.hw.hart(core).core.kept.borrow_mut().push_back(kept);
            }
            Departure::Wait(until) => self.block_drain(core, until),
        }
        departure
    }

    /// Requests the line of the store at the head of the queue, which its core does not own.
    fn request_line(&mut self, core: CoreId, shared: &Core, entry: &Entry, at: u64) {
        let answer = self.access(core, entry.line(), Access::Own, at);
        if let Err(Blocked::Until(until)) = answer {
            return self.block_drain(core, until);
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
        self.leave(core, entry.number, at);
        self.complete(core, entry.context);
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
            self.block_drain(core, until);
            return false;
        }
        self.hw.record(move |recorder, _| recorder.left(entry.op, at));
        self.leave(core, entry.number, at);
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
        self.complete(core, entry.context);
        self.design.performed(&mut self.hw, core, id);
        self.maybe_evict(core, &entry, now);
    }

    fn drain_nt(&mut self, core: CoreId, entry: &Entry, size: u8, at: u64) {
        if self.hw.core(core).asks(Hook::Keep) {
            let asked = write_of(WriteKind::NonTemporal, entry);
            let departure = self.design.keep(&mut self.hw, core, asked, StoreId(entry.number));
            if let Departure::Wait(until) = departure {
                return self.block_drain(core, until);
            }
        }
        if let Err(until) = self.snoop_speculating(core, entry.line()) {
            return self.block_drain(core, until);
        }
        if self.combine(core, entry, size, at) {
            self.leave(core, entry.number, at);
            self.send_what_is_waited_for(core, at);
        } else {
            self.wait_for_buffer(core);
        }
    }

    fn drain_flush(&mut self, core: CoreId, entry: &Entry, kind: Flush, at: u64) {
        match self
            .design
            .departs(&mut self.hw, core, Ordering::Flush(entry.line(), kind), entry.context)
        {
            Departure::Go => match self.flush(core, entry, kind, at) {
                Ok(true) if self.hw.core(core).drain.shut.get() => self.wait_for_buffer(core),
                Ok(true) => self.leave(core, entry.number, at),
                Ok(false) => self.wait_for_buffer(core),
                Err(until) => self.block_drain(core, until),
            },
            Departure::Keep => {
                self.hw.record(move |recorder, _| recorder.left(entry.op, at));
                self.leave(core, entry.number, at);
            }
            Departure::Wait(until) => self.block_drain(core, until),
        }
    }

    /// Sends the write-combining buffers if a fence, a locked instruction or the design waits for
    /// them, or the program has ended, once the last non-temporal store before it has joined them.
    fn send_what_is_waited_for(&mut self, core: CoreId, at: u64) {
        let waits = self.hw.waits_for_design(core) || matches!(self.hw.hart(core).state, ProgramState::Ended);
        let hart = self.hw.hart(core);
        // What the design waits for first: stores of later contexts may wait for that.
        let awaited = hart.when_drained.first().map(|(context, _)| *context);
        let queue = hart.core.queue.borrow();
        let left = |of: Option<u8>| {
            let mut all = queue.iter().filter(|e| matches!(e.kind, Kind::StoreNt { .. }));
            all.any(|e| of.is_none_or(|context| context == e.context))
        };
        let sends = waits && !left(None) || awaited.is_some() && !left(awaited);
        drop(queue);
        if sends {
            self.send_all_combined(core, at);
        }
    }

    /// Makes a store's bytes visible to every core.
    pub(super) fn visible(&mut self, core: CoreId, entry: &Entry, at: u64) {
        let (Kind::Store { size, value } | Kind::StoreNt { size, value }) = entry.kind else {
            return;
        };
        self.hw.memory.write(entry.addr, size, value);
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
        let temporal = matches!(entry.kind, Kind::Store { .. });
        if temporal && self.hw.crash_image.is_some() && self.wants.domain == Domain::Caches {
            let line = entry.line();
            let data = self.hw.memory.line(line);
            self.durable(at, line, data);
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
        let (_, line) = self.hw.recent[index];
        self.drive_out(core, line, at);
    }

    /// Removes the entry of this number from the queue and wakes the waiters for room.
    #[inline]
    pub(super) fn leave(&mut self, core: CoreId, number: u64, at: u64) {
        let hart = self.hw.hart(core);
        hart.settled = hart.settled.max(at);
        let mut queue = hart.core.queue.borrow_mut();
        queue.remove(number, at);
        hart.core.drain.last.set(at);
        hart.core.drain.next.set(next_of(&hart.core, &queue));
        let is_empty = queue.len() == 0;
        drop(queue);
        if is_empty && self.hw.waiters.fence_awaits_visible(core) {
            self.all_visible(core);
        }
        self.has_room(core, at);
    }

    /// Wakes a program that waits for room in the queue, or for an empty queue.
    #[inline(always)]
    fn has_room(&mut self, core: CoreId, at: u64) {
        let waits = matches!(self.hw.harts[core.index()].state, ProgramState::Waits);
        if waits && self.hw.waiters.program_awaits_queue(core) {
            self.wake_for_room(core, at);
        }
    }

    #[inline(never)]
    fn wake_for_room(&mut self, core: CoreId, at: u64) {
        let shared = self.hw.hart(core).core.clone();
        let is_met = |condition| match condition {
            Condition::Room(_) => shared.has_entries_free(),
            Condition::Empty(_) => shared.queue.borrow().len() == 0,
            _ => false,
        };
        let Some(then) = self.hw.waiters.wake_program(core, is_met) else {
            return;
        };
        match then {
            Then::Ask(request) => {
                self.hw
                    .record(move |recorder, _| recorder.woken(Who::Program(core), at));
                shared.turn.not_before(at);
                self.hw.hart(core).state = ProgramState::Again(request);
            }
            Then::GoOn { .. } | Then::Count(_) => {
                self.hw
                    .record(move |recorder, _| recorder.woken(Who::Program(core), at));
                shared.window.stall_queue(at, shared.drain.head_waits.since_mark(at));
                shared.turn.next_op.set(shared.window.cycle());
                self.hw.hart(core).state = ProgramState::Runnable;
            }
        }
    }

    /// Wakes the waiters for stores that have drained without the system.
    fn drained_hits(&mut self, core: CoreId) {
        let hart = self.hw.hart(core);
        let at = hart.core.drain.last.get();
        hart.settled = hart.settled.max(at);
        self.has_room(core, at);
    }

    /// The queue waits for a buffer to become free; see [`Running::retry_drain`].
    fn wait_for_buffer(&mut self, core: CoreId) {
        self.record_blocked(core, Why::Buffer);
        self.stop_drain(core);
    }

    /// The queue's head waits for flushes, or for the design.
    fn stop_drain(&mut self, core: CoreId) {
        let now = self.hw.now();
        let drain = &self.hw.hart(core).core.drain;
        drain.next.set(u64::MAX);
        drain.head_waits.begin(now);
    }

    fn block_drain(&mut self, core: CoreId, until: Until<Key>) {
        self.stop_drain(core);
        let condition = Condition::of(core, until);
        self.record_blocked(core, condition.why());
        self.hw.waiters.park(condition, Waiter::StoreQueue(core));
    }

    /// Records that the entry that has reached the queue's head waits there.
    fn record_blocked(&self, core: CoreId, why: Why) {
        self.hw.record(move |recorder, at| {
            let hart = &self.hw.harts[core.index()];
            let op = hart.core.queue.borrow().get(hart.at_turn).map(|entry| entry.op);
            recorder.wait(Who::Queue(core), why, at, op);
        });
    }

    /// Looks at the queue's head again now.
    pub(super) fn retry_drain(&mut self, core: CoreId) {
        let now = self.hw.now();
        _ = self.hw.waiters.wake_store_queue(core, |_| true);
        self.hw.record(move |recorder, _| recorder.woken(Who::Queue(core), now));
        let hart = self.hw.hart(core);
        hart.core.drain.head_waits.end(now);
        let next = next_time(&hart.core);
        if next != u64::MAX {
            hart.core.drain.next.set(next.max(now));
        }
    }
}

/// The store in an entry.
pub fn store_of(entry: &Entry) -> Store {
    let (Kind::Store { size, value } | Kind::StoreNt { size, value }) = entry.kind else {
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

/// The entry that drains at `at`.
fn next_entry<'q>(core: &Core, queue: &'q StoreQueue, at: u64) -> Option<&'q Entry> {
    if core.drain.in_order {
        return overtaking_flush(queue, at).or(queue.front());
    }
    let (number, _) = eligible(core, queue).find(|(_, when)| *when <= at)?;
    queue.get(number)
}

/// A flush that is ready before it reaches the head and leaves all the same: a broken rule.
fn overtaking_flush(queue: &StoreQueue, at: u64) -> Option<&Entry> {
    if !broken(Rule::FlushBehindStores) {
        return None;
    }
    let flush = |e: &&Entry| matches!(e.kind, Kind::Flush(_)) && e.ready <= at;
    queue.iter().find(flush)
}

/// When the next entry drains, as far as the queue alone decides.
fn next_time(core: &Core) -> u64 {
    next_of(core, &core.queue.borrow())
}

/// When the next entry of the core's queue drains, as far as the queue alone decides.
#[inline(always)]
fn next_of(core: &Core, queue: &StoreQueue) -> u64 {
    let next = match core.drain.in_order {
        true => queue.front().map(|e| core.leaves_at(e.ready.max(e.owned), e.with_last)),
        false => first_eligible(core, queue),
    };
    next.unwrap_or(u64::MAX)
}

/// When the first entry drains on machines that drain out of order.
#[inline(never)]
fn first_eligible(core: &Core, queue: &StoreQueue) -> Option<u64> {
    eligible(core, queue).map(|(_, when)| when).min()
}

/// On machines that drain out of order: the entries, by number, with no older barrier and no older entry to
/// their line, and the earliest time at which each drains.
fn eligible<'q>(core: &'q Core, queue: &'q StoreQueue) -> impl Iterator<Item = (u64, u64)> + 'q {
    let mut ends = false;
    // A bit for each hash of an older entry's line.
    let mut lines = 0;
    let found = queue.iter().enumerate().map_while(move |(older, entry)| {
        if std::mem::replace(&mut ends, entry.is_barrier()) {
            return None;
        }
        if entry.is_barrier() {
            return Some((older == 0).then(|| (entry.number, core.leaves_at(entry.ready, false))));
        }
        let bit = 1u64 << (entry.line().0 % 64);
        let may_be_older = lines & bit != 0;
        lines |= bit;
        let is_older = || queue.iter().take(older).any(|older| older.line() == entry.line());
        if may_be_older && is_older() && !broken(Rule::SameLineInOrder) {
            return Some(None);
        }
        ends = entry.lost;
        let at = core.leaves_at(entry.ready.max(entry.owned), entry.with_last);
        Some(Some((entry.number, at)))
    });
    found.flatten()
}
