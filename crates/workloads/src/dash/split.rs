//! What a new segment takes from the segment that is split.

use super::bucket::{meta, offset, Bucket, SLOTS};
use super::Buckets;
use crate::maps::hash;
use strandline_isa::{sites, Cpu, W};

sites! {
    SLOT_IS_USED = 0xd208_c3dc;
    RECORD_MOVES = 0xe581_16df;
}

impl Buckets {
    /// Copies the records of the upper half to the same slots of a new segment, whose buckets are born locked. The upper
    /// half has the bit `shift` of its hashes.
    pub fn copy_upper<'c, C: Cpu>(&self, cpu: &'c C, old: W<'c, C>, new: W<'c, C>, shift: W<'c, C>) {
        for (from, to) in self.all(old).zip(self.all(new)) {
            from.copy_upper(cpu, to.0, shift);
        }
    }
}

impl<'c, C: Cpu> Bucket<'c, C> {
    fn copy_upper(&self, cpu: &'c C, to: W<'c, C>, shift: W<'c, C>) {
        let _call = cpu.call(2);
        let from = self.0;
        let old = from.at(offset::META).load();
        let mut moved = cpu.word(0);
        for slot in 0..SLOTS {
            if !((old >> slot) & 1).is(1).branch(SLOT_IS_USED) {
                continue;
            }
            let at = offset::RECORDS + 16 * slot;
            let key = from.at(at).load();
            if ((hash(key) >> shift) & 1).is(1).branch(RECORD_MOVES) {
                to.at(at).store(key);
                to.at(at + 8).store(from.at(at + 8).load());
                moved = moved | ((1 << slot) | (1 << (slot + meta::BEFORE_SHIFT)));
            }
        }
        for offset in [offset::FINGERPRINTS, offset::FINGERPRINTS + 8] {
            to.at(offset).store(from.at(offset).load());
        }
        let meta = old & (moved | meta::OVERFLOWS);
        to.at(offset::META).store(meta);
        to.at(offset::VERSION).store(cpu.word(1));
    }

    /// Drops the records that are in the same slots of another bucket, and flushes that.
    pub fn drop_those_of(&self, to: &Bucket<'c, C>) {
        let moved = to.meta();
        let meta = self.meta();
        let left = (meta | moved) ^ moved | (meta & meta::OVERFLOWS);
        self.0.at(offset::META).store(left);
        self.0.flush();
    }
}
