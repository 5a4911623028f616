//! The simulator as a program's back end.
//!
//! Each operation is a small future written by hand. It goes straight through while nobody else comes first; where it
//! cannot go on it leaves a [`Request`] for the system and suspends.

use super::{Core, Fate, Kind, Now, Request};
use crate::trace::Op;
use std::cell::Cell;
use std::future::{poll_fn, Future};
use std::rc::Rc;
use std::task::Poll;
use strandline_design::{Admission, Entry};
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Note, Primitive, Replay, Rmw, Scheduling, Site, W};

/// A simulated core as the program on it sees it. A register value's tag is the cycle in which it is ready.
#[derive(Clone)]
pub struct SimCpu {
    core: Rc<Core>,
}

/// How far an operation has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has not been dispatched.
    New,
    /// The design has admitted it to the store queue.
    Admitted,
    /// It has been dispatched in this cycle.
    Dispatched(u64),
    /// It has retired, and enters the store queue when its request is answered.
    Retired(u64),
    /// Its request is with the system.
    Asked,
}

impl SimCpu {
    /// The back end on `core`.
    pub fn new(core: Rc<Core>) -> SimCpu {
        SimCpu { core }
    }
}

impl Core {
    /// Leaves a request for the system; always false: the program suspends.
    fn post(&self, request: Request) -> bool {
        self.request.set(Some(request));
        false
    }

    /// Whether everything earlier than `at` has happened.
    #[inline(always)]
    fn in_order(&self, at: u64) -> bool {
        self.front.set(at);
        (at <= self.horizon.get() && self.drain_hits(at)) || self.post(Request::Order)
    }

    /// Whether a load may be dispatched.
    #[inline(always)]
    fn admits_loads(&self) -> bool {
        let waits = self.window.is_full_behind_held() || self.holds_loads.get();
        !waits || self.post(Request::Released { blocks: false })
    }

    /// Whether no held op keeps the store queue shut.
    #[inline(always)]
    fn is_open(&self) -> bool {
        !self.window.is_held() || self.post(Request::Released { blocks: true })
    }

    /// Whether the store queue takes another entry.
    #[inline(always)]
    fn has_room(&self) -> bool {
        self.is_open() && self.in_order(self.window.cycle()) && (self.has_entries_free() || self.post(Request::Room))
    }

    /// Whether the design takes this entry instead of the store queue.
    #[inline(always)]
    fn takes(&self, entry: Entry) -> bool {
        self.places.strands
            && match entry {
                Entry::Flush(_, flush) => flush == Flush::Clwb,
                Entry::Primitive(primitive) => primitive.is_of_strands(),
                Entry::Store(_) | Entry::StoreNt(_) => false,
            }
    }

    /// Whether the store queue takes this entry, room and the design permitting.
    #[inline(always)]
    fn admits(&self, stage: &mut Stage, entry: Entry) -> bool {
        if *stage == Stage::Admitted {
            return true;
        }
        let takes = self.takes(entry);
        let has_room = match takes {
            true => self.is_open() && self.in_order(self.window.cycle()),
            false => self.has_room(),
        };
        if !has_room {
            return false;
        }
        if !self.places.admission && !takes {
            return true;
        }
        *stage = Stage::Admitted;
        self.post(Request::Admit(entry))
    }

    /// A non-temporal store is an ordinary one where the design says so.
    #[inline(always)]
    fn as_the_design_wants(&self, kind: Kind) -> Kind {
        match kind {
            Kind::StoreNt { size, value } if self.places.plain_nt => Kind::Store { size, value },
            other => other,
        }
    }

    fn poll_store(&self, stage: &mut Stage, addr: Addr, kind: Kind, operands: (u64, u64)) -> Poll<()> {
        let kind = self.as_the_design_wants(kind);
        if let Stage::Retired(ready) = *stage {
            self.enqueue(addr, kind, ready);
            return Poll::Ready(());
        }
        let temporal = matches!(kind, Kind::Store { .. });
        let entry = if temporal {
            Entry::Store(addr)
        } else {
            Entry::StoreNt(addr)
        };
        if !self.admits(stage, entry) {
            return Poll::Pending;
        }
        let at = self.window.dispatch();
        count(&self.counts.stores);
        let issue = (at + 1).max(operands.0).max(self.context_ready.get());
        let ready = self.window.retire(issue.max(operands.1) + 1);
        if temporal && self.prefetches_stores && !self.private.borrow_mut().owns(addr.line()) {
            *stage = Stage::Retired(ready);
            self.post(Request::Own { addr, issue });
            return Poll::Pending;
        }
        self.enqueue(addr, kind, ready);
        Poll::Ready(())
    }

    fn poll_flush(&self, stage: &mut Stage, addr: Addr, address: u64, flush: Flush) -> Poll<()> {
        if *stage == Stage::Asked {
            return Poll::Ready(());
        }
        let entry = Entry::Flush(addr.line(), flush);
        if !self.admits(stage, entry) {
            return Poll::Pending;
        }
        let at = self.window.dispatch();
        count(&self.counts.flushes);
        let issue = (at + 1).max(address).max(self.context_ready.get());
        let ready = self.window.retire(issue + 1);
        if self.takes(entry) {
            self.trace(|| Op::Flush { addr, kind: flush });
            return self.hand_over(stage, entry, ready);
        }
        self.enqueue(addr, Kind::Flush(flush), ready);
        Poll::Ready(())
    }

    /// Hands an entry over to the design.
    fn hand_over(&self, stage: &mut Stage, entry: Entry, retires: u64) -> Poll<()> {
        if let Entry::Flush(..) = entry {
            self.add_pending(self.context.get());
        }
        *stage = Stage::Asked;
        self.post(Request::Take { entry, retires });
        Poll::Pending
    }

    fn poll_primitive(&self, stage: &mut Stage, primitive: Primitive) -> Poll<()> {
        match *stage {
            Stage::Asked => return Poll::Ready(()),
            Stage::Retired(at) => {
                let fate = self.response.get().fate;
                let Fate::Take { marks } = fate else {
                    self.end_primitive(primitive, at, fate);
                    return Poll::Ready(());
                };
                let retires = self.window.retire(at + 1);
                match marks {
                    true => self.enqueue_rest(Addr(0), Kind::Primitive(primitive)),
                    false => _ = self.trace(|| Op::Primitive(primitive)),
                }
                return self.hand_over(stage, Entry::Primitive(primitive), retires);
            }
            _ => {}
        }
        if primitive == Primitive::StoreBarrier && self.drains_in_order {
            self.trace(|| Op::Primitive(primitive));
            return Poll::Ready(());
        }
        if !matches!(stage, Stage::Dispatched(_)) {
            let asks = !matches!(primitive, Primitive::Setctx(_));
            if asks && !self.admits(stage, Entry::Primitive(primitive)) {
                return Poll::Pending;
            }
            self.counts
                .fences
                .set(self.counts.fences.get() + u64::from(primitive.is_fence()));
            *stage = Stage::Dispatched(self.window.dispatch());
        }
        let Stage::Dispatched(at) = *stage else {
            unreachable!("just dispatched")
        };
        if !self.in_order(at) {
            return Poll::Pending;
        }
        if self.places.primitives || self.combines.get() {
            *stage = Stage::Retired(at);
            self.post(Request::Primitive { primitive, at });
            return Poll::Pending;
        }
        self.end_primitive(primitive, at, self.fate(Admission::plain(primitive)));
        Poll::Ready(())
    }

    fn end_primitive(&self, primitive: Primitive, at: u64, fate: Fate) {
        match fate {
            Fate::Pass => {
                self.trace(|| Op::Primitive(primitive));
                if let Primitive::Setctx(_) = primitive {
                    // It executes as any instruction that writes a register does.
                    self.context_ready.set(at + 2);
                    self.window.retire(at + 2);
                } else {
                    self.window.retire(at + 1);
                }
            }
            Fate::Hold => {
                self.trace(|| Op::Primitive(primitive));
                self.window.hold();
            }
            Fate::Enter | Fate::Take { .. } => {
                let ready = self.window.retire(at + 1);
                self.enqueue(Addr(0), Kind::Primitive(primitive), ready);
            }
            Fate::EnterHeld => {
                let ready = self.window.retired().max(at + 1);
                self.enqueue(Addr(0), Kind::Primitive(primitive), ready);
                self.window.hold();
            }
        }
    }

    /// A load: its value and when it is ready.
    #[inline(always)]
    fn poll_load(&self, stage: &mut Stage, addr: Addr, address: u64, size: u8) -> Poll<(u64, u64)> {
        let at = match *stage {
            Stage::New => {
                if !self.admits_loads() {
                    return Poll::Pending;
                }
                count(&self.counts.loads);
                let at = self.window.dispatch_load();
                *stage = Stage::Dispatched(at);
                at
            }
            Stage::Dispatched(at) => at,
            _ => {
                let response = self.response.get();
                self.window.retire(response.done);
                return Poll::Ready((response.value, response.done));
            }
        };
        if !self.in_order(at) {
            return Poll::Pending;
        }
        let issue = (at + 1).max(address).max(self.load_floor.get());
        let hit = if self.places.loads {
            None
        } else {
            self.private.borrow_mut().load_hit(addr.line(), issue)
        };
        let Some(done) = hit else {
            *stage = Stage::Asked;
            let missed = !self.places.loads;
            self.post(Request::Load {
                addr,
                size,
                issue,
                missed,
            });
            return Poll::Pending;
        };
        let memory = self.memory.read(addr, size);
        let (value, done) = match self.queue.borrow_mut().forward(addr, size, memory) {
            None => (memory, done),
            Some((value, ready)) => (value, ready.max(issue) + self.latencies.l1),
        };
        self.trace_load(addr, size, value);
        self.window.retire(done);
        Poll::Ready((value, done))
    }

    fn poll_locked(&self, stage: &mut Stage, addr: Addr, op: Rmw, operand: u64, ready: u64) -> Poll<(u64, u64)> {
        let at = match *stage {
            Stage::New => {
                if !self.is_open() {
                    return Poll::Pending;
                }
                count(&self.counts.loads);
                count(&self.counts.stores);
                let at = self.window.dispatch_load();
                *stage = Stage::Dispatched(at);
                at
            }
            Stage::Dispatched(at) => at,
            _ => {
                let response = self.response.get();
                self.load_floor.set(response.done);
                self.window.retire(response.done);
                return Poll::Ready((response.value, response.done));
            }
        };
        if self.in_order(at) {
            *stage = Stage::Asked;
            let issue = (at + 1).max(ready);
            self.post(Request::Locked {
                addr,
                op,
                operand,
                issue,
            });
        }
        Poll::Pending
    }

    fn poll_written(&self, word: Addr, times: u32) -> Poll<()> {
        if self.writes.reached(word, times) {
            return Poll::Ready(());
        }
        self.post(Request::Written { word, times });
        Poll::Pending
    }

    fn poll_start(&self, stage: &mut Stage) -> Poll<()> {
        if *stage == Stage::Asked {
            return Poll::Ready(());
        }
        if self.is_open() {
            *stage = Stage::Asked;
            self.post(Request::StartLine);
        }
        Poll::Pending
    }
}

fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

impl Cpu for SimCpu {
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
        let latency = c.latencies.of(op);
        let issue = (c.window.dispatch() + 1).max(a).max(b);
        c.window.retire(issue + latency);
        issue + latency
    }

    #[inline(always)]
    fn branch(&self, condition: u64, taken: bool, site: Site) {
        let c = &*self.core;
        let done = (c.window.dispatch() + 1).max(condition) + 1;
        c.window.retire(done);
        if !c.predictor.predict(site.0, taken) {
            count(&c.counts.mispredictions);
            c.window.redirect(done + c.latencies.mispredict);
        }
    }

    #[inline(always)]
    fn load(&self, addr: Addr, address: u64, size: u8) -> impl Future<Output = W<'_, Self>> {
        let mut stage = Stage::New;
        poll_fn(move |_| {
            let loaded = self.core.poll_load(&mut stage, addr, address, size);
            loaded.map(|(value, done)| W::new(self, value, done))
        })
    }

    #[inline(always)]
    fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) -> impl Future<Output = ()> {
        let mut stage = Stage::New;
        let kind = Kind::Store { size, value };
        poll_fn(move |_| self.core.poll_store(&mut stage, addr, kind, (address, data)))
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) -> impl Future<Output = ()> {
        let mut stage = Stage::New;
        let kind = Kind::StoreNt { size, value };
        poll_fn(move |_| self.core.poll_store(&mut stage, addr, kind, (address, data)))
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> impl Future<Output = W<'_, Self>> {
        let mut stage = Stage::New;
        poll_fn(move |_| {
            let locked = self.core.poll_locked(&mut stage, addr, op, operand, address.max(data));
            locked.map(|(value, done)| W::new(self, value, done))
        })
    }

    fn flush(&self, addr: Addr, address: u64, flush: Flush) -> impl Future<Output = ()> {
        let mut stage = Stage::New;
        poll_fn(move |_| self.core.poll_flush(&mut stage, addr, address, flush))
    }

    fn primitive(&self, primitive: Primitive) -> impl Future<Output = ()> {
        let mut stage = Stage::New;
        poll_fn(move |_| self.core.poll_primitive(&mut stage, primitive))
    }

    fn note(&self, note: Note) {
        let c = &*self.core;
        c.trace(|| Op::Note(c.notes.count()));
        let now = Now {
            cycle: c.window.cycle(),
            retired: (!c.window.is_held()).then(|| c.window.retired()),
            instructions: c.window.count(),
            complete: c.window.complete(),
        };
        c.notes.take(note, now);
    }

    fn start_line(&self) -> impl Future<Output = ()> {
        let mut stage = Stage::New;
        poll_fn(move |_| self.core.poll_start(&mut stage))
    }
}

impl Scheduling for SimCpu {
    #[inline(always)]
    fn jump(&self, target: u64, to: u64, site: Site) {
        let c = &*self.core;
        let done = (c.window.dispatch() + 1).max(target) + 1;
        c.window.retire(done);
        count(&c.counts.jumps);
        if !c.targets.predict(site.0, to) {
            count(&c.counts.mispredictions);
            count(&c.counts.jumps_mispredicted);
            c.window.redirect(done + c.latencies.mispredict);
        }
    }

    fn cycles(&self) -> W<'_, Self> {
        let c = &*self.core;
        let at = c.window.dispatch();
        let done = c.window.retire(at + 2);
        W::new(self, at, done)
    }
}

impl Replay for SimCpu {
    #[inline(always)]
    fn both(&self, a: u64, b: u64) -> u64 {
        a.max(b)
    }

    #[inline(always)]
    fn fused(&self, op: Alu, a: u64, b: u64) -> u64 {
        a.max(b) + self.core.latencies.of(op)
    }

    fn store_rest(&self, addr: Addr, size: u8, value: u64, temporal: bool) {
        let kind = match temporal {
            true => Kind::Store { size, value },
            false => Kind::StoreNt { size, value },
        };
        self.core.enqueue_rest(addr, self.core.as_the_design_wants(kind));
    }

    fn fence_stalls(&self) -> u64 {
        self.core.window.stalls().fence.get()
    }

    fn count_next(&self) {
        self.core.counts_next.set(true);
    }

    fn written(&self, word: Addr, times: u32) -> impl Future<Output = ()> {
        poll_fn(move |_| self.core.poll_written(word, times))
    }
}
