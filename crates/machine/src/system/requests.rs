//! What programs ask of the system.

use super::access::Blocked;
use super::hardware::Front;
use super::run::System;
use crate::core::{Fate, Kind, Request, Response};
use crate::trace::{Op, Seen};
use strandline_design::{Access, Admission, Answer, Departure, Entry, Forward};
use strandline_isa::{Addr, CoreId, Primitive, Rmw};
use strandline_kernel::Cycles;
use strandline_rules::{broken, Rule};

impl System {
    /// Looks at a core's request at its front time; true if its program can go on at once.
    pub(super) fn request(&mut self, core: CoreId, request: Request) -> bool {
        let hart = self.hw.hart(core);
        let at = hart.core.front.get();
        (self.hw.now, self.hw.step) = (self.hw.now.max(at), at);
        let hart = self.hw.hart(core);
        match request {
            Request::Order => {
                hart.front = Front::Runnable;
                return false;
            }
            Request::Released { blocks } => {
                hart.front = Front::Released { blocks };
                return false;
            }
            Request::Room => {
                hart.front = Front::Room;
                return false;
            }
            Request::Written { word, times } => {
                hart.front = Front::Written { word, times };
                return false;
            }
            Request::StartLine => {
                hart.front = Front::StartLine;
                self.maybe_start();
                return false;
            }
            // In a cache with few ways, a loop of loads could take the place of a store's line for ever.
            Request::Load { .. } if hart.core.has_lost_store() => {
                hart.front = Front::Empty(request.again());
                return false;
            }
            _ => {}
        }
        let answer = match request {
            Request::Load {
                addr,
                size,
                issue,
                missed,
            } => self.load(core, addr, size, issue.max(at), missed),
            Request::Own { addr, issue } => {
                // A store that cannot have its line ahead of its turn asks for it then; the program does not wait for that.
                _ = self.access(core, addr.line(), Access::Own, issue.max(at));
                Ok(Response::default())
            }
            Request::Admit(entry) => match self.design.admit(&mut self.hw, core, entry) {
                Answer::Go => {
                    self.hw.hart(core).core.window.stall_buffer(at);
                    Ok(Response::default())
                }
                Answer::Wait(until) => Err(until.into()),
            },
            Request::Locked {
                addr,
                op,
                operand,
                issue,
            } => match self.locked(core, request, addr, op, operand, issue) {
                Some(answer) => answer,
                None => return false,
            },
            Request::Primitive { primitive, at } => Ok(self.primitive(core, primitive, at)),
            Request::Take { entry, retires } => {
                let context = self.hw.hart(core).core.context.get();
                self.design.taken(&mut self.hw, core, entry, context, Cycles(retires));
                Ok(Response::default())
            }
            Request::Order
            | Request::Released { .. }
            | Request::Room
            | Request::Written { .. }
            | Request::StartLine => {
                unreachable!("handled above")
            }
        };
        self.answer(core, request, answer)
    }

    fn answer(&mut self, core: CoreId, request: Request, answer: Result<Response, Blocked>) -> bool {
        let hart = self.hw.hart(core);
        let again = request.again();
        let go = match answer {
            Ok(response) => {
                hart.core.response.set(response);
                hart.core.waited.set(0);
                hart.front = Front::Runnable;
                true
            }
            Err(Blocked::Filling(filled)) => {
                hart.core.front.set(filled + 1);
                hart.core.waited.set(hart.core.waited.get() + 1);
                hart.front = Front::Again(again);
                false
            }
            Err(Blocked::Until(until)) if hart.holds(until) => {
                hart.front = Front::Again(again);
                true
            }
            Err(Blocked::Until(until)) => {
                hart.front = Front::Until(until, again);
                false
            }
        };
        self.obey();
        go
    }

    fn load(&mut self, core: CoreId, addr: Addr, size: u8, issue: u64, missed: bool) -> Result<Response, Blocked> {
        if self.places.loads {
            match self.design.load(&mut self.hw, core, addr) {
                Forward::Caches => {}
                Forward::Value(value, after) => {
                    let done = issue + after.0;
                    let from = Seen::Supplied(value);
                    self.hw.hart(core).core.trace(|| Op::Load {
                        addr,
                        size,
                        value,
                        from,
                    });
                    return Ok(Response {
                        value,
                        done,
                        fate: Fate::Pass,
                    });
                }
                Forward::Wait(until) => return Err(until.into()),
            }
        }
        self.hw.last.expect(addr.line());
        // Read first, so that the host's own miss goes on during the look-up.
        let memory = std::hint::black_box(self.hw.memory.read(addr, size));
        let line = addr.line();
        let done = if missed {
            let fill = self.hw.harts[core.index()].core.private.borrow().miss();
            self.miss(core, line, Access::Read, issue, &fill)?
        } else {
            self.access(core, line, Access::Read, issue)?
        };
        let hart = self.hw.hart(core);
        let forwarded = hart.core.queue.borrow_mut().forward(addr, size, memory);
        let latency = hart.core.private.borrow().l1_latency();
        let (value, done) = match forwarded {
            None => (memory, done),
            Some((value, ready)) => (value, ready.max(issue) + latency),
        };
        hart.core.trace_load(addr, size, value);
        Ok(Response {
            value,
            done,
            fate: Fate::Pass,
        })
    }

    /// A locked instruction performs at the head of the window with the store queue empty; `None` if it waits.
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
            hart.front = Front::Empty(request);
            return None;
        }
        let at = issue.max(shared.window.retired()).max(shared.drained.get());
        if at > shared.front.get() {
            shared.front.set(at);
            hart.front = Front::Again(request);
            return None;
        }
        self.send_all_combined(core, at);
        if self.hw.machine.core.lock_orders_flushes {
            if let Some(until) = self.design.locked_waits_for(core) {
                if !self.hw.hart(core).holds(until) {
                    return Some(Err(until.into()));
                }
            }
        }
        let now = at.max(self.hw.now.min(shared.front.get()));
        let owned = self.access(core, addr.line(), Access::Own, now);
        let may = owned.and_then(|done| self.locked_may_write(core, addr).map(|()| done));
        Some(may.map(|done| {
            let old = shared.memory.read(addr, 8);
            shared.private.borrow_mut().store_hit(addr.line(), done);
            let new = op.apply(old, operand);
            let written = shared.trace_locked(addr, old, new);
            let beyond_a_load = self.hw.machine.core.locked_latency.since(self.hw.machine.l1.latency);
            let done = done + beyond_a_load.0;
            if broken(Rule::LockedIsAtomic) {
                shared.enqueue(addr, Kind::Store { size: 8, value: new }, done);
            } else {
                self.store_locked(core, addr, new, now, written);
            }
            Response {
                value: old,
                done,
                fate: Fate::Pass,
            }
        }))
    }

    /// Place 3: asks the design, where it wants to be asked of stores, whether a locked instruction may write.
    fn locked_may_write(&mut self, core: CoreId, addr: Addr) -> Result<(), Blocked> {
        if !self.places.stores && !self.hw.hart(core).core.is_asked(addr.line()) {
            return Ok(());
        }
        let context = self.hw.hart(core).core.context.get();
        match self.design.departs(&mut self.hw, core, Entry::Store(addr), context) {
            Departure::Wait(until) => Err(until.into()),
            Departure::Go | Departure::Keep => Ok(()),
        }
    }

    fn store_locked(&mut self, core: CoreId, addr: Addr, value: u64, at: u64, op: u32) {
        let entry = crate::core::Entry {
            addr,
            kind: crate::core::Kind::Store { size: 8, value },
            context: 0,
            ready: at,
            owned: at,
            lost: false,
            waited: 0,
            op,
            rides: false,
            counted: self.hw.hart(core).core.counts_next.replace(false),
            pointed: 0,
        };
        self.visible(core, &entry, at);
    }

    fn primitive(&mut self, core: CoreId, primitive: Primitive, at: u64) -> Response {
        // A change of context is no fence.
        if !matches!(primitive, Primitive::Setctx(_)) {
            self.send_all_combined(core, at);
        }
        let admission = if self.places.primitives {
            self.design.primitive(&mut self.hw, core, primitive)
        } else {
            Admission::plain(primitive)
        };
        let fate = self.hw.hart(core).core.fate(admission);
        Response {
            value: 0,
            done: at,
            fate,
        }
    }
}
