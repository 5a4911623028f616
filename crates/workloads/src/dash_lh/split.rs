//! Splits of segments.

use super::directory::{Open, HASH_SHIFT};
use super::{segment, DashLh, Omits};
use crate::dash::bucket::{meta, offset, Bucket, SLOTS};
use crate::dash::{Record, STASH};
use crate::maps::{flush_lines, hash};
use strandline_isa::{sites, Cpu, Intent, Primitive, W};
use strandline_runtime::ThreadState;

sites! {
    SPLITS_THE_SAME = 0x18e1_8a57;
    OLD_CHAIN_ENDS = 0x289d_2bd5;
    LEFT_CHAIN_ENDS = 0xc672_30da;
    GIVEN_CHAIN_ENDS = 0x9011_1026;
    SLOT_IS_USED = 0xd61c_cd75;
    HASH_IS_UPPER = 0x68ad_422f;
    STASH_HAS_ROOM = 0xd963_9900;
    BUCKET_IS_EMPTY = 0x028c_4d3b;
}

/// A segment that is split into itself and a new one.
struct Halves<'c, C: Cpu> {
    old: W<'c, C>,
    new: W<'c, C>,
    /// The bit of a hash that chooses.
    shift: W<'c, C>,
}

/// A slot with a record.
struct Used<'c, C: Cpu> {
    at: W<'c, C>,
    key: W<'c, C>,
    hash: W<'c, C>,
}

impl DashLh {
    /// Has a segment give the half to a new segment whose turn it is; false if there are too few stash buckets. If it was
    /// split meanwhile, there is nothing to do.
    pub(super) fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        self.buckets.lock(cpu, open.segment);
        let mask = open.segment.at(segment::MASK).load();
        let mut is_done = true;
        if mask.equals(open.mask).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open);
        }
        self.buckets.unlock(cpu, open.segment);
        is_done
    }

    fn split_locked<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        if self.buckets.omits != Omits::Next {
            self.directory.confirm(cpu);
        }
        let bit = open.mask + 1;
        let halves = Halves {
            old: open.segment,
            new: self.directory.segment(cpu, open.number + bit).segment,
            shift: bit.highest_one() + HASH_SHIFT,
        };
        let Halves { old, new, shift } = halves;
        self.buckets.copy_upper(cpu, old, new, shift);
        new.at(segment::CHAIN).store(cpu.word(0));
        if !self.copy_chain(thread, &halves) {
            self.give_chain(thread, new);
            return false;
        }
        if self.buckets.omits != Omits::Segment {
            flush_lines(new, self.buckets.bytes());
            cpu.intent(Intent::Order);
        }
        cpu.primitive(Primitive::StoreBarrier);
        new.at(segment::MASK).store(open.mask | bit);
        new.flush();
        if self.buckets.omits != Omits::State {
            cpu.intent(Intent::Order);
        }
        old.at(segment::MASK).store(open.mask | bit);
        old.flush();
        cpu.intent(Intent::Order);
        self.drop_upper(&halves);
        // A slot is free durably before another record is written there.
        cpu.intent(Intent::Order);
        self.settle_chain(thread, &halves);
        cpu.intent(Intent::Durable);
        self.buckets.unlock(cpu, new);
        true
    }

    /// Inserts the upper half of the old chain into the new segment; false if there are too few stash buckets.
    fn copy_chain<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, halves: &Halves<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let mut at = halves.old.at(segment::CHAIN).load();
        while !at.is(0).branch(OLD_CHAIN_ENDS) {
            let bucket = Bucket(at);
            let meta = bucket.meta();
            for slot in 0..SLOTS {
                let Some(used) = bucket.used_slot(meta, slot) else {
                    continue;
                };
                if !halves.is_upper(used.hash) {
                    continue;
                }
                let record = used.record();
                if !self.give(thread, halves.new, &record) {
                    return false;
                }
            }
            at = at.at(offset::NEXT).load();
        }
        true
    }

    /// Inserts a record into a new segment, which nobody else sees; false if there is no stash bucket for it.
    fn give<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, new: W<'c, C>, record: &Record<'c, C>) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let mut room = self.room(cpu, new, record);
        if room.is_none() {
            room = self.room_in_chain(new).map(|bucket| (bucket, 0));
        }
        let Some((bucket, belongs)) = room else {
            return self.extend(thread, new, record);
        };
        let slot = bucket.free_slot();
        bucket.write(slot, record.key, record.value);
        bucket.show(cpu, slot, record.hash, belongs);
        bucket.0.flush();
        true
    }

    /// A bucket with room for a record in a segment whose locks are all held, but not in its chain; and whether the record
    /// belongs to the bucket before.
    fn room<'c, C: Cpu>(&self, cpu: &'c C, segment: W<'c, C>, record: &Record<'c, C>) -> Option<(Bucket<'c, C>, u64)> {
        let _call = cpu.call(2);
        let pair = self.buckets.home(cpu, segment, record.hash);
        if let Some(room) = pair.room() {
            return Some(room);
        }
        pair.first.mark_overflow();
        for number in 0..STASH {
            let stash = self.buckets.stash(segment, number);
            if stash.used().below(SLOTS).branch(STASH_HAS_ROOM) {
                return Some((stash, 0));
            }
        }
        None
    }

    /// Drops the records that the new segment has from the old one's buckets, not from its chain.
    fn drop_upper<'c, C: Cpu>(&self, halves: &Halves<'c, C>) {
        for bucket in self.buckets.all(halves.old) {
            let meta = bucket.meta();
            let mut left = meta;
            for slot in 0..SLOTS {
                let Some(used) = bucket.used_slot(meta, slot) else {
                    continue;
                };
                if halves.is_upper(used.hash) {
                    left = left & !(1 << slot | 1 << (slot + meta::BEFORE_SHIFT));
                }
            }
            bucket.0.at(offset::META).store(left);
            bucket.0.flush();
        }
    }

    /// Moves what the old segment keeps of its chain to free slots, and frees the empty buckets of the chain.
    fn settle_chain<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, halves: &Halves<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let mut link = halves.old.at(segment::CHAIN);
        loop {
            let at = link.load();
            if at.is(0).branch(LEFT_CHAIN_ENDS) {
                return;
            }
            let left = self.settle(cpu, halves, &Bucket(at));
            // A crash leaves a record twice rather than never.
            cpu.intent(Intent::Order);
            if !(left & meta::USED).is(0).branch(BUCKET_IS_EMPTY) {
                at.at(offset::META).store(left);
                at.flush();
                link = at.at(offset::NEXT);
                continue;
            }
            link.store(at.at(offset::NEXT).load());
            link.flush();
            cpu.intent(Intent::Durable);
            self.free.give(cpu, thread.thread, at, &thread.log);
        }
    }

    /// Moves what the old segment keeps of a bucket of its chain to free slots; the metadata of what stays.
    fn settle<'c, C: Cpu>(&self, cpu: &'c C, halves: &Halves<'c, C>, bucket: &Bucket<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        let meta = bucket.meta();
        let mut left = meta;
        for slot in 0..SLOTS {
            let Some(used) = bucket.used_slot(meta, slot) else {
                continue;
            };
            let mut moves = halves.is_upper(used.hash);
            if !moves {
                let record = used.record();
                if let Some((bucket, belongs)) = self.room(cpu, halves.old, &record) {
                    self.buckets.write(cpu, &bucket, &record, belongs);
                    moves = true;
                }
            }
            if moves {
                left = left & !(1 << slot);
            }
        }
        left
    }

    /// Gives the buckets of a chain back that nobody else has seen.
    fn give_chain<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, segment: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let mut at = segment.at(segment::CHAIN).load();
        while !at.is(0).branch(GIVEN_CHAIN_ENDS) {
            let next = at.at(offset::NEXT).load();
            self.free.give(thread.cpu, thread.thread, at, &thread.log);
            at = next;
        }
    }
}

impl<'c, C: Cpu> Halves<'c, C> {
    fn is_upper(&self, hash: W<'c, C>) -> bool {
        ((hash >> self.shift) & 1).is(1).branch(HASH_IS_UPPER)
    }
}

impl<'c, C: Cpu> Bucket<'c, C> {
    /// A slot, if this metadata has a record there.
    fn used_slot(&self, meta: W<'c, C>, slot: u64) -> Option<Used<'c, C>> {
        let _call = meta.call(2);
        if !((meta >> slot) & 1).is(1).branch(SLOT_IS_USED) {
            return None;
        }
        let at = self.0.at(offset::RECORDS + 16 * slot);
        let key = at.load();
        Some(Used {
            at,
            key,
            hash: hash(key),
        })
    }
}

impl<'c, C: Cpu> Used<'c, C> {
    fn record(&self) -> Record<'c, C> {
        Record {
            key: self.key,
            hash: self.hash,
            value: self.at.at(8).load(),
        }
    }
}
