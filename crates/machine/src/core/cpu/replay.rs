//! What replays of recordings need of a simulated core.

use super::{EntryKind, SimCpu};
use strandline_isa::{Addr, Alu, Replay};

impl Replay for SimCpu<'_> {
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
            true => EntryKind::Store { size, value },
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

    fn written(&self, word: Addr, times: u32) {
        self.awaits_writes(word, times);
    }
}
