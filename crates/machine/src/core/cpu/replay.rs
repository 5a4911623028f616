//! What schedulers of tasks, programs that warm caches and replays of recordings need of a simulated core.

use super::{count, Core, Kind, Mode, Port, SimCpu};
use std::future::{poll_fn, Future};
use std::task::Poll;
use strandline_isa::{Addr, Alu, Replay, Scheduling, Site, Warms, W};

impl Scheduling for SimCpu {
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
}

impl Warms for SimCpu {
    fn goes_on(&self) -> impl Future<Output = bool> {
        poll_fn(|_| match &self.core.mode {
            Mode::Functional(functional) => functional.goes_on(),
            Mode::Registers | Mode::Stack(_) => Poll::Ready(false),
        })
    }
}

impl Core {
    /// Executes an indirect jump.
    #[inline(always)]
    pub(super) fn jumps(&self, target: u64, to: u64, site: Site) {
        let ready = (self.window.dispatch() + 1).max(target);
        let issue = self.window.finds(Port::Alu, ready);
        self.window.ends_block();
        let done = issue + 1;
        count(&self.counts.jumps);
        if !self.branches.targets.predict(site.0, to) {
            count(&self.counts.jumps_mispredicted);
            self.mispredicted(done);
        }
        self.window.execute(issue, done);
    }
}

impl Replay for SimCpu {
    #[inline(always)]
    fn both(&self, a: u64, b: u64) -> u64 {
        a.max(b)
    }

    #[inline(always)]
    fn fused(&self, op: Alu, a: u64, b: u64) -> u64 {
        a.max(b) + self.core.limits.latencies.of(op)
    }

    fn store_rest(&self, addr: Addr, size: u8, value: u64, temporal: bool) {
        let kind = match temporal {
            true => Kind::Store { size, value },
            false => self.core.store_nt(size, value),
        };
        if !self.core.is_replaying() {
            self.core.enqueue_rest(addr, kind);
        }
    }

    fn fence_stalls(&self) -> u64 {
        self.core.replay_or(self.core.window.stalls().fence.get(), 0).0
    }

    fn count_next(&self) {
        self.core.observer.counts_next.set(true);
        self.core.observer.marks_entries.set(true);
    }

    fn written(&self, word: Addr, times: u32) -> impl Future<Output = ()> {
        poll_fn(move |_| {
            let c = &*self.core;
            c.answered(|| c.poll_written(word, times))
        })
    }
}
