//! Stores, from their dispatch to the store queue.

use super::asking::Left;
use super::{Core, EntryKind, Port, Request, SimCpu};
use strandline_isa::Addr;

impl SimCpu<'_> {
    /// A store whose address and data are ready then.
    #[inline(always)]
    pub(super) fn store_ready(&self, addr: Addr, kind: EntryKind, (address, data): (u64, u64)) -> Result<(), Left> {
        let c = &*self.core;
        while let Err(request) = c.find_room() {
            self.ask(request)?;
        }
        c.count_store(&c.counts.stores);
        let (issue, translated) = self.address_ready(addr, c.dispatch_entry(), address)?;
        let (issue, executed) = c.execute_store(issue, translated, data);
        if c.limits.retires_cached && matches!(kind, EntryKind::Store { .. }) {
            c.window.issue(issue);
            return self.fetch_line(addr, kind, executed);
        }
        let retired = c.window.execute(issue, executed);
        self.enters(addr, kind, translated, (executed, retired))
    }

    /// When the address of a store or flush that was dispatched `at` issues, once its register is ready then, and when it is
    /// translated.
    #[inline(always)]
    pub(super) fn address_ready(&self, addr: Addr, at: u64, register: u64) -> Result<(u64, u64), Left> {
        let c = &*self.core;
        loop {
            let ready = (at + 1).max(register).max(c.context.ready.get());
            let issue = c.window.issue_at_port(Port::Address, ready);
            match c.translate(addr, issue) {
                Ok(translated) => return Ok((issue, translated)),
                Err(walk) => self.ask(walk)?,
            }
        }
    }

    /// A store that has executed and retired then enters the store queue, once its line is requested.
    #[inline(always)]
    fn enters(&self, addr: Addr, kind: EntryKind, translated: u64, (at, retired): (u64, u64)) -> Result<(), Left> {
        let c = &*self.core;
        let temporal = matches!(kind, EntryKind::Store { .. });
        if temporal && c.limits.prefetches_stores && !c.private.borrow_mut().owns(addr.line()) {
            self.ask(Request::Own {
                addr,
                issue: translated,
            })?;
        }
        c.enqueue_executed(addr, kind, at, retired);
        Ok(())
    }

    /// Requests the line of a store that has executed at `at`, unless the core owns it. The store retires once the line has
    /// come.
    fn fetch_line(&self, addr: Addr, kind: EntryKind, at: u64) -> Result<(), Left> {
        let c = &*self.core;
        let owned = c.private.borrow_mut().owned(addr.line(), at);
        let fetched = match owned {
            None if c.limits.prefetches_stores => {
                self.ask(Request::Own { addr, issue: at })?;
                c.exchange.response.get().done
            }
            owned => owned.unwrap_or(at) + c.limits.latencies.l1,
        };
        let retired = c.window.retire(at.max(fetched));
        c.enqueue_executed(addr, kind, at, retired);
        Ok(())
    }
}

impl Core {
    /// When a store issues whose address op has issued at `issue` and has its translation at `translated`, and when it has
    /// executed. Its second micro-op, if it is two, is dispatched behind the first.
    #[inline(always)]
    fn execute_store(&self, issue: u64, translated: u64, data: u64) -> (u64, u64) {
        let known = translated + 1;
        if self.limits.waits_for_addresses {
            self.loads.addresses.set(self.loads.addresses.get().max(known));
        }
        match self.limits.splits_stores {
            false => (issue.max(data), translated.max(data) + 1),
            true => {
                self.window.execute_address(issue, known);
                let ready = (self.window.dispatch_second() + 1).max(known).max(data);
                let issue = self.window.issue_at_port(Port::Data, ready);
                (issue, issue + 1)
            }
        }
    }
}
