//! The requests of programs to the system.

use super::access::Blocked;
use super::hardware::ProgramState;
use super::running::Running;
use super::waiters::{Condition, Then};
use crate::core::{Entry, EntryKind, Request, Response};
use strandline_design::{Access, Admission, Claim, Departure, Forward, Hook, Load, Ordering, Store, Write, WriteKind};
use strandline_isa::{Addr, CoreId, Line, Primitive, Rmw};
use strandline_kernel::Cycles;
use strandline_rules::{broken, Rule};

/// The bytes of a load that the design has.
#[derive(Clone, Copy, Debug)]
pub struct Supplied {
    /// Which bytes, one bit each.
    mask: u8,
    value: u64,
    /// Cycles of its own look-up.
    after: u64,
}

impl Supplied {
    /// None, at once.
    pub const NOTHING: Supplied = Supplied {
        mask: 0,
        value: 0,
        after: 0,
    };

    /// Whether these are all bytes of a load of this size.
    fn has_all(self, size: u8) -> bool {
        u64::from(self.mask) >= (1u64 << size) - 1
    }
}

impl Running {
    /// Handles a core's request at its next dispatch; true if its program continues at once.
    pub(super) fn request(&mut self, core: CoreId, request: Request) -> bool {
        let at = self.hw.core(core).turn.next_op.get();
        if request != Request::Order {
            self.hw.clock.advance(at);
        }
        match request {
            Request::Order => self.hw.takes_turn(core),
            Request::Released { blocks } => {
                let then = Then::GoOn { fenced: blocks };
                self.hw.wait(core, Condition::Retired(core), then)
            }
            Request::Room => {
                let shared = self.hw.core(core);
                shared.drain.head_waits.mark(shared.window.next_cycle());
                self.hw.wait(core, Condition::Room(core), Then::GoOn { fenced: false })
            }
            Request::Written { word, times } => {
                let word = Addr(word.0 & !7);
                self.hw.wait(core, Condition::Written(word), Then::Count(times))
            }
            Request::Sleep { word, value } => self.hw.sleep(core, word, value),
            Request::StartLine => {
                self.hw.wait(core, Condition::Started, Then::GoOn { fenced: false });
                self.maybe_start();
                false
            }
            // In a cache with few ways, a loop of loads could evict a store's line endlessly.
            Request::Load { .. } | Request::Walk { .. } if self.hw.hart(core).core.has_lost_store() => {
                self.hw.wait(core, Condition::Empty(core), Then::Ask(request.again()))
            }
            Request::Load {
                addr,
                size,
                issue,
                missed,
            } => {
                let answer = self.load(core, addr, size, issue.max(at), missed);
                self.answer(core, request, answer)
            }
            Request::Walk { addr, issue } => {
                let answer = self.walk(core, addr, issue.max(at));
                self.answer(core, request, answer)
            }
            Request::Own { addr, issue } => {
                let answer = self.own_early(core, addr, issue.max(at));
                self.answer(core, request, Ok(answer))
            }
            Request::Claim(ordering) => {
                let answer = self.claim(core, ordering, at);
                self.answer(core, request, answer)
            }
            Request::Locked {
                addr,
                op,
                operand,
                issue,
            } => match self.locked(core, request, addr, op, operand, issue) {
                Some(answer) => self.answer(core, request, answer),
                None => false,
            },
            Request::Primitive { primitive } => {
                let answer = self.primitive(core, primitive);
                self.answer(core, request, Ok(answer))
            }
            Request::Claimed { ordering, retires } => {
                let context = self.hw.core(core).context.now.get();
                self.design
                    .claimed(&mut self.hw, core, ordering, context, Cycles(retires));
                self.answer(core, request, Ok(Response::default()))
            }
        }
    }

    /// Requests the line of a store ahead of it. A store that cannot get its line early requests it again at the head of
    /// the queue; the program does not wait for it.
    fn own_early(&mut self, core: CoreId, addr: Addr, issue: u64) -> Response {
        let fetched = self.access(core, addr.line(), Access::Own, issue);
        Response {
            done: fetched.unwrap_or_default(),
            ..Response::default()
        }
    }

    fn answer(&mut self, core: CoreId, request: Request, answer: Result<Response, Blocked>) -> bool {
        let now = self.hw.now();
        let hart = self.hw.hart(core);
        let go = match answer {
            Ok(response) => {
                hart.core.exchange.response.set(response);
                hart.core.waited.set(0);
                hart.state = ProgramState::Runnable;
                true
            }
            Err(Blocked::Filling(filled)) => {
                hart.core.turn.next_op.set(filled + 1);
                hart.core.turn.not_before(now);
                hart.core.waited.set(hart.core.waited.get() + 1);
                hart.state = ProgramState::Again(request.again());
                false
            }
            Err(Blocked::Until(until)) if hart.core.holds(until) => {
                hart.state = ProgramState::Again(request.again());
                true
            }
            Err(Blocked::Until(until)) => self
                .hw
                .wait(core, Condition::of(core, until), Then::Ask(request.again())),
        };
        self.run_deferred();
        go
    }

    /// Place 2: asks the design whether it claims a flush or primitive.
    fn claim(&mut self, core: CoreId, ordering: Ordering, at: u64) -> Result<Response, Blocked> {
        let claimed = match self.design.claim(&mut self.hw, core, ordering) {
            Claim::Wait(until) => return Err(until.into()),
            Claim::Yes => true,
            Claim::No => false,
        };
        self.hw.hart(core).core.window.stall_design_buffer(at);
        Ok(Response {
            claimed,
            ..Response::default()
        })
    }

    fn load(&mut self, core: CoreId, addr: Addr, size: u8, issue: u64, missed: bool) -> Result<Response, Blocked> {
        let (value, done) = self.loaded(core, Load { addr, size }, issue, missed)?;
        self.hw.core(core).observe_load(addr, size, value, done);
        Ok(Response {
            value,
            done,
            ..Response::default()
        })
    }

    /// A load's value and time: from the design, the caches and memory, under the core's own store
    /// queue.
    pub(super) fn loaded(&mut self, core: CoreId, load: Load, issue: u64, missed: bool) -> Result<(u64, u64), Blocked> {
        if !self.hw.core(core).asks(Hook::Load) {
            return self.loaded_below(core, load, Supplied::NOTHING, issue, missed);
        }
        let supplied = self.supplied(core, load)?;
        self.loaded_below(core, load, supplied, issue, missed)
    }

    /// As [`Running::loaded`], once the design has supplied what it has.
    #[inline(always)]
    fn loaded_below(
        &mut self,
        core: CoreId,
        load: Load,
        supplied: Supplied,
        issue: u64,
        missed: bool,
    ) -> Result<(u64, u64), Blocked> {
        // Read first: the host's own cache miss overlaps the look-up.
        _ = std::hint::black_box(self.hw.core(core).memory.read(load.addr, load.size));
        let done = self.loads_line(core, load, supplied, issue, missed)?;
        let below = self.below_queue(core, load, supplied);
        let core = &self.hw.hart(core).core;
        let latency = core.forwarding_latency();
        let forwarded = core.queue.borrow_mut().forward(load.addr, load.size, below);
        Ok(match forwarded {
            None => (below, done),
            Some((value, executed)) => (value, executed.max(issue + supplied.after) + latency),
        })
    }

    /// The bytes of a load that the design has.
    fn supplied(&mut self, core: CoreId, load: Load) -> Result<Supplied, Blocked> {
        match self.design.load(&mut self.hw, core, load) {
            Forward::Caches { after } => Ok(Supplied {
                after: after.0,
                ..Supplied::NOTHING
            }),
            Forward::Bytes { mask, value, after } => Ok(Supplied {
                mask,
                value,
                after: after.0,
            }),
            Forward::Wait(until) => Err(until.into()),
        }
    }

    /// A load's bytes as all cores of the host see them, under the design's.
    fn below_queue(&self, core: CoreId, load: Load, supplied: Supplied) -> u64 {
        let memory = self.hw.core(core).memory.read(load.addr, load.size);
        over(memory, supplied.value, supplied.mask)
    }

    /// When the bytes below the store queue are available, for a load that issues at `issue`.
    fn loads_line(
        &mut self,
        core: CoreId,
        load: Load,
        supplied: Supplied,
        issue: u64,
        missed: bool,
    ) -> Result<u64, Blocked> {
        let issue = issue + supplied.after;
        match supplied.has_all(load.size) {
            true => Ok(issue),
            false => self.load_line(core, load.addr.line(), issue, missed),
        }
    }

    /// Brings a load's line into the core's caches. Returns when it is there.
    fn load_line(&mut self, core: CoreId, line: Line, issue: u64, missed: bool) -> Result<u64, Blocked> {
        if !missed {
            return self.access(core, line, Access::Read, issue);
        }
        self.hw.llc(core).expect(line);
        let fill = self.hw.harts[core.index()].core.private.borrow().miss();
        self.miss(core, line, Access::Read, issue, &fill)
    }

    /// Performs a locked instruction at the head of the window with the store queue empty; `None`
    /// if it waits.
    fn locked(
        &mut self,
        core: CoreId,
        request: Request,
        addr: Addr,
        op: Rmw,
        operand: u64,
        issue: u64,
    ) -> Option<Result<Response, Blocked>> {
        let hart = self.hw.hart(core);
        let shared = hart.core.clone();
        if shared.queue.borrow().len() > 0 && !broken(Rule::LockedDrainsQueue) {
            self.hw.wait(core, Condition::Empty(core), Then::Ask(request));
            return None;
        }
        let at = issue.max(shared.window.retired()).max(shared.drain.last.get());
        let now = self.hw.now();
        if at > now {
            shared.turn.next_op.set(at);
            self.hw.hart(core).state = ProgramState::Again(request);
            return None;
        }
        self.hw.send_all_combined(core, now);
        if self.hw.machine.core.lock_orders_flushes {
            if let Some(until) = self.design.locked_waits_for(core) {
                if !self.hw.core(core).holds(until) {
                    return Some(Err(until.into()));
                }
            }
        }
        if self.hw.hart(core).speculates() {
            if let Some(kept) = self.keep_locked(core, addr, op, operand, now) {
                return Some(kept);
            }
        }
        let owned = self.access(core, addr.line(), Access::Own, now);
        let may = owned.and_then(|done| {
            let value = op.apply(shared.memory.read(addr, 8), operand);
            let store = Store { addr, size: 8, value };
            self.locked_may_write(core, store).map(|()| done)
        });
        Some(may.map(|done| {
            let old = shared.memory.read(addr, 8);
            // Permission may come before the line does, for which a load has asked.
            let done = shared.private.borrow().misses.filled(addr.line(), done);
            let writes = shared.private.borrow_mut().store_hit(addr.line(), done);
            debug_assert!(writes, "{core} owns {}", addr.line().addr());
            let new = op.apply(old, operand);
            let written = shared.trace_locked(addr, old, new);
            let beyond_a_load = self.hw.machine.core.locked_latency.since(self.hw.machine.l1.latency);
            let done = done + beyond_a_load.0;
            if broken(Rule::LockedIsAtomic) {
                shared.enqueue(addr, EntryKind::Store { size: 8, value: new }, done);
            } else {
                self.store_locked(core, addr, new, now, written);
            }
            Response {
                value: old,
                done,
                ..Response::default()
            }
        }))
    }

    /// Place 3: asks the design whether a locked instruction may write.
    fn locked_may_write(&mut self, core: CoreId, store: Store) -> Result<(), Blocked> {
        let write = Write {
            kind: WriteKind::Locked,
            store,
        };
        match self.may_become_visible(core, write) {
            Departure::Wait(until) => Err(until.into()),
            Departure::Go | Departure::Keep => Ok(()),
        }
    }

    fn store_locked(&mut self, core: CoreId, addr: Addr, value: u64, at: u64, op: u32) {
        let entry = Entry {
            owned: at,
            op,
            counted: self.hw.core(core).observer.counts_next.replace(false),
            ..Entry::of(addr, EntryKind::Store { size: 8, value }, 0, at)
        };
        self.visible(core, &entry, at);
    }

    fn primitive(&mut self, core: CoreId, primitive: Primitive) -> Response {
        let now = self.hw.now();
        // A change of context is not a fence.
        if !matches!(primitive, Primitive::Setctx(_)) {
            self.hw.send_all_combined(core, now);
        }
        let answer = match self.hw.core(core).asks(Hook::Primitive) {
            true => self.design.primitive(&mut self.hw, core, primitive),
            false => Admission::plain(primitive),
        };
        let admission = self.hw.core(core).admits(primitive, answer);
        Response {
            dispatched: self.hw.dispatched(core, admission),
            ..Response::default()
        }
    }
}

/// A load's bytes, with those of `mask` replaced by `over`'s.
fn over(under: u64, over: u64, mask: u8) -> u64 {
    let mut bits = 0;
    if mask == 0 {
        return under;
    }
    for byte in 0..8 {
        if mask >> byte & 1 != 0 {
            bits |= 0xff << (8 * byte);
        }
    }
    under & !bits | over & bits
}
