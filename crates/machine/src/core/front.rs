//! The simulator as a program's back end.

use super::{Core, Fate, Kind, Request, Response};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Note, Primitive, Rmw, Site};

/// A simulated core as the program on it sees it. A register value's tag is the cycle in which it is ready.
#[derive(Clone)]
pub struct SimCpu {
    core: Rc<Core>,
}

/// Suspends the program once; the system has answered when it is polled again.
struct Suspend {
    posted: bool,
}

impl Future for Suspend {
    type Output = ();

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.posted {
            return Poll::Ready(());
        }
        self.posted = true;
        Poll::Pending
    }
}

impl SimCpu {
    /// The back end on `core`.
    pub fn new(core: Rc<Core>) -> SimCpu {
        SimCpu { core }
    }

    async fn ask(&self, request: Request) -> Response {
        self.core.request.set(Some(request));
        Suspend { posted: false }.await;
        self.core.response.get()
    }

    /// Waits until everything earlier than `at` has happened.
    #[inline(always)]
    async fn order(&self, at: u64) {
        let c = &*self.core;
        c.front.set(at);
        while at > c.horizon.get() || !c.drain_hits(at) {
            self.ask(Request::Order).await;
        }
    }

    /// Waits until the store queue takes another entry.
    async fn room(&self, entry: strandline_design::Entry) {
        let c = &*self.core;
        if c.window.is_held() {
            self.ask(Request::Released { blocks: true }).await;
        }
        self.order(c.window.cycle()).await;
        while c.queue.borrow().len() >= c.queue_entries {
            self.ask(Request::Room).await;
            self.order(c.window.cycle()).await;
        }
        if c.places.admission {
            self.ask(Request::Admit(entry)).await;
        }
    }

    #[inline(always)]
    fn count(cell: &std::cell::Cell<u64>) {
        cell.set(cell.get() + 1);
    }
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
        let latency = match op {
            Alu::Simple => 1,
            Alu::Mul => c.latencies.mul,
            Alu::Div => c.latencies.div,
        };
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
            Self::count(&c.counts.mispredictions);
            c.window.redirect(done + c.latencies.mispredict);
        }
    }

    #[inline(always)]
    async fn load(&self, addr: Addr, address: u64, size: u8) -> (u64, u64) {
        let c = &*self.core;
        if c.window.is_full_behind_held() || c.holds_loads.get() {
            self.ask(Request::Released { blocks: false }).await;
        }
        let at = c.window.dispatch_load();
        Self::count(&c.counts.loads);
        self.order(at).await;
        let issue = (at + 1).max(address).max(c.load_floor.get());
        let hit = if c.places.loads { None } else { c.private.borrow_mut().load_hit(addr.line(), issue) };
        let (value, done) = match hit {
            Some(done) => {
                let value = c.memory.read(addr, size);
                match c.queue.borrow_mut().forward(addr, size, value) {
                    None => (value, done),
                    Some((value, ready)) => (value, ready.max(issue) + c.latencies.l1),
                }
            }
            None => {
                let response = self.ask(Request::Load { addr, size, issue }).await;
                (response.value, response.done)
            }
        };
        c.window.retire(done);
        (value, done)
    }

    #[inline(always)]
    async fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let c = &*self.core;
        self.room(strandline_design::Entry::Store(addr)).await;
        let at = c.window.dispatch();
        Self::count(&c.counts.stores);
        let issue = (at + 1).max(address);
        let ready = c.window.retire(issue.max(data) + 1);
        if c.prefetches_stores && !c.private.borrow_mut().owns(addr.line()) {
            self.ask(Request::Own { addr, issue }).await;
        }
        c.enqueue(addr, Kind::Store { size, value }, ready);
    }

    async fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        let c = &*self.core;
        self.room(strandline_design::Entry::StoreNt(addr)).await;
        let at = c.window.dispatch();
        Self::count(&c.counts.stores);
        let ready = c.window.retire((at + 1).max(address).max(data) + 1);
        c.enqueue(addr, Kind::StoreNt { size, value }, ready);
    }

    async fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> (u64, u64) {
        let c = &*self.core;
        if c.window.is_held() {
            self.ask(Request::Released { blocks: true }).await;
        }
        let at = c.window.dispatch_load();
        Self::count(&c.counts.loads);
        Self::count(&c.counts.stores);
        self.order(at).await;
        let issue = (at + 1).max(address).max(data);
        let response = self.ask(Request::Locked { addr, op, operand, issue }).await;
        c.load_floor.set(response.done);
        c.window.retire(response.done);
        (response.value, response.done)
    }

    async fn flush(&self, addr: Addr, address: u64, flush: Flush) {
        let c = &*self.core;
        self.room(strandline_design::Entry::Flush(addr.line(), flush)).await;
        let at = c.window.dispatch();
        Self::count(&c.counts.flushes);
        let ready = c.window.retire((at + 1).max(address) + 1);
        c.enqueue(addr, Kind::Flush(flush), ready);
    }

    async fn primitive(&self, primitive: Primitive) {
        let c = &*self.core;
        if primitive == Primitive::StoreBarrier && c.drains_in_order {
            return;
        }
        self.room(strandline_design::Entry::Primitive(primitive)).await;
        let at = c.window.dispatch();
        if primitive != Primitive::StoreBarrier {
            Self::count(&c.counts.fences);
        }
        self.order(at).await;
        match self.ask(Request::Primitive { primitive, at }).await.fate {
            Fate::Pass => drop(c.window.retire(at + 1)),
            Fate::Hold => c.window.hold(),
            Fate::Enter => {
                let ready = c.window.retire(at + 1);
                c.enqueue(Addr(0), Kind::Primitive(primitive), ready);
            }
        }
    }

    fn note(&self, note: Note) {
        let c = &*self.core;
        let retired = (!c.window.is_held()).then(|| c.window.retired());
        c.notes.take(note, c.window.cycle(), retired);
    }

    async fn start_line(&self) {
        if self.core.window.is_held() {
            self.ask(Request::Released { blocks: true }).await;
        }
        self.ask(Request::StartLine).await;
    }
}
