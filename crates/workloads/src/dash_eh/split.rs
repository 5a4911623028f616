//! Splits of segments.

use super::{DashEh, Omits};
use crate::extendible::Open;
use crate::maps::flush_lines;
use strandline_isa::{sites, Cpu, Intent};
use strandline_runtime::{lock, unlock, ThreadState};

sites! {
    SPLITS_THE_SAME = 0xdd7c_7f50;
}

impl DashEh {
    /// Splits a segment that had no room; false if there is no room for another segment. If it was split meanwhile, there
    /// is nothing to do.
    pub(super) async fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        self.buckets.lock(cpu, open.segment).await;
        let prefix = open.segment.load().await;
        let mut is_done = true;
        if prefix.equals(open.prefix).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open).await;
        }
        self.buckets.unlock(cpu, open.segment).await;
        is_done
    }

    async fn split_locked<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread).await else {
            return false;
        };
        let new = taken.row();
        let (shift, lower, upper) = open.halves();
        self.buckets.copy_upper(cpu, open.segment, new, shift).await;
        new.store(upper).await;
        if self.buckets.omits != Omits::Segment {
            flush_lines(new, self.buckets.bytes()).await;
            cpu.intent(Intent::Order).await;
        }
        let directory_lock = cpu.word(self.table.lock());
        lock(cpu, directory_lock).await;
        let is_done = self.table.enter(cpu, open.segment, new, (upper >> 8, shift)).await;
        if is_done {
            if self.buckets.omits != Omits::Directory {
                cpu.intent(Intent::Order).await;
            }
            open.segment.store(lower).await;
            open.segment.flush().await;
            cpu.intent(Intent::Order).await;
            for (from, to) in self.buckets.all(open.segment).zip(self.buckets.all(new)) {
                from.drop_those_of(&to).await;
            }
            cpu.intent(Intent::Durable).await;
        }
        unlock(cpu, directory_lock).await;
        self.buckets.unlock(cpu, new).await;
        is_done
    }
}
