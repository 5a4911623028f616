//! Splits of segments and doublings of the directory.

use super::{directory_bytes, root, segment, Cceh, Omits, Open, EMPTY, MARK, PAIR};
use crate::maps::{flush_lines, hash, lock_alone, unlock_alone, EXCLUSIVE};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_runtime::ThreadState;

sites! {
    SPLITS_THE_SAME = 0x70ce_2d27;
    MORE_SLOTS = 0x9358_2da6;
    SLOT_IS_FREE = 0x5580_ecee;
    SLOT_IS_CLAIMED = 0x8f31_d8a4;
    PAIR_IS_STALE = 0xaf65_cdd1;
    PAIR_MOVES = 0xd58d_bb22;
    NO_SEGMENT_IS_FREE = 0x18fc_f141;
    DIRECTORY_IS_DEEPER = 0xb03f_eb6d;
    MORE_ENTRIES = 0x580e_f9be;
    MORE_OLD_ENTRIES = 0x3735_8118;
    ENTRY_IS_SPLIT = 0xfebd_fec0;
    DIRECTORY_IS_DEEPEST = 0xadab_480a;
    MORE_LINES = 0x72f4_23d6;
}

impl Cceh {
    /// The address of the directory of a depth.
    pub(super) fn directory(&self, depth: u64) -> u64 {
        let before: u64 = (self.depths.0..depth).map(directory_bytes).sum();
        self.directories.0 + before
    }

    /// Splits a segment that had no room; false if there is no room for another segment. If it was split meanwhile, there
    /// is nothing to do.
    pub(super) async fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let cpu = thread.cpu;
        let lock = open.segment.at(segment::LOCK);
        lock_alone(cpu, lock).await;
        let prefix = open.segment.at(segment::PREFIX).load().await;
        let mut is_done = true;
        if prefix.equals(open.prefix).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open).await;
        }
        unlock_alone(cpu, lock).await;
        is_done
    }

    async fn split_locked<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread).await else {
            return false;
        };
        let new = taken.row();
        // One bit more of the hash: the shift is one less.
        let (shift, bits) = ((open.prefix & 0xff) - 1, open.prefix >> 8);
        let lower = shift | (bits << 9);
        let upper = shift | (((bits << 1) + 1) << 8);
        self.copy_upper(cpu, open, new, shift).await;
        new.at(segment::PREFIX).store(upper).await;
        new.at(segment::LOCK).store(cpu.word(EXCLUSIVE)).await;
        if self.omits != Omits::Segment {
            flush_lines(new, LINE_BYTES + self.bytes()).await;
            cpu.intent(Intent::Order).await;
        }
        let directory_lock = cpu.word(self.root.0 + root::LOCK);
        lock_alone(cpu, directory_lock).await;
        let is_done = self.enter(cpu, open.segment, new, (upper >> 8, shift)).await;
        if is_done {
            if self.omits != Omits::Directory {
                cpu.intent(Intent::Order).await;
            }
            open.segment.at(segment::PREFIX).store(lower).await;
            open.segment.flush().await;
            cpu.intent(Intent::Durable).await;
        }
        unlock_alone(cpu, directory_lock).await;
        unlock_alone(cpu, new.at(segment::LOCK)).await;
        is_done
    }

    /// Copies the pairs of the upper half to the same slots of a new segment, whose other slots become free.
    async fn copy_upper<'c, C: Cpu>(&self, cpu: &'c C, open: &Open<'c, C>, new: W<'c, C>, shift: W<'c, C>) {
        let mut offset = cpu.word(LINE_BYTES);
        while offset.below(LINE_BYTES + self.bytes()).branch(MORE_SLOTS) {
            let (from, to) = (open.segment + offset, new + offset);
            let key = from.load().await;
            let mut moves = false;
            if !key.is(EMPTY).branch(SLOT_IS_FREE) && !key.is(MARK).branch(SLOT_IS_CLAIMED) {
                let hash = hash(key);
                moves = open.covers(hash).branch(PAIR_IS_STALE) && ((hash >> shift) & 1).is(1).branch(PAIR_MOVES);
            }
            match moves {
                true => {
                    to.at(8).store(from.at(8).load().await).await;
                    to.store(key).await;
                }
                false => to.store(cpu.word(EMPTY)).await,
            }
            offset = offset + PAIR;
        }
    }

    /// Has the directory point to a new segment with this prefix and shift; false if it cannot double. Its lock is held.
    async fn enter<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        old: W<'c, C>,
        new: W<'c, C>,
        (prefix, shift): (W<'c, C>, W<'c, C>),
    ) -> bool {
        let directory = cpu.word(self.root.0 + root::DIRECTORY).load().await;
        let own = directory.load().await;
        if shift.less(own).branch(DIRECTORY_IS_DEEPER) {
            return self.double(cpu, (directory, own), old, new).await;
        }
        // The segment's part of the directory: one entry for each value of the bits that it does not look at.
        let below = shift - own;
        let first = (directory + ((prefix << below) << 3)).at(LINE_BYTES);
        let end = first + (cpu.word(8) << below);
        let mut entry = first;
        while entry.less(end).branch(MORE_ENTRIES) {
            entry.store(new).await;
            entry = entry + 8;
        }
        let mut line = first & !(LINE_BYTES - 1);
        while line.less(end).branch(MORE_LINES) {
            line.flush().await;
            line = line + LINE_BYTES;
        }
        true
    }

    /// Replaces the directory by one of twice the size, in which a segment has given the upper half of its hashes to a new
    /// one.
    async fn double<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        (directory, shift): (W<'c, C>, W<'c, C>),
        old: W<'c, C>,
        new: W<'c, C>,
    ) -> bool {
        let depth = 64 - shift.bits();
        if shift.is(64 - self.depths.1).branch(DIRECTORY_IS_DEEPEST) {
            return false;
        }
        let next = cpu.word(self.directory(depth + 1));
        next.store(shift - 1).await;
        let (mut from, mut to) = (directory.at(LINE_BYTES), next.at(LINE_BYTES));
        let end = from + (cpu.word(8) << (64 - shift.bits()));
        while from.less(end).branch(MORE_OLD_ENTRIES) {
            let entry = from.load().await;
            to.store(entry).await;
            let upper = match entry.equals(old).branch(ENTRY_IS_SPLIT) {
                true => new,
                false => entry,
            };
            to.at(8).store(upper).await;
            (from, to) = (from + 8, to + 16);
        }
        flush_lines(next, directory_bytes(depth + 1)).await;
        cpu.intent(Intent::Order).await;
        let root = cpu.word(self.root.0);
        root.at(root::DIRECTORY).store(next).await;
        root.flush().await;
        true
    }
}
