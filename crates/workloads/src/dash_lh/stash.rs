//! The chain of a segment's stash buckets.

use super::{segment, DashLh};
use crate::dash::bucket::{meta, offset, Bucket, SLOTS};
use crate::dash::{Pair, Record, RecordPlace};
use crate::maps::flush_lines;
use strandline_isa::{sites, Cpu, Intent, Primitive, LINE_BYTES, W};
use strandline_runtime::ThreadState;

sites! {
    CHAIN_ENDS = 0x5e6b_2918;
    SEARCHED_CHAIN_ENDS = 0xde41_b972;
    CHAINED_IS_FULL = 0x7048_07eb;
}

/// What an insertion has added.
pub(super) enum Added {
    Record,
    /// A bucket to the chain, with the record.
    Bucket,
    /// There was no room.
    Nothing,
}

impl DashLh {
    /// A key's place in its segment or in the chain.
    pub(super) fn find<'c, C: Cpu>(
        &self,
        segment: W<'c, C>,
        pair: &Pair<'c, C>,
        (key, hash): (W<'c, C>, W<'c, C>),
    ) -> Option<RecordPlace<'c, C>> {
        let _call = segment.call(2);
        if let Some(place) = pair.find((key, hash)) {
            return Some(place);
        }
        if !pair.overflows() {
            return None;
        }
        if let Some(place) = self.buckets.find_in_stash(segment, (key, hash)) {
            return Some(place);
        }
        let mut at = segment.at(segment::CHAIN).load();
        while !at.is(0).branch(SEARCHED_CHAIN_ENDS) {
            if let Some(slot) = Bucket(at).find(key, hash) {
                return Some(RecordPlace::in_stash(Bucket(at), slot, self.buckets.stash(segment, 0)));
            }
            at = at.at(offset::NEXT).load();
        }
        None
    }

    /// Inserts a record into the chain.
    pub(super) fn chain<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        segment: W<'c, C>,
        pair: &Pair<'c, C>,
        record: &Record<'c, C>,
    ) -> Added {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let lock = self.buckets.stash(segment, 0);
        lock.lock(cpu);
        pair.first.mark_overflow();
        let added = match self.room_in_chain(segment) {
            Some(bucket) => {
                self.buckets.write(cpu, &bucket, record, 0);
                Added::Record
            }
            None => match self.extend(thread, segment, record) {
                true => Added::Bucket,
                false => Added::Nothing,
            },
        };
        cpu.intent(Intent::Durable);
        lock.unlock(cpu);
        added
    }

    /// A bucket of the chain that is not full.
    pub(super) fn room_in_chain<'c, C: Cpu>(&self, segment: W<'c, C>) -> Option<Bucket<'c, C>> {
        let _call = segment.call(1);
        let mut at = segment.at(segment::CHAIN).load();
        while !at.is(0).branch(CHAIN_ENDS) {
            let bucket = Bucket(at);
            if !bucket.used().is(SLOTS).branch(CHAINED_IS_FULL) {
                return Some(bucket);
            }
            at = at.at(offset::NEXT).load();
        }
        None
    }

    /// Puts a new bucket with a record at the front of a chain; false if there is none.
    pub(super) fn extend<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        segment: W<'c, C>,
        record: &Record<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return false;
        };
        let (new, link) = (taken.row(), segment.at(segment::CHAIN));
        new.at(offset::NEXT).store(link.load());
        new.at(offset::META).store(cpu.word(0));
        let (bucket, first) = (Bucket(new), cpu.word(0));
        bucket.write(first, record.key, record.value);
        bucket.show(cpu, first, record.hash, 0);
        flush_lines(new, LINE_BYTES);
        cpu.intent(Intent::Order);
        cpu.primitive(Primitive::StoreBarrier);
        link.store(new);
        link.flush();
        true
    }
}

const _: () = assert!(
    offset::RECORDS < LINE_BYTES,
    "a bucket's first record is in its first line"
);
const _: () = assert!(meta::USED & 1 == 1);
