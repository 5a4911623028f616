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
    pub(super) async fn split<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        self.buckets.lock(cpu, open.segment).await;
        let mask = open.segment.at(segment::MASK).load().await;
        let mut is_done = true;
        if mask.equals(open.mask).branch(SPLITS_THE_SAME) {
            is_done = self.split_locked(thread, open).await;
        }
        self.buckets.unlock(cpu, open.segment).await;
        is_done
    }

    async fn split_locked<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, open: &Open<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        if self.buckets.omits != Omits::Next {
            self.directory.confirm(cpu).await;
        }
        let bit = open.mask + 1;
        let halves = Halves {
            old: open.segment,
            new: self.directory.segment(cpu, open.number + bit).await.segment,
            shift: bit.highest_one() + HASH_SHIFT,
        };
        let Halves { old, new, shift } = halves;
        self.buckets.copy_upper(cpu, old, new, shift).await;
        new.at(segment::CHAIN).store(cpu.word(0)).await;
        if !self.copy_chain(thread, &halves).await {
            self.give_chain(thread, new).await;
            return false;
        }
        if self.buckets.omits != Omits::Segment {
            flush_lines(new, self.buckets.bytes()).await;
            cpu.intent(Intent::Order).await;
        }
        cpu.primitive(Primitive::StoreBarrier).await;
        new.at(segment::MASK).store(open.mask | bit).await;
        new.flush().await;
        if self.buckets.omits != Omits::State {
            cpu.intent(Intent::Order).await;
        }
        old.at(segment::MASK).store(open.mask | bit).await;
        old.flush().await;
        cpu.intent(Intent::Order).await;
        self.drop_upper(&halves).await;
        // A slot is free durably before another record is written there.
        cpu.intent(Intent::Order).await;
        self.settle_chain(thread, &halves).await;
        cpu.intent(Intent::Durable).await;
        self.buckets.unlock(cpu, new).await;
        true
    }

    /// Inserts the upper half of the old chain into the new segment; false if there are too few stash buckets.
    async fn copy_chain<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, halves: &Halves<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let mut at = halves.old.at(segment::CHAIN).load().await;
        while !at.is(0).branch(OLD_CHAIN_ENDS) {
            let bucket = Bucket(at);
            let meta = bucket.meta().await;
            for slot in 0..SLOTS {
                let Some(used) = bucket.used_slot(meta, slot).await else {
                    continue;
                };
                if !halves.is_upper(used.hash) {
                    continue;
                }
                let record = used.record().await;
                if !self.give(thread, halves.new, &record).await {
                    return false;
                }
            }
            at = at.at(offset::NEXT).load().await;
        }
        true
    }

    /// Inserts a record into a new segment, which nobody else sees; false if there is no stash bucket for it.
    async fn give<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, new: W<'c, C>, record: &Record<'c, C>) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let mut room = self.room(cpu, new, record).await;
        if room.is_none() {
            room = self.room_in_chain(new).await.map(|bucket| (bucket, 0));
        }
        let Some((bucket, belongs)) = room else {
            return self.extend(thread, new, record).await;
        };
        let slot = bucket.free_slot().await;
        bucket.write(slot, record.key, record.value).await;
        bucket.show(cpu, slot, record.hash, belongs).await;
        bucket.0.flush().await;
        true
    }

    /// A bucket with room for a record in a segment whose locks are all held, but not in its chain; and whether the record
    /// belongs to the bucket before.
    async fn room<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        segment: W<'c, C>,
        record: &Record<'c, C>,
    ) -> Option<(Bucket<'c, C>, u64)> {
        let _call = cpu.call(2);
        let pair = self.buckets.home(cpu, segment, record.hash);
        if let Some(room) = pair.room().await {
            return Some(room);
        }
        pair.first.mark_overflow().await;
        for number in 0..STASH {
            let stash = self.buckets.stash(segment, number);
            if stash.used().await.below(SLOTS).branch(STASH_HAS_ROOM) {
                return Some((stash, 0));
            }
        }
        None
    }

    /// Drops the records that the new segment has from the old one's buckets, not from its chain.
    async fn drop_upper<'c, C: Cpu>(&self, halves: &Halves<'c, C>) {
        for bucket in self.buckets.all(halves.old) {
            let meta = bucket.meta().await;
            let mut left = meta;
            for slot in 0..SLOTS {
                let Some(used) = bucket.used_slot(meta, slot).await else {
                    continue;
                };
                if halves.is_upper(used.hash) {
                    left = left & !(1 << slot | 1 << (slot + meta::BEFORE_SHIFT));
                }
            }
            bucket.0.at(offset::META).store(left).await;
            bucket.0.flush().await;
        }
    }

    /// Moves what the old segment keeps of its chain to free slots, and frees the empty buckets of the chain.
    async fn settle_chain<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, halves: &Halves<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let mut link = halves.old.at(segment::CHAIN);
        loop {
            let at = link.load().await;
            if at.is(0).branch(LEFT_CHAIN_ENDS) {
                return;
            }
            let left = self.settle(cpu, halves, &Bucket(at)).await;
            // A crash leaves a record twice rather than never.
            cpu.intent(Intent::Order).await;
            if !(left & meta::USED).is(0).branch(BUCKET_IS_EMPTY) {
                at.at(offset::META).store(left).await;
                at.flush().await;
                link = at.at(offset::NEXT);
                continue;
            }
            link.store(at.at(offset::NEXT).load().await).await;
            link.flush().await;
            cpu.intent(Intent::Durable).await;
            self.free.give(cpu, thread.thread, at, &thread.log).await;
        }
    }

    /// Moves what the old segment keeps of a bucket of its chain to free slots; the metadata of what stays.
    async fn settle<'c, C: Cpu>(&self, cpu: &'c C, halves: &Halves<'c, C>, bucket: &Bucket<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        let meta = bucket.meta().await;
        let mut left = meta;
        for slot in 0..SLOTS {
            let Some(used) = bucket.used_slot(meta, slot).await else {
                continue;
            };
            let mut moves = halves.is_upper(used.hash);
            if !moves {
                let record = used.record().await;
                if let Some((bucket, belongs)) = self.room(cpu, halves.old, &record).await {
                    self.buckets.write(cpu, &bucket, &record, belongs).await;
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
    async fn give_chain<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, segment: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let mut at = segment.at(segment::CHAIN).load().await;
        while !at.is(0).branch(GIVEN_CHAIN_ENDS) {
            let next = at.at(offset::NEXT).load().await;
            self.free.give(thread.cpu, thread.thread, at, &thread.log).await;
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
    async fn used_slot(&self, meta: W<'c, C>, slot: u64) -> Option<Used<'c, C>> {
        let _call = meta.call(2);
        if !((meta >> slot) & 1).is(1).branch(SLOT_IS_USED) {
            return None;
        }
        let at = self.0.at(offset::RECORDS + 16 * slot);
        let key = at.load().await;
        Some(Used {
            at,
            key,
            hash: hash(key),
        })
    }
}

impl<'c, C: Cpu> Used<'c, C> {
    async fn record(&self) -> Record<'c, C> {
        Record {
            key: self.key,
            hash: self.hash,
            value: self.at.at(8).load().await,
        }
    }
}
