//! What both hash tables of Dash share: the buckets of a segment, and the operations within it.
//!
//! Lu et al., "Dash: Scalable Hashing on Persistent Memory" (VLDB 2020), section 4: a segment has a line of its own, a
//! power of two of buckets, and two buckets of a stash for what overflows.

pub(crate) mod bucket;
mod recovery;
mod split;

use crate::maps::hash;
use bucket::{meta, Bucket, BUCKET, SLOTS};
use strandline_isa::{sites, Cpu, Intent, LINE_BYTES, W};
use strandline_kernel::{Param, Params};

sites! {
    NEXT_WRAPS = 0x6232_062e;
    FIRST_HAS_LESS = 0x27ed_11e7;
    FIRST_IS_FULL = 0xdfc3_90e2;
    SECOND_IS_FULL = 0x56e2_44f7;
    BUCKET_OVERFLOWS = 0x1399_7e64;
    NEIGHBOUR_IS_FULL = 0xfbc7_d166;
    STASH_IS_FULL = 0xdeb4_30c0;
}

/// The parameter: how many buckets a segment has.
pub(crate) const BUCKETS: Param = Param {
    name: "buckets",
    default: 64,
    min: 2,
    max: 1 << 12,
    help: "buckets of a segment beside the two of its stash; rounded up to a power of two",
    source: "",
    words: &[],
};

/// Bits of a hash below those that choose a segment, if these are not its highest: a fingerprint, and the number of one
/// of the most buckets.
pub(crate) const LOW_BITS: u64 = 8 + 12;

const _: () = assert!(1 << (LOW_BITS - 8) == BUCKETS.max);

/// Buckets of a segment's stash.
pub(crate) const STASH: u64 = 2;

/// What a faulty program leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Omits {
    Nothing,
    /// The order of a record before its metadata.
    Record,
    /// The flush of metadata.
    Metadata,
    /// The order of a new segment before what shows it.
    Segment,
    /// `dash-eh`: the order of the directory before the old segment.
    Directory,
    /// `dash-lh`: the order of a new segment's state before the old segment.
    State,
    /// `dash-lh`: that Next is durable before a new segment is whole, by any thread.
    Next,
}

/// The buckets of a segment.
pub(crate) struct Buckets {
    /// How many there are without the stash: a power of two.
    pub count: u64,
    pub omits: Omits,
}

/// A key, its hash, and the value that it is given.
pub(crate) struct Record<'c, C: Cpu> {
    pub key: W<'c, C>,
    pub hash: W<'c, C>,
    pub value: W<'c, C>,
}

/// A key's two buckets in a segment.
pub(crate) struct Pair<'c, C: Cpu> {
    pub first: Bucket<'c, C>,
    pub second: Bucket<'c, C>,
}

/// Where a record is.
pub(crate) struct RecordPlace<'c, C: Cpu> {
    pub bucket: Bucket<'c, C>,
    pub slot: W<'c, C>,
    /// The lock of the stash, if it is there; otherwise the bucket's own.
    stash: Option<Bucket<'c, C>>,
}

/// What became of an insertion.
pub(crate) enum Attempt {
    Done,
    Full,
}

impl Buckets {
    /// As many as `workload.buckets` says.
    pub fn of(params: &Params, omits: Omits) -> Buckets {
        Buckets {
            count: params.get("buckets").next_power_of_two(),
            omits,
        }
    }

    /// Bytes of a segment.
    pub fn bytes(&self) -> u64 {
        LINE_BYTES + (self.count + STASH) * BUCKET
    }

    /// All buckets of a segment, those of the stash last.
    pub fn all<'c, C: Cpu>(&self, segment: W<'c, C>) -> impl Iterator<Item = Bucket<'c, C>> {
        (0..self.count + STASH).map(move |index| Bucket(segment.at(LINE_BYTES + index * BUCKET)))
    }

    /// Locks a whole segment.
    pub fn lock<'c, C: Cpu>(&self, cpu: &'c C, segment: W<'c, C>) {
        for bucket in self.all(segment) {
            bucket.lock(cpu);
        }
    }

    /// Unlocks a whole segment.
    pub fn unlock<'c, C: Cpu>(&self, cpu: &'c C, segment: W<'c, C>) {
        for bucket in self.all(segment) {
            bucket.unlock(cpu);
        }
    }

    /// A hash's bucket in a segment, and the next.
    pub fn home<'c, C: Cpu>(&self, cpu: &'c C, segment: W<'c, C>, hash: W<'c, C>) -> Pair<'c, C> {
        let index = (hash >> 8) & (self.count - 1);
        let next = match index.is(self.count - 1).branch(NEXT_WRAPS) {
            true => cpu.word(0),
            false => index + 1,
        };
        let at = |index: W<'c, C>| Bucket((segment + (index << u64::from(BUCKET.trailing_zeros()))).at(LINE_BYTES));
        Pair {
            first: at(index),
            second: at(next),
        }
    }

    /// A bucket of the stash.
    pub fn stash<'c, C: Cpu>(&self, segment: W<'c, C>, number: u64) -> Bucket<'c, C> {
        Bucket(segment.at(LINE_BYTES + (self.count + number) * BUCKET))
    }

    /// The bucket beside one of a segment's.
    fn beside<'c, C: Cpu>(&self, segment: W<'c, C>, bucket: &Bucket<'c, C>, forwards: bool) -> Bucket<'c, C> {
        let first = segment.at(LINE_BYTES);
        let step = if forwards { BUCKET } else { (self.count - 1) * BUCKET };
        Bucket(first + ((bucket.0 - first + step) & (self.count * BUCKET - 1)))
    }

    /// A key's place in its segment.
    pub fn find<'c, C: Cpu>(
        &self,
        segment: W<'c, C>,
        pair: &Pair<'c, C>,
        (key, hash): (W<'c, C>, W<'c, C>),
    ) -> Option<RecordPlace<'c, C>> {
        let _call = segment.call(2);
        if let Some(place) = pair.find((key, hash)) {
            return Some(place);
        }
        match pair.overflows() {
            true => self.find_in_stash(segment, (key, hash)),
            false => None,
        }
    }

    /// A key's place in its segment's stash.
    pub fn find_in_stash<'c, C: Cpu>(
        &self,
        segment: W<'c, C>,
        (key, hash): (W<'c, C>, W<'c, C>),
    ) -> Option<RecordPlace<'c, C>> {
        let _call = segment.call(1);
        for number in 0..STASH {
            let bucket = self.stash(segment, number);
            if let Some(slot) = bucket.find(key, hash) {
                return Some(RecordPlace::in_stash(bucket, slot, bucket));
            }
        }
        None
    }

    /// Inserts a record into one of its locked buckets or the stash.
    pub fn insert<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        segment: W<'c, C>,
        pair: &Pair<'c, C>,
        record: &Record<'c, C>,
    ) -> Attempt {
        let _call = cpu.call(3);
        if let Some((bucket, belongs)) = pair.room() {
            self.write(cpu, &bucket, record, belongs);
            return Attempt::Done;
        }
        if self.displace(cpu, &pair.second, &self.beside(segment, &pair.second, true), true) {
            self.write(cpu, &pair.second, record, meta::BEFORE);
            return Attempt::Done;
        }
        if self.displace(cpu, &pair.first, &self.beside(segment, &pair.first, false), false) {
            self.write(cpu, &pair.first, record, 0);
            return Attempt::Done;
        }
        for number in 0..STASH {
            let stash = self.stash(segment, number);
            stash.lock(cpu);
            let has_room = !stash.used().is(SLOTS).branch(STASH_IS_FULL);
            if has_room {
                // In either order: both are under the locks of the pair, and a search that meets one alone begins again.
                pair.first.mark_overflow();
                self.write(cpu, &stash, record, 0);
                cpu.intent(Intent::Durable);
            }
            stash.unlock(cpu);
            if has_room {
                return Attempt::Done;
            }
        }
        Attempt::Full
    }

    /// Moves a record of a locked full bucket to the bucket beside it, to which it may belong as well; whether there was
    /// one, and room for it. `forwards`: one that belongs to the bucket itself moves to the next; otherwise one that belongs
    /// to the bucket before moves there.
    fn displace<'c, C: Cpu>(&self, cpu: &'c C, from: &Bucket<'c, C>, to: &Bucket<'c, C>, forwards: bool) -> bool {
        let _call = cpu.call(3);
        // Whoever holds it may wait for ours.
        if !to.try_lock(cpu) {
            return false;
        }
        let mut moves = false;
        if !to.used().is(SLOTS).branch(NEIGHBOUR_IS_FULL) {
            if let Some((slot, key, value)) = from.movable(forwards) {
                let hash = hash(key);
                let record = Record { key, hash, value };
                self.write(cpu, to, &record, if forwards { meta::BEFORE } else { 0 });
                // A crash leaves it twice rather than never.
                cpu.intent(Intent::Order);
                from.drop_slot(cpu, slot);
                cpu.intent(Intent::Durable);
                moves = true;
            }
        }
        to.unlock(cpu);
        moves
    }

    /// Writes a record into a free slot of a locked bucket, then the metadata that makes it visible.
    pub fn write<'c, C: Cpu>(&self, cpu: &'c C, bucket: &Bucket<'c, C>, record: &Record<'c, C>, belongs: u64) {
        let _call = cpu.call(3);
        let slot = bucket.free_slot();
        bucket.write(slot, record.key, record.value);
        if self.omits != Omits::Record {
            cpu.intent(Intent::Order);
        }
        bucket.show(cpu, slot, record.hash, belongs);
        if self.omits != Omits::Metadata {
            bucket.0.flush();
        }
    }
}

impl<'c, C: Cpu> Pair<'c, C> {
    /// Locks both, the one at the lower address first.
    pub fn lock(&self, cpu: &'c C) {
        let _call = cpu.call(0);
        let [low, high] = match self.first.0.bits() < self.second.0.bits() {
            true => [self.first, self.second],
            false => [self.second, self.first],
        };
        low.lock(cpu);
        high.lock(cpu);
    }

    /// Unlocks both.
    pub fn unlock(&self, cpu: &'c C) {
        self.first.unlock(cpu);
        self.second.unlock(cpu);
    }

    /// A key's place in these buckets.
    pub fn find(&self, (key, hash): (W<'c, C>, W<'c, C>)) -> Option<RecordPlace<'c, C>> {
        for bucket in [self.first, self.second] {
            if let Some(slot) = bucket.find(key, hash) {
                return Some(RecordPlace {
                    bucket,
                    slot,
                    stash: None,
                });
            }
        }
        None
    }

    /// Whether records that belong to the first bucket may be in the stash.
    pub fn overflows(&self) -> bool {
        !(self.first.meta() & meta::OVERFLOWS).is(0).branch(BUCKET_OVERFLOWS)
    }

    /// The emptier bucket, unless both are full, and [`meta::BEFORE`] or 0: whether a record there belongs to the bucket
    /// before.
    pub fn room(&self) -> Option<(Bucket<'c, C>, u64)> {
        let (first, second) = (self.first.used(), self.second.used());
        let is_first = !second.less(first).branch(FIRST_HAS_LESS);
        if is_first && !first.is(SLOTS).branch(FIRST_IS_FULL) {
            return Some((self.first, 0));
        }
        match second.is(SLOTS).branch(SECOND_IS_FULL) {
            true => None,
            false => Some((self.second, meta::BEFORE)),
        }
    }
}

impl<'c, C: Cpu> RecordPlace<'c, C> {
    /// A place in the stash, which has this lock.
    pub fn in_stash(bucket: Bucket<'c, C>, slot: W<'c, C>, lock: Bucket<'c, C>) -> Self {
        RecordPlace {
            bucket,
            slot,
            stash: Some(lock),
        }
    }

    /// Removes the record, whose key's buckets are locked, and makes that durable.
    pub fn clear(&self, cpu: &'c C) {
        let _call = cpu.call(0);
        if let Some(stash) = self.stash {
            stash.lock(cpu);
        }
        self.bucket.drop_slot(cpu, self.slot);
        cpu.intent(Intent::Durable);
        if let Some(stash) = self.stash {
            stash.unlock(cpu);
        }
    }
}
