//! Splits of segments.

use super::bucket::{meta, offset, Bucket, BUCKET, SLOTS};
use super::{DashEh, Omits, STASH};
use crate::extendible::Open;
use crate::maps::{flush_lines, hash, lock_alone};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::{unlock, ThreadState};

sites! {
    SPLITS_THE_SAME = 0xdd7c_7f50;
    SLOT_IS_USED = 0xd208_c3dc;
    RECORD_MOVES = 0xe581_16df;
}

impl DashEh {
    /// All buckets of a segment, those of the stash last.
    fn all<'c, C: Cpu>(&self, segment: W<'c, C>) -> impl Iterator<Item = Bucket<'c, C>> {
        (0..self.buckets + STASH).map(move |index| Bucket(segment.at(LINE_BYTES + index * BUCKET)))
    }

    /// Splits a segment that had no room; false if there is no room for another segment. If it was split meanwhile, there
    /// is nothing to do.
    pub(super) async fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let cpu = thread.cpu;
        for bucket in self.all(open.segment) {
            bucket.lock(cpu).await;
        }
        let prefix = open.segment.load().await;
        let mut is_done = true;
        if prefix.equals(open.prefix).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open).await;
        }
        for bucket in self.all(open.segment) {
            bucket.unlock(cpu).await;
        }
        is_done
    }

    async fn split_locked<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread).await else {
            return false;
        };
        let new = taken.row();
        let (shift, lower, upper) = open.halves();
        let buckets = self.all(open.segment).zip(self.all(new));
        for (from, to) in buckets {
            DashEh::copy_upper(cpu, from.0, to.0, shift).await;
        }
        new.store(upper).await;
        if self.omits != Omits::Segment {
            flush_lines(new, self.bytes()).await;
            cpu.intent(Intent::Order).await;
        }
        let directory_lock = cpu.word(self.table.lock());
        lock_alone(cpu, directory_lock).await;
        let is_done = self.table.enter(cpu, open.segment, new, (upper >> 8, shift)).await;
        if is_done {
            if self.omits != Omits::Directory {
                cpu.intent(Intent::Order).await;
            }
            open.segment.store(lower).await;
            open.segment.flush().await;
            cpu.intent(Intent::Order).await;
            for (from, to) in self.all(open.segment).zip(self.all(new)) {
                // What both have had is the new one's.
                let moved = to.0.at(offset::META).load().await;
                let meta = from.0.at(offset::META).load().await;
                from.0
                    .at(offset::META)
                    .store((meta | moved) ^ moved | (meta & meta::OVERFLOWS))
                    .await;
                from.0.flush().await;
            }
            cpu.intent(Intent::Durable).await;
        }
        unlock(cpu, directory_lock).await;
        for bucket in self.all(new) {
            bucket.unlock(cpu).await;
        }
        is_done
    }

    /// Copies the records of the upper half to the same slots of a bucket of a new segment, which is locked.
    async fn copy_upper<'c, C: Cpu>(cpu: &'c C, from: W<'c, C>, to: W<'c, C>, shift: W<'c, C>) {
        let old = from.at(offset::META).load().await;
        let mut moved = cpu.word(0);
        for slot in 0..SLOTS {
            if !((old >> slot) & 1).is(1).branch(SLOT_IS_USED) {
                continue;
            }
            let at = offset::RECORDS + 16 * slot;
            let key = from.at(at).load().await;
            if ((hash(key) >> shift) & 1).is(1).branch(RECORD_MOVES) {
                to.at(at).store(key).await;
                to.at(at + 8).store(from.at(at + 8).load().await).await;
                moved = moved | ((1 << slot) | (1 << (slot + meta::BEFORE_SHIFT)));
            }
        }
        for offset in [offset::FINGERPRINTS, offset::FINGERPRINTS + 8] {
            to.at(offset).store(from.at(offset).load().await).await;
        }
        let meta = old & (moved | meta::OVERFLOWS);
        to.at(offset::META).store(meta).await;
        to.at(offset::VERSION).store(cpu.word(1)).await;
    }
}
