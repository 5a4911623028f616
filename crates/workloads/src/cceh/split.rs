//! Splits of segments.

use super::{segment, Cceh, Omits, EMPTY, MARK, PAIR};
use crate::extendible::Open;
use crate::maps::{flush_lines, hash, EXCLUSIVE};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::{lock, unlock, ThreadState};

sites! {
    SPLITS_THE_SAME = 0x70ce_2d27;
    MORE_SLOTS = 0x9358_2da6;
    SLOT_IS_FREE = 0x5580_ecee;
    SLOT_IS_CLAIMED = 0x8f31_d8a4;
    PAIR_IS_STALE = 0xaf65_cdd1;
    PAIR_MOVES = 0xd58d_bb22;
}

impl Cceh {
    /// Splits a segment that had no room; false if there is no room for another segment. If it was split meanwhile, there
    /// is nothing to do.
    pub(super) fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let own = open.segment.at(segment::LOCK);
        Cceh::lock(cpu, own);
        let prefix = open.segment.at(segment::PREFIX).load();
        let mut is_done = true;
        if prefix.equals(open.prefix).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open);
        }
        unlock(cpu, own);
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
        self.copy_upper(cpu, open, new, shift);
        new.at(segment::PREFIX).store(upper);
        new.at(segment::LOCK).store(cpu.word(EXCLUSIVE));
        if self.omits != Omits::Segment {
            flush_lines(new, LINE_BYTES + self.bytes());
            cpu.intent(Intent::Order);
        }
        let directory_lock = cpu.word(self.table.lock());
        lock(cpu, directory_lock);
        let is_done = self.table.enter(cpu, open.segment, new, (upper >> 8, shift));
        if is_done {
            if self.omits != Omits::Directory {
                cpu.intent(Intent::Order);
            }
            open.segment.at(segment::PREFIX).store(lower);
            open.segment.flush();
            cpu.intent(Intent::Durable);
        }
        unlock(cpu, directory_lock);
        unlock(cpu, new.at(segment::LOCK));
        is_done
    }

    /// Copies the pairs of the upper half to the same slots of a new segment, whose other slots become free.
    fn copy_upper<'c, C: Cpu>(&self, cpu: &'c C, open: &Open<'c, C>, new: W<'c, C>, shift: W<'c, C>) {
        let _call = cpu.call(3);
        let mut offset = cpu.word(LINE_BYTES);
        while offset.below(LINE_BYTES + self.bytes()).branch(MORE_SLOTS) {
            let (from, to) = (open.segment + offset, new + offset);
            let key = from.load();
            let mut moves = false;
            if !key.is(EMPTY).branch(SLOT_IS_FREE) && !key.is(MARK).branch(SLOT_IS_CLAIMED) {
                let hash = hash(key);
                moves = open.covers(hash).branch(PAIR_IS_STALE) && ((hash >> shift) & 1).is(1).branch(PAIR_MOVES);
            }
            match moves {
                true => {
                    to.at(8).store(from.at(8).load());
                    to.store(key);
                }
                false => to.store(cpu.word(EMPTY)),
            }
            offset = offset + PAIR;
        }
    }
}
