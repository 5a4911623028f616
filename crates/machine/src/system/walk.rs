//! Page walks: the hardware's own loads of table entries. They are in no trace, and no design is asked about them.

use super::access::Blocked;
use super::running::Running;
use crate::cache::State;
use crate::core::tlb::tables;
use crate::core::Response;
use strandline_design::Supply;
use strandline_isa::{Addr, CoreId, Line};

impl Running {
    /// Walks the page tables for an access that misses in the TLB at `issue`, which then has the translation.
    /// Fails, and changes nothing, while a kept store waits for its line, which the walk could evict endlessly.
    pub(super) fn walk(&mut self, core: CoreId, addr: Addr, issue: u64) -> Result<Response, Blocked> {
        let shared = self.hw.hart(core).core.clone();
        if let Some(lost) = shared.lost_kept(|_| true) {
            return Err(Blocked::Filling(lost.due));
        }
        let Some(walk) = shared.tlb.begin_walk(addr, issue, shared.turn.next_op.get()) else {
            return Ok(Response::default());
        };
        let mut at = walk.at;
        for level in (0..walk.levels).rev() {
            at = self.load_entry(core, tables::line(walk.page, level), at);
            shared.tlb.loaded(&walk, level, at);
        }
        self.hw.record(|recorder, _| recorder.walked(core, addr, (issue, at)));
        at += self.fault(core, addr, at);
        shared.tlb.end_walk(&walk, issue, at);
        Ok(Response::default())
    }

    /// Loads a table entry through the caches. Returns when it is there.
    ///
    /// No core writes tables, so every cache may share their lines, and nobody is asked. It is not kept where stores
    /// wait for all lines of its set.
    fn load_entry(&mut self, core: CoreId, line: Line, at: u64) -> u64 {
        let mut private = self.hw.harts[core.index()].core.private.borrow_mut();
        let fill = private.look_up(line);
        if fill.state.is_some() {
            return private.found(line, at, &fill);
        }
        let start = private.misses_l2.start(private.misses.start(at) + fill.latency);
        drop(private);
        let hop = self.hw.hop();
        let mut t = start + hop + self.hw.llc(core).latency;
        let mut entry = match self.hw.llc_mut(core).touch(line) {
            Some(entry) => entry,
            None => {
                let Ok(victim) = self.victim_for(core, line) else {
                    return self.hw.read_memory(self.hw.host_of(core), line, t) + hop;
                };
                t = self.fetch(core, line, Supply::Memory, victim, t);
                Default::default()
            }
        };
        entry.sharers.add(core);
        self.hw.llc_mut(core).set_latest(line, entry);
        t += hop;
        let mut private = self.hw.harts[core.index()].core.private.borrow_mut();
        let victim = private.fill(line, State::Shared);
        private.misses.keep(line, t);
        private.misses_l2.keep(line, t);
        drop(private);
        if let Some(victim) = victim {
            self.leaves_private(core, victim, t);
        }
        t
    }

    /// The cycles of a page fault, if an access whose walk ends at `at` is the first to a page without data. Dispatch
    /// waits for it, as behind any exception.
    fn fault(&mut self, core: CoreId, addr: Addr, at: u64) -> u64 {
        let latency = self.hw.machine.tlb.fault_latency.0;
        let page_bytes = self.hw.machine.tlb.page_bytes;
        let page = addr.0 & !(page_bytes - 1);
        if latency == 0 || self.hw.seen(core).has_data(page..page + page_bytes) || !self.hw.faulted.insert(page) {
            return 0;
        }
        self.hw.core(core).window.redirect(at + latency);
        latency
    }
}
