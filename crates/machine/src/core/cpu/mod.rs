//! A simulated core as a program's back end: of a program that keeps its values in registers, and of one that keeps them
//! on a stack.
//!
//! An operation completes at once unless it needs the system, or another core or event comes first. Then it asks the
//! system ([`Request`]). If the answer comes later, the program is suspended until then.

mod arithmetic;
mod asking;
mod operations;
mod replay;
mod stack;
mod stores;

use super::{Core, Dispatched, EntryKind, Interrupt, Now, Port, Request};
use crate::trace::TraceOp;
use corosensei::Yielder;
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Note, Primitive, Rmw, Site, W};
use strandline_rules::{keeps, Rule};

pub use stack::StackCpu;

/// A simulated core as its program sees it, whose values lie in registers. A value's tag is the cycle in which it is
/// ready.
pub struct SimCpu<'s> {
    core: Rc<Core>,
    /// The stack that the program runs on.
    stack: &'s Yielder<(), ()>,
}

impl<'s> SimCpu<'s> {
    /// The back end on `core` of the program that runs on `stack`.
    pub fn new(core: Rc<Core>, stack: &'s Yielder<(), ()>) -> SimCpu<'s> {
        SimCpu { core, stack }
    }
}

/// Whether an operation may continue now, or its request.
pub(super) type Go = Result<(), Request>;

impl Core {
    /// Drains every store that is due before `at`.
    #[inline(always)]
    pub(super) fn catch_up(&self, at: u64) -> Go {
        self.turn.next_op.set(at);
        match at <= self.turn.horizon.get() && self.drain_hits(at) {
            true => Ok(()),
            false => Err(Request::Order),
        }
    }

    /// Whether a load may be dispatched.
    #[inline(always)]
    fn may_load(&self) -> Go {
        match self.window.is_watched() {
            false => Ok(()),
            true => self.find_load_entry(),
        }
    }

    /// Whether no held fence blocks the store queue.
    #[inline(always)]
    fn may_store(&self) -> Go {
        match self.window.is_held() {
            true => Err(Request::Released { blocks: true }),
            false => Ok(()),
        }
    }

    /// Whether the store queue has room for another entry, after all that is due before it has
    /// drained.
    #[inline(always)]
    fn find_room(&self) -> Go {
        self.may_store()?;
        self.catch_up(self.window.cycle())?;
        if !self.has_entries_free() {
            self.make_room()?;
        }
        match self.window.is_watched() {
            false => Ok(()),
            true => self.find_shared_entry(),
        }
    }

    /// Stalls dispatch until the oldest store leaves a full queue, as long as nothing else acts before.
    #[cold]
    #[inline(never)]
    fn make_room(&self) -> Go {
        while !self.has_entries_free() {
            let leaves = self.drain.next.get();
            // A store may have left although the entry behind it, due in the same cycle, is the system's.
            let goes_on = leaves < self.turn.alone.get() && self.drain_hits(leaves);
            if !goes_on && !self.has_entries_free() {
                return Err(Request::Room);
            }
            self.window.stall_buffer(leaves);
            let next = self.window.cycle();
            self.turn.next_op.set(next);
            if !goes_on || next >= self.turn.alone.get() {
                return Err(Request::Order);
            }
            self.catch_up(next)?;
        }
        Ok(())
    }

    /// A non-temporal store; an ordinary one if the design requires it.
    fn store_nt(&self, size: u8, value: u64) -> EntryKind {
        match self.limits.nt_cached {
            true => EntryKind::Store { size, value },
            false => EntryKind::StoreNt { size, value },
        }
    }

    fn end_primitive(&self, primitive: Primitive, at: u64, dispatched: Dispatched) {
        self.disturbs_laps();
        if primitive == Primitive::JoinStrand && dispatched.enters() {
            self.notes.join();
        }
        if primitive.is_fence() {
            count(&self.counts.fences);
        }
        if primitive == Primitive::Pcommit {
            self.count_pcommit();
        }
        match dispatched {
            Dispatched::Passed => {
                self.observe(|| TraceOp::Primitive(primitive));
                if let Primitive::Setctx(_) = primitive {
                    // It executes as any instruction that writes a register.
                    self.context.ready.set(at + 2);
                    self.window.retire(at + 2);
                } else {
                    self.window.retire(at + 1);
                }
            }
            Dispatched::Held => {
                self.observe(|| TraceOp::Primitive(primitive));
                self.hold();
            }
            Dispatched::Entered => {
                // A change of context behind a held fence, whose retirement is unknown, enters the queue in this turn.
                let ready = self.window.retire(at + 1).max(self.turn.began.get());
                self.enqueue(Addr(0), EntryKind::Primitive(primitive), ready);
            }
            Dispatched::EnteredFence => {
                keeps(Rule::QueuedFenceHoldsWords, || self.notes.join());
                let ready = self.window.retire(at + 1);
                self.enqueue_fence(primitive, ready);
            }
            Dispatched::EnteredHeld => {
                let ready = self.window.retired().max(at + 1);
                self.enqueue(Addr(0), EntryKind::Primitive(primitive), ready);
                self.hold();
            }
            Dispatched::Claimed { marks } => {
                self.window.retire(at + 1);
                match marks {
                    true => self.enqueue_rest(Addr(0), EntryKind::Primitive(primitive)),
                    false => _ = self.observe(|| TraceOp::Primitive(primitive)),
                }
            }
        }
    }

    /// Holds the primitive just dispatched in the window.
    fn hold(&self) {
        self.window.hold();
        if let Some(recorder) = &self.observer.recorder {
            recorder.fence_held(self.id);
        }
    }

    /// Counts a store or flush, and whether a `pcommit` is outstanding.
    #[inline(always)]
    fn count_store(&self, executed: &Cell<u64>) {
        count(executed);
        if self.counts.pcommits.get() > self.pcommits_completed.get() {
            count(&self.counts.stores_during_pcommits);
        }
    }

    fn count_pcommit(&self) {
        let counts = &self.counts;
        count(&counts.pcommits);
        let in_flight = counts.pcommits.get().saturating_sub(self.pcommits_completed.get());
        counts
            .pcommits_in_flight_max
            .set(counts.pcommits_in_flight_max.get().max(in_flight));
    }
}

impl Core {
    /// What the program saved at the point from which it goes on, if it is created anew.
    fn opened(&self) -> Option<Vec<(u64, u64)>> {
        self.observer.log.as_ref()?.opened()
    }

    /// A point from which the program can go on with these words.
    fn add_point(&self, words: impl Iterator<Item = (u64, u64)>) {
        if let Some(log) = &self.observer.log {
            log.add_point(words.collect());
        }
    }

    /// Reads the time-stamp counter: the cycle, and when it is in its register.
    fn reads_counter(&self) -> (u64, u64) {
        let at = self.window.dispatch();
        let issue = self.window.issue_at_port(Port::Alu, at + 1);
        self.window.execute(issue, issue + 1);
        self.replay_or(at, issue + 1)
    }

    /// Notes what the program announces.
    fn note(&self, note: Note) {
        if self.is_replaying() {
            return;
        }
        self.trace(|| TraceOp::Note(self.notes.count()));
        let now = Now {
            cycle: self.window.cycle(),
            retired: (!self.window.is_held()).then(|| self.window.retired()),
            instructions: self.window.instructions(),
            complete: self.window.complete(),
        };
        self.notes.take(note, now);
    }
}

fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

impl Cpu for SimCpu<'_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.core.id
    }

    fn lowering(&self) -> &Lowering {
        &self.core.lowering
    }

    #[inline(always)]
    fn alu(&self, op: Alu, a: u64, b: u64) -> u64 {
        self.core.computes(op, a.max(b))
    }

    #[inline(always)]
    fn branch(&self, condition: u64, taken: bool, site: Site) {
        self.core.branches_on(condition, taken, site);
    }

    #[inline(always)]
    fn load(&self, addr: Addr, address: u64, size: u8) -> W<'_, Self> {
        let (value, done) = self.completes(|| self.load_ready(addr, address, size));
        W::new(self, value, done)
    }

    #[inline(always)]
    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let kind = EntryKind::Store { size, value };
        self.completes(|| self.store_ready(addr, kind, (address, data)));
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let kind = self.core.store_nt(size, value);
        self.completes(|| self.store_ready(addr, kind, (address, data)));
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        let (value, done) = self.completes(|| self.locked_ready(addr, op, operand, address.max(data)));
        W::new(self, value, done)
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        self.completes(|| self.flush_ready(addr, address, flush));
    }

    fn primitive(&self, primitive: Primitive) {
        self.completes(|| self.primitive_now(primitive));
    }

    fn resumed(&self) -> Option<Vec<W<'_, Self>>> {
        let state = self.core.opened()?.into_iter();
        Some(state.map(|(bits, ready)| W::new(self, bits, ready)).collect())
    }

    fn wants_point(&self) -> bool {
        self.core.observer.log.as_ref().is_some_and(|log| log.wants_point())
    }

    fn add_point<'c>(&'c self, state: Vec<W<'c, Self>>) {
        self.core
            .add_point(state.into_iter().map(|word| (word.bits(), word.tag())));
    }

    #[inline(always)]
    fn jump(&self, target: u64, to: u64, site: Site) {
        self.core.jumps(target, to, site);
    }

    fn cycles(&self) -> W<'_, Self> {
        let (at, done) = self.core.reads_counter();
        W::new(self, at, done)
    }

    fn note(&self, note: Note) {
        self.core.note(note);
    }

    fn interrupted(&self) -> bool {
        let before = self.core.interrupted.replace(Interrupt::Heeded { pending: false });
        before == Interrupt::Heeded { pending: true }
    }

    fn hosts(&self) -> u64 {
        self.core.hosts
    }

    fn has_failed(&self, core: CoreId) -> bool {
        self.core.failed.get() >> core.index() & 1 != 0
    }

    fn fenced(&self) {
        self.awaits_fences();
    }

    #[inline(always)]
    fn spins(&self) {
        self.core.spins();
    }

    fn sleep<'c>(&'c self, word: W<'c, Self>, value: u64) {
        self.sleeps(Addr(word.bits()), value);
    }

    fn wakes(&self) {
        if !self.core.is_replaying() {
            self.core.observer.counts_next.set(true);
        }
    }

    fn start_line(&self) {
        self.starts();
    }
}
