//! Loads, flushes, primitives, locked instructions and waits: each from its dispatch to its outcome.

use super::asking::Left;
use super::{count, Core, Dispatched, EntryKind, Port, Request, SimCpu};
use crate::trace::TraceOp;
use strandline_design::{Hook, Ordering};
use strandline_isa::{Addr, Flush, Primitive, Rmw};

impl SimCpu<'_> {
    /// A load whose address is ready then: its value, and when that is ready.
    #[inline(always)]
    pub(super) fn load_ready(&self, addr: Addr, address: u64, size: u8) -> Result<(u64, u64), Left> {
        let c = &*self.core;
        while let Err(request) = c.may_load() {
            self.ask(request)?;
        }
        count(&c.counts.loads);
        let floor = || address.max(c.loads.floor.get()).max(c.loads.addresses.get());
        let (issue, translated) = self.load_issues(addr, floor)?;
        let asks = c.asks(Hook::Load);
        let hit = match asks {
            true => None,
            false => c.private.borrow_mut().load_hit(addr.line(), translated),
        };
        let Some(done) = hit else {
            c.window.issue(issue);
            let missed = !asks;
            self.ask(Request::Load {
                addr,
                size,
                issue: translated,
                missed,
            })?;
            return Ok(c.retire_response());
        };
        let memory = c.memory.read(addr, size);
        let (value, done) = match c.queue.borrow_mut().forward(addr, size, memory) {
            None => (memory, done),
            Some((value, executed)) => (value, executed.max(translated) + c.limits.latencies.forwarding),
        };
        c.observe_load(addr, size, value, done);
        c.window.execute(issue, done);
        Ok((value, done))
    }

    /// Dispatches a load that may issue from `ready` on: when it issues, and when its address is translated.
    #[inline(always)]
    fn load_issues(&self, addr: Addr, ready: impl Fn() -> u64) -> Result<(u64, u64), Left> {
        let c = &*self.core;
        let at = c.window.dispatch_load();
        loop {
            while let Err(request) = c.catch_up(at) {
                self.ask(request)?;
            }
            let issue = c.window.issue_at_port(Port::Load, (at + 1).max(ready()));
            match c.translate(addr, issue) {
                Ok(translated) => return Ok((issue, translated)),
                Err(walk) => self.ask(walk)?,
            }
        }
    }

    /// A locked instruction whose operands are ready then.
    pub(super) fn locked_ready(&self, addr: Addr, op: Rmw, operand: u64, ready: u64) -> Result<(u64, u64), Left> {
        let c = &*self.core;
        while let Err(request) = c.may_store().and_then(|()| c.may_load()) {
            self.ask(request)?;
        }
        let (issue, translated) = self.load_issues(addr, || ready)?;
        c.window.issue(issue);
        self.ask(Request::Locked {
            addr,
            op,
            operand,
            issue: translated,
        })?;
        count(&c.counts.loads);
        c.count_store(&c.counts.stores);
        if c.limits.holds_behind_locked {
            c.loads.floor.set(c.exchange.response.get().done);
        }
        let (value, done) = c.retire_response();
        c.log_outcome(value, done);
        Ok((value, done))
    }

    /// A flush whose address is ready then.
    pub(super) fn flush_ready(&self, addr: Addr, address: u64, flush: Flush) -> Result<(), Left> {
        let c = &*self.core;
        let ordering = Ordering::Flush(addr.line(), flush);
        let claimed = self.find_place(ordering)?;
        c.disturbs_laps();
        c.count_store(&c.counts.flushes);
        let (issue, translated) = self.address_ready(addr, c.dispatch_entry(), address)?;
        let ready = c.window.execute(issue, translated + 1);
        if claimed {
            c.observe(|| TraceOp::Flush { addr, kind: flush });
            return self.hand_over(ordering, ready);
        }
        c.enqueue(addr, EntryKind::Flush(flush), ready);
        Ok(())
    }

    /// Whether the design claims a flush or primitive (true), or the store queue allocates it.
    #[inline(always)]
    fn find_place(&self, ordering: Ordering) -> Result<bool, Left> {
        let c = &*self.core;
        if c.asks(Hook::Claim) {
            while let Err(request) = c.may_store().and_then(|()| c.catch_up(c.window.cycle())) {
                self.ask(request)?;
            }
            self.ask(Request::Claim(ordering))?;
            if c.exchange.response.get().claimed {
                return Ok(true);
            }
        }
        while let Err(request) = c.find_room() {
            self.ask(request)?;
        }
        Ok(false)
    }

    /// Passes the design what it has claimed.
    fn hand_over(&self, ordering: Ordering, retires: u64) -> Result<(), Left> {
        let c = &*self.core;
        if let Ordering::Flush(..) = ordering {
            c.add_pending(c.context.now.get(), c.dispatched.get());
        }
        self.ask(Request::Claimed { ordering, retires })
    }

    /// A primitive.
    pub(super) fn primitive_now(&self, primitive: Primitive) -> Result<(), Left> {
        let c = &*self.core;
        if primitive == Primitive::StoreBarrier && !c.limits.barriers {
            if let Some(tracer) = &c.observer.tracer {
                tracer.enter(c.id, TraceOp::Primitive(primitive));
            }
            return Ok(());
        }
        // A change of context needs no entry of the store queue.
        if !matches!(primitive, Primitive::Setctx(_)) {
            self.find_place(Ordering::Primitive(primitive))?;
        }
        let at = c.dispatch_entry();
        // It waits at the window's head, if anywhere, and not for operands.
        c.window.issue(at + 1);
        while let Err(request) = c.catch_up(at) {
            self.ask(request)?;
        }
        let plain = match c.asks(Hook::Primitive) || c.combines.get() {
            true => None,
            false => c.dispatches_at_once(primitive),
        };
        if let Some(plain) = plain {
            c.end_primitive(primitive, at, plain);
            return Ok(());
        }
        self.ask(Request::Primitive { primitive })?;
        let dispatched = c.exchange.response.get().dispatched;
        c.end_primitive(primitive, at, dispatched);
        match dispatched {
            Dispatched::Claimed { .. } => self.hand_over(Ordering::Primitive(primitive), c.window.retired()),
            _ => Ok(()),
        }
    }

    /// Waits until `times` counted writes to a word are visible.
    pub(super) fn awaits_writes(&self, word: Addr, times: u32) {
        let c = &*self.core;
        while !c.observer.writes.reached(word, times) && !c.is_replaying() {
            self.wait_for(Request::Written { word, times });
        }
    }

    /// Waits until all fences have retired.
    pub(super) fn awaits_fences(&self) {
        while let Err(request) = self.core.may_store() {
            self.wait_for(request);
        }
    }

    /// Sleeps as long as a word has this value.
    pub(super) fn sleeps(&self, word: Addr, value: u64) {
        let c = &*self.core;
        if c.is_replaying() {
            return;
        }
        while let Err(request) = c.may_store().and_then(|()| c.catch_up(c.window.cycle())) {
            self.wait_for(request);
        }
        self.wait_for(Request::Sleep { word, value });
    }

    /// Waits at the start line.
    pub(super) fn starts(&self) {
        let c = &*self.core;
        if c.is_replaying() {
            return;
        }
        while let Err(request) = c.may_store() {
            self.wait_for(request);
        }
        self.wait_for(Request::StartLine);
    }
}

impl Core {
    /// Completes the requested op with the system's answer.
    fn retire_response(&self) -> (u64, u64) {
        let response = self.exchange.response.get();
        self.window.retire(response.done);
        (response.value, response.done)
    }
}
