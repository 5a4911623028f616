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
    pub(super) fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        self.buckets.lock(cpu, open.segment);
        let prefix = open.segment.load();
        let mut is_done = true;
        if prefix.equals(open.prefix).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open);
        }
        self.buckets.unlock(cpu, open.segment);
        is_done
    }

    fn split_locked<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return false;
        };
        let new = taken.row();
        let (shift, lower, upper) = open.halves();
        self.buckets.copy_upper(cpu, open.segment, new, shift);
        new.store(upper);
        if self.buckets.omits != Omits::Segment {
            flush_lines(new, self.buckets.bytes());
            cpu.intent(Intent::Order);
        }
        let directory_lock = cpu.word(self.table.lock());
        lock(cpu, directory_lock);
        let is_done = self.table.enter(cpu, open.segment, new, (upper >> 8, shift));
        if is_done {
            if self.buckets.omits != Omits::Directory {
                cpu.intent(Intent::Order);
            }
            open.segment.store(lower);
            open.segment.flush();
            cpu.intent(Intent::Order);
            for (from, to) in self.buckets.all(open.segment).zip(self.buckets.all(new)) {
                from.drop_those_of(&to);
            }
            cpu.intent(Intent::Durable);
        }
        unlock(cpu, directory_lock);
        self.buckets.unlock(cpu, new);
        is_done
    }
}
