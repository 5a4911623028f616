//! The simulator as a program's back end.
//!
//! An operation completes at once unless it needs the system, or another core or event comes first. Then it leaves a
//! [`Request`] for the system, and the program is suspended on its stack until it may go on.

mod asking;
mod replay;
mod stack;
mod stores;

use super::{Core, Dispatched, Frame, Interrupt, Kind, Mode, Now, Pace, Port, Request};
use crate::trace::Op;
use corosensei::Yielder;
use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;
use strandline_design::{Hook, Ordering};
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

/// The stage of an operation.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Stage {
    /// It has not been dispatched.
    #[default]
    New,
    /// A program without registers has begun it: the stack knows its stage.
    Begun,
    /// The design has been asked whether it claims it.
    Claiming,
    /// It has been dispatched in this cycle; its page may be walked for.
    Dispatched(u64),
    /// A flush that has been dispatched in this cycle, and claimed by the design or not; its page is walked for.
    Flushing { at: u64, claimed: bool },
    /// A store has executed and retired then, and enters the store queue once its request is granted.
    Executed { at: u64, retired: u64 },
    /// A store has executed, and retires once its line has come.
    Fetching(u64),
    /// A primitive has been dispatched in this cycle, and its request is with the system.
    Requested(u64),
    /// Its request is with the system.
    Asked,
}

impl<'s> SimCpu<'s> {
    /// The back end on `core` of its program of this number ([`Core::begins_program`]), which runs on `stack`.
    pub fn new(core: Rc<Core>, program: u64, stack: &'s Yielder<(), ()>) -> SimCpu<'s> {
        SimCpu { core, program, stack }
    }

    /// The outcome of an operation, which is polled in each turn of the program until it has one.
    #[inline(always)]
    fn completes<T>(&self, mut poll: impl FnMut(&Core) -> Poll<T>) -> T {
        loop {
            if let Poll::Ready(outcome) = self.core.answered(|| poll(&self.core)) {
                return outcome;
            }
            self.stack.suspend(());
        }
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

    /// Whether the design claims a flush or primitive (true), or the store queue allocates it.
    #[inline(always)]
    fn find_place(&self, stage: &mut Stage, ordering: Ordering) -> Result<bool, Request> {
        if *stage == Stage::Claiming && self.exchange.response.get().claimed {
            return Ok(true);
        }
        if *stage != Stage::Claiming && self.asks(Hook::Claim) {
            self.may_store()?;
            self.catch_up(self.window.cycle())?;
            *stage = Stage::Claiming;
            return Err(Request::Claim(ordering));
        }
        self.find_room().map(|()| false)
    }

    /// A non-temporal store; an ordinary one if the design requires it.
    fn store_nt(&self, size: u8, value: u64) -> Kind {
        match self.limits.nt_cached {
            true => Kind::Store { size, value },
            false => Kind::StoreNt { size, value },
        }
    }

    fn poll_flush(&self, stage: &mut Stage, addr: Addr, address: u64, flush: Flush) -> Poll<()> {
        if *stage == Stage::Asked {
            return Poll::Ready(());
        }
        let ordering = Ordering::Flush(addr.line(), flush);
        let (at, claimed) = match *stage {
            Stage::Flushing { at, claimed } => (at, claimed),
            _ => {
                let claimed = match self.find_place(stage, ordering) {
                    Ok(claimed) => claimed,
                    Err(request) => return self.stop_silent(stage, request),
                };
                self.disturbs_laps();
                self.count_store(&self.counts.flushes);
                (self.dispatch_entry(), claimed)
            }
        };
        let ready = (at + 1).max(address).max(self.context.ready.get());
        let issue = self.window.finds(Port::Address, ready);
        let translated = match self.translate(addr, issue) {
            Ok(translated) => translated,
            Err(walk) => return self.walks(stage, Stage::Flushing { at, claimed }, walk),
        };
        let ready = self.window.execute(issue, translated + 1);
        if claimed {
            self.observe(|| Op::Flush { addr, kind: flush });
            return self.hand_over(stage, ordering, ready);
        }
        self.enqueue(addr, Kind::Flush(flush), ready);
        Poll::Ready(())
    }

    /// Requests a page walk for an operation, which is polled again in `next`.
    #[cold]
    #[inline(never)]
    fn walks<T>(&self, stage: &mut Stage, next: Stage, walk: Request) -> Poll<T> {
        *stage = next;
        self.request(walk)
    }

    /// Passes the design what it has claimed.
    fn hand_over(&self, stage: &mut Stage, ordering: Ordering, retires: u64) -> Poll<()> {
        if let Ordering::Flush(..) = ordering {
            self.add_pending(self.context.now.get(), self.dispatched.get());
        }
        *stage = Stage::Asked;
        self.request(Request::Claimed { ordering, retires })
    }

    fn poll_primitive(&self, stage: &mut Stage, primitive: Primitive) -> Poll<()> {
        match *stage {
            Stage::Asked => return Poll::Ready(()),
            Stage::Requested(at) => return self.primitive_answered(stage, primitive, at),
            _ => {}
        }
        if primitive == Primitive::StoreBarrier && !self.limits.barriers {
            if let Some(tracer) = &self.observer.tracer {
                tracer.enter(self.id, Op::Primitive(primitive));
            }
            return Poll::Ready(());
        }
        if let Err(request) = self.dispatch_primitive(stage, primitive) {
            return self.stop_silent(stage, request);
        }
        let Stage::Dispatched(at) = *stage else {
            unreachable!("just dispatched")
        };
        if let Err(request) = self.catch_up(at) {
            return self.stop_silent(stage, request);
        }
        let plain = match self.asks(Hook::Primitive) || self.combines.get() {
            true => None,
            false => self.dispatches_at_once(primitive),
        };
        let Some(plain) = plain else {
            *stage = Stage::Requested(at);
            return self.request(Request::Primitive { primitive });
        };
        self.end_primitive(primitive, at, plain);
        Poll::Ready(())
    }

    /// Dispatches a primitive, unless it has been dispatched.
    fn dispatch_primitive(&self, stage: &mut Stage, primitive: Primitive) -> Go {
        if matches!(stage, Stage::Dispatched(_)) {
            return Ok(());
        }
        // A change of context needs no entry of the store queue.
        if !matches!(primitive, Primitive::Setctx(_)) {
            self.find_place(stage, Ordering::Primitive(primitive))?;
        }
        let at = self.dispatch_entry();
        // It waits at the window's head, if anywhere, and not for operands.
        self.window.issue(at + 1);
        *stage = Stage::Dispatched(at);
        Ok(())
    }

    /// Acts on the system's answer to a primitive.
    fn primitive_answered(&self, stage: &mut Stage, primitive: Primitive, at: u64) -> Poll<()> {
        let dispatched = self.exchange.response.get().dispatched;
        self.end_primitive(primitive, at, dispatched);
        if !matches!(dispatched, Dispatched::Claimed { .. }) {
            return Poll::Ready(());
        }
        let retires = self.window.retired();
        self.hand_over(stage, Ordering::Primitive(primitive), retires)
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

    /// A load: its value and when it is ready.
    #[inline(always)]
    fn poll_load(&self, stage: &mut Stage, addr: Addr, address: u64, size: u8) -> Poll<(u64, u64)> {
        let at = match *stage {
            Stage::New if self.window.pace() != Pace::Other => self.dispatch_load(stage),
            Stage::Dispatched(at) => at,
            Stage::Asked => return Poll::Ready(self.retire_response()),
            _ => return self.poll_load_otherwise(stage, addr, address, size),
        };
        self.perform_load(stage, at, addr, address, size)
    }

    /// A load where the window is not simple.
    #[inline(never)]
    fn poll_load_otherwise(&self, stage: &mut Stage, addr: Addr, address: u64, size: u8) -> Poll<(u64, u64)> {
        match &self.mode {
            Mode::Registers => self.load_by_stages(stage, addr, address, size),
            Mode::Stack(frame) => self.load_to_stack(frame, stage, addr, address, size),
            Mode::Functional(functional) => self.load_functionally(functional, addr, size),
        }
    }

    fn load_by_stages(&self, stage: &mut Stage, addr: Addr, address: u64, size: u8) -> Poll<(u64, u64)> {
        let at = match *stage {
            Stage::Dispatched(at) => at,
            Stage::Asked => return Poll::Ready(self.retire_response()),
            _ => match self.may_load() {
                Ok(()) => self.dispatch_load(stage),
                Err(request) => return self.stop(stage, request),
            },
        };
        self.perform_load(stage, at, addr, address, size)
    }

    #[inline(always)]
    fn dispatch_load(&self, stage: &mut Stage) -> u64 {
        count(&self.counts.loads);
        let at = self.window.dispatch_load();
        *stage = Stage::Dispatched(at);
        at
    }

    /// Performs a load that was dispatched at `at`.
    #[inline(always)]
    fn perform_load(&self, stage: &mut Stage, at: u64, addr: Addr, address: u64, size: u8) -> Poll<(u64, u64)> {
        if let Err(request) = self.catch_up(at) {
            return self.stop(stage, request);
        }
        let ready = (at + 1).max(address).max(self.loads.floor.get());
        let issue = match self.window.is_simple() {
            true => ready,
            false => self.load_issues(ready),
        };
        let translated = match self.translate(addr, issue) {
            Ok(translated) => translated,
            Err(walk) => return self.walks(stage, Stage::Dispatched(at), walk),
        };
        let asks = self.asks(Hook::Load);
        let hit = match asks {
            true => None,
            false => self.private.borrow_mut().load_hit(addr.line(), translated),
        };
        let Some(done) = hit else {
            *stage = Stage::Asked;
            self.window.issue(issue);
            let missed = !asks;
            return self.request(Request::Load {
                addr,
                size,
                issue: translated,
                missed,
            });
        };
        let memory = self.memory.read(addr, size);
        let (value, done) = match self.queue.borrow_mut().forward(addr, size, memory) {
            None => (memory, done),
            Some((value, executed)) => (value, executed.max(translated) + self.limits.latencies.l1),
        };
        self.observe_load(addr, size, value, done);
        self.window.execute(issue, done);
        Poll::Ready((value, done))
    }

    /// When a load issues whose address is ready at `ready`, where the window is not simple.
    fn load_issues(&self, ready: u64) -> u64 {
        self.window.finds(Port::Load, ready.max(self.loads.addresses.get()))
    }

    /// Completes the requested op with the system's answer.
    fn retire_response(&self) -> (u64, u64) {
        let response = self.exchange.response.get();
        self.window.retire(response.done);
        (response.value, response.done)
    }

    fn poll_locked(&self, stage: &mut Stage, addr: Addr, op: Rmw, operand: u64, ready: u64) -> Poll<(u64, u64)> {
        let at = match *stage {
            Stage::New => {
                if let Err(request) = self.may_store().and_then(|()| self.may_load()) {
                    return self.stop(stage, request);
                }
                let at = self.window.dispatch_load();
                *stage = Stage::Dispatched(at);
                at
            }
            Stage::Dispatched(at) => at,
            _ => {
                count(&self.counts.loads);
                self.count_store(&self.counts.stores);
                self.loads.floor.set(self.exchange.response.get().done);
                let (value, done) = self.retire_response();
                self.log_outcome(value, done);
                return Poll::Ready((value, done));
            }
        };
        if let Err(request) = self.catch_up(at) {
            return self.stop(stage, request);
        }
        let issue = self.window.finds(Port::Load, (at + 1).max(ready));
        let translated = match self.translate(addr, issue) {
            Ok(translated) => translated,
            Err(walk) => return self.walks(stage, Stage::Dispatched(at), walk),
        };
        *stage = Stage::Asked;
        self.window.issue(issue);
        self.request(Request::Locked {
            addr,
            op,
            operand,
            issue: translated,
        })
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

    fn poll_written(&self, word: Addr, times: u32) -> Poll<()> {
        if self.observer.writes.reached(word, times) || self.is_replaying() {
            return Poll::Ready(());
        }
        self.request(Request::Written { word, times })
    }

    fn poll_sleep(&self, stage: &mut Stage, word: Addr, value: u64) -> Poll<()> {
        if *stage == Stage::Asked || self.is_replaying() {
            return Poll::Ready(());
        }
        if let Err(request) = self.may_store().and_then(|()| self.catch_up(self.window.cycle())) {
            return self.request(request);
        }
        *stage = Stage::Asked;
        self.request(Request::Sleep { word, value })
    }

    fn poll_start(&self, stage: &mut Stage) -> Poll<()> {
        if *stage == Stage::Asked || self.is_replaying() {
            return Poll::Ready(());
        }
        if let Err(request) = self.may_store() {
            return self.request(request);
        }
        *stage = Stage::Asked;
        self.request(Request::StartLine)
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
        let mut stage = Stage::New;
        let (value, done) = self.completes(|c| c.poll_load(&mut stage, addr, address, size));
        W::new(self, value, done)
    }

    #[inline(always)]
    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let mut stage = Stage::New;
        let kind = Kind::Store { size, value };
        self.completes(|c| c.poll_store(&mut stage, addr, kind, (address, data)))
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let mut stage = Stage::New;
        let kind = self.core.store_nt(size, value);
        self.completes(|c| c.poll_store(&mut stage, addr, kind, (address, data)))
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        let mut stage = Stage::New;
        let (value, done) = self.completes(|c| match &c.mode {
            Mode::Registers => c.poll_locked(&mut stage, addr, op, operand, address.max(data)),
            Mode::Stack(frame) => c.locked_on_stack(frame, &mut stage, addr, (op, operand), (address, data)),
            Mode::Functional(functional) => c.locked_functionally(functional, addr, op, operand),
        });
        W::new(self, value, done)
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        let mut stage = Stage::New;
        self.completes(|c| match &c.mode {
            Mode::Registers => c.poll_flush(&mut stage, addr, address, flush),
            Mode::Stack(frame) => c.flush_from_stack(frame, &mut stage, addr, address, flush),
            Mode::Functional(functional) => functional.flush(addr, flush),
        })
    }

    fn primitive(&self, primitive: Primitive) {
        let mut stage = Stage::New;
        self.completes(|c| match &c.mode {
            Mode::Registers => c.poll_primitive(&mut stage, primitive),
            Mode::Stack(frame) => c.primitive_behind_stack(frame, &mut stage, primitive),
            Mode::Functional(_) => Poll::Ready(()),
        })
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
        self.completes(|c| match &c.mode {
            Mode::Functional(functional) => functional.goes_on(),
            Mode::Registers | Mode::Stack(_) => Poll::Ready(false),
        })
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
        self.completes(|c| match c.settles().is_ready().then(|| c.may_store()) {
            Some(Ok(())) => Poll::Ready(()),
            Some(Err(request)) => c.request(request),
            None => Poll::Pending,
        })
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
        let (mut stage, word) = (Stage::New, Addr(word.bits()));
        self.completes(|c| {
            if let Mode::Functional(functional) = &c.mode {
                return c.sleep_functionally(functional, word, value);
            }
            match c.settles() {
                Poll::Ready(()) => c.poll_sleep(&mut stage, word, value),
                Poll::Pending => Poll::Pending,
            }
        })
    }

    fn wakes(&self) {
        if !self.core.is_replaying() {
            self.core.observer.counts_next.set(true);
        }
    }

    fn start_line(&self) {
        let mut stage = Stage::New;
        self.completes(|c| match c.settles() {
            Poll::Ready(()) => c.poll_start(&mut stage),
            Poll::Pending => Poll::Pending,
        })
    }
}
