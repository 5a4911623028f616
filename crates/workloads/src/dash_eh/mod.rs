//! `dash-eh`: extendible hashing with fingerprints, balanced buckets and a stash, without a log.
//!
//! Lu et al., "Dash: Scalable Hashing on Persistent Memory" (VLDB 2020), section 4: a directory of segments, each of 64
//! buckets of 256 bytes and two more for what overflows. A bucket has a version lock, a word of metadata (which of its 14
//! slots hold records, and which of these belong to the bucket before), a byte of each key's hash, and the records.
//!
//! - *Insertion* (4.3): the emptier of a key's bucket and the next one takes the record; if both are full, a record of one
//!   of them moves on to a neighbour; if none can, a stash bucket takes the new one. The record is durable before the
//!   metadata that makes it visible: two flushes and two fences.
//! - *Locks* are versions, odd while held. Writers hold those of a key's two buckets until what they did is durable.
//!   Searches take none, and begin again if a version has changed.
//! - *Split* (4.7): with all locks of the segment held, what belongs to the upper half is copied to a new segment, which is
//!   durable before the directory points to it; the directory is durable before the old segment says that it has lost that
//!   half, and that before its records are dropped.
//! - *Recovery* (4.8): a split that has reached the directory is completed; records of the other half are dropped, and the
//!   older copy of one that was moving; locks are free; which buckets overflow is found out again. The paper does this at
//!   the first access to a segment.
//!
//! Not in the paper: a new segment keeps each record in its slot; the paper inserts it anew. A bucket that has overflowed
//! once is looked for in the stash until recovery.

mod bucket;
mod recovery;
mod split;

use crate::extendible::{Extendible, Open};
use crate::maps::{self, hash, Map, DELETES};
use crate::zipf::theta;
use crate::About;
use bucket::{meta, Bucket, BUCKET, SLOTS};
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Intent, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, LockKind, ThreadState};

sites! {
    STILL_COVERS = 0xe902_9e65;
    NEXT_WRAPS = 0x6232_062e;
    FIRST_HAS_LESS = 0x27ed_11e7;
    FIRST_IS_FULL = 0xdfc3_90e2;
    SECOND_IS_FULL = 0x56e2_44f7;
    BUCKET_OVERFLOWS = 0x1399_7e64;
    SEARCH_OVERFLOWS = 0xc970_587e;
    FIRST_STAYED = 0xa357_8802;
    SECOND_STAYED = 0xed64_8793;
    NEIGHBOUR_IS_FULL = 0xfbc7_d166;
    STASH_IS_FULL = 0xdeb4_30c0;
    SEGMENT_STAYED = 0x2cae_64dc;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "dash-eh",
    aliases: &[],
    line: "inserts into an extendible hash table with fingerprints and a stash",
    paper: "ASAP (HPCA 2022), Table III, after Dash (VLDB 2020)",
    machine: "asap",
    runtime: "undo",
    lock: LockKind::Test,
    tasks: 40_000,
    params: PARAMS,
    small: &[
        ("keys", "400"),
        ("init_ops", "90"),
        ("depth", "1"),
        ("buckets", "2"),
        ("segments", "8"),
        ("reads", "10"),
        ("deletes", "15"),
    ],
};

const PARAMS: &[Param] = &[
    maps::keys(1 << 32),
    maps::init_ops(4_000),
    maps::reads(0),
    theta(0),
    DELETES,
    Param {
        name: "depth",
        default: 6,
        min: 1,
        max: 24,
        help: "bits of a hash that choose a segment at first: the public program begins with 64 segments",
        words: &[],
    },
    Param {
        name: "buckets",
        default: 64,
        min: 2,
        max: 1 << 12,
        help: "buckets of a segment beside the two of its stash; rounded up to a power of two",
        words: &[],
    },
    Param {
        name: "segments",
        default: 4096,
        min: 2,
        max: 1 << 20,
        help: "segments that there is room for",
        words: &[],
    },
    Param {
        name: "omits",
        default: 0,
        min: 0,
        max: 4,
        help: "what a faulty program leaves out: the order of a record before its metadata, the flush of metadata, the order of a new segment before the directory, or that of the directory before the old segment",
        words: &["nothing", "record", "metadata", "segment", "directory"],
    },
];

/// Buckets of a segment's stash.
const STASH: u64 = 2;

/// What a faulty program leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Omits {
    Nothing,
    Record,
    Metadata,
    Segment,
    Directory,
}

/// The hash table.
pub struct DashEh {
    table: Extendible,
    free: FreeLists,
    /// Buckets of a segment without its stash.
    buckets: u64,
    omits: Omits,
}

/// A key, its hash, and the value that it is given.
struct Record<'c, C: Cpu> {
    key: W<'c, C>,
    hash: W<'c, C>,
    value: W<'c, C>,
}

/// A key's two buckets in a segment.
struct Pair<'c, C: Cpu> {
    first: Bucket<'c, C>,
    second: Bucket<'c, C>,
}

/// What became of an insertion.
enum Attempt {
    Done,
    Full,
}

impl DashEh {
    /// Bytes of a segment.
    fn bytes(&self) -> u64 {
        LINE_BYTES + (self.buckets + STASH) * BUCKET
    }

    /// A hash's bucket, by its offset in a segment, and the next.
    fn home<'c, C: Cpu>(&self, cpu: &'c C, segment: W<'c, C>, hash: W<'c, C>) -> Pair<'c, C> {
        let index = (hash >> 8) & (self.buckets - 1);
        let next = match index.is(self.buckets - 1).branch(NEXT_WRAPS) {
            true => cpu.word(0),
            false => index + 1,
        };
        let at = |index: W<'c, C>| Bucket((segment + (index << u64::from(BUCKET.trailing_zeros()))).at(LINE_BYTES));
        Pair {
            first: at(index),
            second: at(next),
        }
    }

    fn stash<'c, C: Cpu>(&self, segment: W<'c, C>, number: u64) -> Bucket<'c, C> {
        Bucket(segment.at(LINE_BYTES + (self.buckets + number) * BUCKET))
    }

    /// The bucket beside one of a segment's.
    fn beside<'c, C: Cpu>(&self, segment: W<'c, C>, bucket: &Bucket<'c, C>, forwards: bool) -> Bucket<'c, C> {
        let first = segment.at(LINE_BYTES);
        let step = if forwards { BUCKET } else { (self.buckets - 1) * BUCKET };
        Bucket(first + ((bucket.0 - first + step) & (self.buckets * BUCKET - 1)))
    }

    /// Locks a hash's two buckets in the segment that the directory has for it.
    async fn lock<'c, C: Cpu>(&self, cpu: &'c C, hash: W<'c, C>) -> (Open<'c, C>, Pair<'c, C>) {
        loop {
            let mut open = self.table.open(cpu, hash).await;
            let pair = self.home(cpu, open.segment, hash);
            pair.lock(cpu).await;
            open.prefix = open.segment.load().await;
            if open.covers(hash).branch(STILL_COVERS) {
                return (open, pair);
            }
            pair.unlock(cpu).await;
        }
    }

    /// The slot of a key in its locked buckets or in the stash: its bucket and its number.
    async fn find<'c, C: Cpu>(
        &self,
        segment: W<'c, C>,
        pair: &Pair<'c, C>,
        (key, hash): (W<'c, C>, W<'c, C>),
    ) -> Option<(Bucket<'c, C>, W<'c, C>)> {
        for bucket in [pair.first, pair.second] {
            if let Some(slot) = bucket.find(key, hash).await {
                return Some((bucket, slot));
            }
        }
        if (pair.first.meta().await & meta::OVERFLOWS)
            .is(0)
            .branch(BUCKET_OVERFLOWS)
        {
            return None;
        }
        for number in 0..STASH {
            let bucket = self.stash(segment, number);
            if let Some(slot) = bucket.find(key, hash).await {
                return Some((bucket, slot));
            }
        }
        None
    }

    /// Inserts a record into one of its locked buckets or the stash.
    async fn insert<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        segment: W<'c, C>,
        pair: &Pair<'c, C>,
        record: &Record<'c, C>,
    ) -> Attempt {
        let (first, second) = (pair.first.used().await, pair.second.used().await);
        let is_first = !second.less(first).branch(FIRST_HAS_LESS);
        if is_first && !first.is(SLOTS).branch(FIRST_IS_FULL) {
            self.write(cpu, &pair.first, record, 0).await;
            return Attempt::Done;
        }
        if !second.is(SLOTS).branch(SECOND_IS_FULL) {
            self.write(cpu, &pair.second, record, meta::BEFORE).await;
            return Attempt::Done;
        }
        if self
            .displace(cpu, &pair.second, &self.beside(segment, &pair.second, true), true)
            .await
        {
            self.write(cpu, &pair.second, record, meta::BEFORE).await;
            return Attempt::Done;
        }
        if self
            .displace(cpu, &pair.first, &self.beside(segment, &pair.first, false), false)
            .await
        {
            self.write(cpu, &pair.first, record, 0).await;
            return Attempt::Done;
        }
        for number in 0..STASH {
            let stash = self.stash(segment, number);
            stash.lock(cpu).await;
            let has_room = !stash.used().await.is(SLOTS).branch(STASH_IS_FULL);
            if has_room {
                // A search looks into the stash before it finds the record there.
                pair.first.overflows().await;
                self.write(cpu, &stash, record, 0).await;
                cpu.intent(Intent::Durable).await;
            }
            stash.unlock(cpu).await;
            if has_room {
                return Attempt::Done;
            }
        }
        Attempt::Full
    }

    /// Moves a record of a locked full bucket to the bucket beside it, to which it may belong as well; whether there was
    /// one, and room for it. `forwards`: one that belongs to the bucket itself moves to the next; otherwise one that belongs
    /// to the bucket before moves there.
    async fn displace<'c, C: Cpu>(&self, cpu: &'c C, from: &Bucket<'c, C>, to: &Bucket<'c, C>, forwards: bool) -> bool {
        // Whoever holds it may wait for ours.
        if !to.try_lock(cpu).await {
            return false;
        }
        let mut moves = false;
        if !to.used().await.is(SLOTS).branch(NEIGHBOUR_IS_FULL) {
            if let Some((slot, key, value)) = from.movable(forwards).await {
                let hash = hash(key);
                let record = Record { key, hash, value };
                self.write(cpu, to, &record, if forwards { meta::BEFORE } else { 0 })
                    .await;
                // A crash leaves it twice rather than never.
                cpu.intent(Intent::Order).await;
                from.drop_slot(cpu, slot).await;
                cpu.intent(Intent::Durable).await;
                moves = true;
            }
        }
        to.unlock(cpu).await;
        moves
    }

    /// Writes a record into a free slot of a locked bucket, then the metadata that makes it visible.
    async fn write<'c, C: Cpu>(&self, cpu: &'c C, bucket: &Bucket<'c, C>, record: &Record<'c, C>, belongs: u64) {
        let slot = bucket.free_slot().await;
        bucket.write(slot, record.key, record.value).await;
        if self.omits != Omits::Record {
            cpu.intent(Intent::Order).await;
        }
        bucket.show(cpu, slot, record.hash, belongs).await;
        if self.omits != Omits::Metadata {
            bucket.0.flush().await;
        }
    }
}

impl<'c, C: Cpu> Pair<'c, C> {
    /// Locks both, the one at the lower address first.
    async fn lock(&self, cpu: &'c C) {
        let [low, high] = match self.first.0.bits() < self.second.0.bits() {
            true => [self.first, self.second],
            false => [self.second, self.first],
        };
        low.lock(cpu).await;
        high.lock(cpu).await;
    }

    async fn unlock(&self, cpu: &'c C) {
        self.first.unlock(cpu).await;
        self.second.unlock(cpu).await;
    }
}

impl Map for DashEh {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        let buckets = params.get("buckets").next_power_of_two();
        let table = Extendible::lay_out(heap, params, LINE_BYTES + (buckets + STASH) * BUCKET)?;
        Ok(DashEh {
            free: FreeLists::allocate(heap, table.segments, plan.threads),
            table,
            buckets,
            omits: match params.get("omits") {
                0 => Omits::Nothing,
                1 => Omits::Record,
                2 => Omits::Metadata,
                3 => Omits::Segment,
                _ => Omits::Directory,
            },
        })
    }

    fn format(&self, image: &dyn Image) {
        self.table.format(image);
    }

    async fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let (cpu, hash) = (thread.cpu, hash(key));
        loop {
            let open = self.table.open(cpu, hash).await;
            let pair = self.home(cpu, open.segment, hash);
            let versions = (pair.first.version(cpu).await, pair.second.version(cpu).await);
            let found = match self.find(open.segment, &pair, (key, hash)).await {
                Some((bucket, slot)) => Some(bucket.value(slot).await),
                None => None,
            };
            let prefix = open.segment.load().await;
            if pair.first.stayed(versions.0).await.branch(FIRST_STAYED)
                && pair.second.stayed(versions.1).await.branch(SECOND_STAYED)
                && prefix.equals(open.prefix).branch(SEGMENT_STAYED)
            {
                return found;
            }
            cpu.spins();
        }
    }

    async fn put<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, value: W<'c, C>) -> bool {
        let (cpu, hash) = (thread.cpu, hash(key));
        let record = Record { key, hash, value };
        loop {
            let (open, pair) = self.lock(cpu, hash).await;
            let attempt = match self.find(open.segment, &pair, (key, hash)).await {
                Some((bucket, slot)) => {
                    bucket.set_value(slot, value).await;
                    Attempt::Done
                }
                None => self.insert(cpu, open.segment, &pair, &record).await,
            };
            cpu.intent(Intent::Durable).await;
            pair.unlock(cpu).await;
            match attempt {
                Attempt::Done => return true,
                Attempt::Full => {
                    if !self.split(thread, &open).await {
                        return false;
                    }
                }
            }
        }
    }

    async fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> bool {
        let (cpu, hash) = (thread.cpu, hash(key));
        let (open, pair) = self.lock(cpu, hash).await;
        let found = self.find(open.segment, &pair, (key, hash)).await;
        if let Some((bucket, slot)) = &found {
            let is_in_stash = bucket.0.bits() != pair.first.0.bits() && bucket.0.bits() != pair.second.0.bits();
            if is_in_stash {
                bucket.lock(cpu).await;
            }
            bucket.drop_slot(cpu, *slot).await;
            cpu.intent(Intent::Durable).await;
            if is_in_stash {
                bucket.unlock(cpu).await;
            }
        }
        pair.unlock(cpu).await;
        found.is_some()
    }

    fn mend(&self, image: &dyn Image) {
        self.table.complete_splits(image);
        self.mend_segments(image);
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.table.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.records(image)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let [directory, root] = self.table.footprint();
        vec![self.free.range(), directory, root]
    }
}
