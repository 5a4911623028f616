//! The simulator as a program's back end.
//!
//! An operation completes at once unless it needs the system, or another core or event comes first. Then it asks the
//! system ([`Request`]). If the answer comes later, the program is suspended until then.

mod asking;
mod operations;
mod replay;
mod stack;
mod stores;

use super::{Core, Dispatched, Frame, Interrupt, Kind, Mode, Now, Pace, Port, Request};
use crate::trace::Op;
use corosensei::Yielder;
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Note, Primitive, Rmw, Scope, Site, W};

/// A simulated core as its program sees it. A register value's tag is the cycle in which it is
/// ready.
pub struct SimCpu<'s> {
    core: Rc<Core>,
    /// Which of the core's programs has it, if they keep their values on a stack.
    program: u64,
    /// The stack that the program runs on.
    stack: &'s Yielder<(), ()>,
}

impl<'s> SimCpu<'s> {
    /// The back end on `core` of the program that runs on `stack`. Programs that keep their values in a frame have numbers.
    pub fn new(core: Rc<Core>, program: u64, stack: &'s Yielder<(), ()>) -> SimCpu<'s> {
        SimCpu { core, program, stack }
    }
}

/// Whether an operation may continue now, or its request.
pub(super) type Go = Result<(), Request>;

impl Core {
    /// The number of the program that begins on this core, if it keeps its values on a stack.
    pub fn begins_program(&self) -> u64 {
        self.frame().map_or(0, Frame::begins_program)
    }

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
        match self.window.pace() {
            Pace::Simple | Pace::Limited => Ok(()),
            Pace::Other => self.find_load_entry(),
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
        match self.window.pace() {
            Pace::Simple | Pace::Limited => Ok(()),
            Pace::Other => self.find_shared_entry(),
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
    fn store_nt(&self, size: u8, value: u64) -> Kind {
        match self.limits.nt_cached {
            true => Kind::Store { size, value },
            false => Kind::StoreNt { size, value },
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
                self.observe(|| Op::Primitive(primitive));
                if let Primitive::Setctx(_) = primitive {
                    // It executes as any instruction that writes a register.
                    self.context.ready.set(at + 2);
                    self.window.retire(at + 2);
                } else {
                    self.window.retire(at + 1);
                }
            }
            Dispatched::Held => {
                self.observe(|| Op::Primitive(primitive));
                self.hold();
            }
            Dispatched::Entered => {
                // A change of context behind a held fence, whose retirement is unknown, enters the queue in this turn.
                let ready = self.window.retire(at + 1).max(self.turn.began.get());
                self.enqueue(Addr(0), Kind::Primitive(primitive), ready);
            }
            Dispatched::EnteredHeld => {
                let ready = self.window.retired().max(at + 1);
                self.enqueue(Addr(0), Kind::Primitive(primitive), ready);
                self.hold();
            }
            Dispatched::Claimed { marks } => {
                self.window.retire(at + 1);
                match marks {
                    true => self.enqueue_rest(Addr(0), Kind::Primitive(primitive)),
                    false => _ = self.observe(|| Op::Primitive(primitive)),
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
        let c = &*self.core;
        match c.window.pace() {
            Pace::Simple => c.computes_simply(op, a, b),
            Pace::Limited => c.computes_limited(op, a.max(b)),
            Pace::Other => c.alu_otherwise(op, a, b),
        }
    }

    #[inline(always)]
    fn compare(&self, a: u64, b: u64) -> u64 {
        let c = &*self.core;
        match c.window.pace() {
            Pace::Simple => c.computes_simply(Alu::Simple, a, b),
            Pace::Limited => c.computes_limited(Alu::Simple, a.max(b)),
            Pace::Other => c.compare_otherwise(a, b),
        }
    }

    #[inline(always)]
    fn branch(&self, condition: u64, taken: bool, site: Site) {
        let c = &*self.core;
        match c.window.pace() {
            Pace::Simple => {}
            Pace::Limited => return c.branches_on(condition, taken, site),
            Pace::Other => return c.branch_otherwise(condition, taken, site),
        }
        let done = (c.window.dispatch_simple() + 1).max(condition) + 1;
        if !c.branches.predictor.predict(site.0, taken) {
            c.mispredicted(done);
        }
        c.window.execute_simple(done);
    }

    #[inline(always)]
    fn enter(&self, scope: Scope) {
        if let Mode::Stack(frame) = &self.core.mode {
            frame.enter(scope);
        }
    }

    #[inline(always)]
    fn leave(&self, scope: Scope) {
        if let Mode::Stack(frame) = &self.core.mode {
            frame.leave(scope, self.program);
        }
    }

    #[inline(always)]
    fn load(&self, addr: Addr, address: u64, size: u8) -> W<'_, Self> {
        let (value, done) = self.loads(addr, address, size);
        W::new(self, value, done)
    }

    #[inline(always)]
    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.stores(addr, Kind::Store { size, value }, (address, data));
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.stores(addr, self.core.store_nt(size, value), (address, data));
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        let (value, done) = self.locks(addr, op, operand, [address, data]);
        W::new(self, value, done)
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        self.flushes(addr, address, flush);
    }

    fn primitive(&self, primitive: Primitive) {
        self.executes(primitive);
    }

    fn resumed(&self) -> Option<Vec<W<'_, Self>>> {
        let mut state = self.core.observer.log.as_ref()?.opened()?;
        if let Some(frame) = self.core.frame() {
            let (latest, _) = state.pop()?;
            frame.goes_on_from(latest);
        }
        Some(
            state
                .into_iter()
                .map(|(bits, ready)| W::new(self, bits, ready))
                .collect(),
        )
    }

    fn wants_point(&self) -> bool {
        self.core.observer.log.as_ref().is_some_and(|log| log.wants_point())
    }

    fn add_point<'c>(&'c self, state: Vec<W<'c, Self>>) {
        if let Some(log) = &self.core.observer.log {
            let words = state.into_iter().map(|word| (word.bits(), word.tag()));
            let latest = self.core.frame().map(|frame| (frame.latest(), 0));
            log.add_point(words.chain(latest).collect());
        }
    }

    #[inline(always)]
    fn jump(&self, target: u64, to: u64, site: Site) {
        match &self.core.mode {
            Mode::Registers => self.core.jumps(target, to, site),
            Mode::Stack(frame) => frame.jump(target, to, site),
            Mode::Functional(_) => self.core.learns_jump(to, site),
        }
    }

    fn cycles(&self) -> W<'_, Self> {
        let c = &*self.core;
        let at = c.window.dispatch();
        let issue = c.window.finds(Port::Alu, at + 1);
        let done = c.window.execute(issue, issue + 1);
        let (at, done) = c.replay_or(at, done);
        W::new(self, at, c.frame().map_or(done, |frame| frame.gives(done)))
    }

    fn goes_on(&self) -> bool {
        match &self.core.mode {
            Mode::Functional(functional) => {
                self.takes_turn(functional);
                functional.goes_on()
            }
            Mode::Registers | Mode::Stack(_) => false,
        }
    }

    fn note(&self, note: Note) {
        let c = &*self.core;
        if let Mode::Functional(functional) = &c.mode {
            return functional.note(note);
        }
        if c.is_replaying() {
            return;
        }
        c.trace(|| Op::Note(c.notes.count()));
        let now = Now {
            cycle: c.window.cycle(),
            retired: (!c.window.is_held()).then(|| c.window.retired()),
            instructions: c.window.instructions(),
            complete: c.window.complete(),
        };
        c.notes.take(note, now);
    }

    fn interrupted(&self) -> bool {
        let before = self.core.interrupted.replace(Interrupt::Heeded { pending: false });
        before == Interrupt::Heeded { pending: true }
    }

    fn fenced(&self) {
        self.awaits_fences();
    }

    #[inline(always)]
    fn spins(&self) {
        match &self.core.mode {
            Mode::Registers => self.core.spins(),
            Mode::Stack(frame) => frame.spins(),
            Mode::Functional(functional) => functional.end_turn(),
        }
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
