//! Stores, from their dispatch to the store queue.

use super::{Core, Kind, Mode, Port, Request, Stage};
use std::task::Poll;
use strandline_isa::Addr;

impl Core {
    pub(super) fn poll_store(&self, stage: &mut Stage, addr: Addr, kind: Kind, operands: (u64, u64)) -> Poll<()> {
        match &self.mode {
            Mode::Registers => self.store_by_stages(stage, addr, kind, operands),
            Mode::Stack(frame) => self.store_from_stack(frame, stage, addr, kind, operands),
            Mode::Functional(functional) => self.store_functionally(functional, addr, kind),
        }
    }

    #[inline(always)]
    pub(super) fn store_by_stages(&self, stage: &mut Stage, addr: Addr, kind: Kind, operands: (u64, u64)) -> Poll<()> {
        match *stage {
            Stage::Executed { at, retired } => {
                self.enqueue_executed(addr, kind, at, retired);
                return Poll::Ready(());
            }
            Stage::Fetching(at) => {
                let fetched = self.exchange.response.get().done;
                return self.ends_cached(addr, kind, at, fetched);
            }
            _ => {}
        }
        let at = match *stage {
            Stage::Dispatched(at) => at,
            _ => {
                if let Err(request) = self.find_room() {
                    return self.stop_silent(stage, request);
                }
                self.count_store(&self.counts.stores);
                self.dispatch_entry()
            }
        };
        let issue = (at + 1).max(operands.0).max(self.context.ready.get());
        if !self.window.is_simple() {
            return self.store_limited(stage, (at, issue), addr, kind, operands.1);
        }
        let translated = match self.translate(addr, issue) {
            Ok(translated) => translated,
            Err(walk) => return self.walks(stage, Stage::Dispatched(at), walk),
        };
        let executed = translated.max(operands.1) + 1;
        let retired = self.window.execute(issue.max(operands.1), executed);
        self.enters(stage, addr, kind, translated, (executed, retired))
    }

    /// A store that has executed and retired then enters the store queue, once its line is requested.
    #[inline(always)]
    fn enters(
        &self,
        stage: &mut Stage,
        addr: Addr,
        kind: Kind,
        translated: u64,
        (at, retired): (u64, u64),
    ) -> Poll<()> {
        let temporal = matches!(kind, Kind::Store { .. });
        if temporal && self.limits.prefetches_stores && !self.private.borrow_mut().owns(addr.line()) {
            *stage = Stage::Executed { at, retired };
            return self.request(Request::Own {
                addr,
                issue: translated,
            });
        }
        self.enqueue_executed(addr, kind, at, retired);
        Poll::Ready(())
    }

    /// As [`Core::store_by_stages`], for a store that was dispatched at `at` and whose address is ready at `ready`, where the
    /// window is not simple.
    #[inline(never)]
    fn store_limited(&self, stage: &mut Stage, (at, ready): (u64, u64), addr: Addr, kind: Kind, data: u64) -> Poll<()> {
        let issue = self.window.finds(Port::Address, ready);
        let translated = match self.translate(addr, issue) {
            Ok(translated) => translated,
            Err(walk) => return self.walks(stage, Stage::Dispatched(at), walk),
        };
        let (issue, executed) = self.execute_store(issue, translated, data);
        if self.limits.retires_cached && matches!(kind, Kind::Store { .. }) {
            self.window.issue(issue);
            return self.fetch_line(stage, addr, kind, executed);
        }
        let retired = self.window.execute(issue, executed);
        self.enters(stage, addr, kind, translated, (executed, retired))
    }

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
                let issue = self.window.finds(Port::Data, ready);
                (issue, issue + 1)
            }
        }
    }

    /// Requests the line of a store that has executed at `at`, unless the core owns it. The store retires once the line has
    /// come.
    fn fetch_line(&self, stage: &mut Stage, addr: Addr, kind: Kind, at: u64) -> Poll<()> {
        let owned = self.private.borrow_mut().owned(addr.line(), at);
        if owned.is_none() && self.limits.prefetches_stores {
            *stage = Stage::Fetching(at);
            return self.request(Request::Own { addr, issue: at });
        }
        self.ends_cached(addr, kind, at, owned.unwrap_or(at) + self.limits.latencies.l1)
    }

    /// Retires a store that has executed at `at` and whose line has come at `fetched`.
    fn ends_cached(&self, addr: Addr, kind: Kind, at: u64, fetched: u64) -> Poll<()> {
        let retired = self.window.retire(at.max(fetched));
        self.enqueue_executed(addr, kind, at, retired);
        Poll::Ready(())
    }
}
