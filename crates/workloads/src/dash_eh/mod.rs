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

mod split;

use crate::dash::{Attempt, Buckets, Omits, Pair, Record, BUCKETS};
use crate::extendible::{Extendible, Open};
use crate::maps::{self, hash, Map, Old};
use crate::papers::ASAP;
use crate::params::{choice, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Intent, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, ThreadState};

sites! {
    STILL_COVERS = 0xe902_9e65;
    FIRST_STAYED = 0xa357_8802;
    SECOND_STAYED = 0xed64_8793;
    SEGMENT_STAYED = 0x2cae_64dc;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "dash-eh",
    line: "inserts into an extendible hash table with fingerprints and a stash",
    paper: "ASAP (HPCA 2022), Table III, after Dash (VLDB 2020)",
    tasks: 40_000,
    drift: Some("keys fill all segments evenly, so that these split at about the same time"),
    params: PARAMS,
    small: &[
        ("keys", "400"),
        ("init_ops", "90"),
        ("depth", "1"),
        ("buckets", "2"),
        ("segments", "8"),
        ("reads", "10"),
        ("deletes", "15"),
        ("records", "512"),
    ],
    ..ASAP
};

const PARAMS: &[Param] = maps::params! {
    init_ops: 4_000, reads: 0;
    param(
        "depth",
        6,
        1..=24,
        "bits of a hash that choose a segment at first: the public program begins with 64 segments",
    ),
    BUCKETS,
    param("segments", 4096, 2..=1 << 20, "segments that there is room for"),
    choice(
        "omits",
        "what a faulty program leaves out: the flush of a record of a large pair, the order of a record before its metadata, the flush of metadata, the order of a new segment before the directory, or that of the directory before the old segment",
        &["nothing", "value", "record", "metadata", "segment", "directory"],
    ),
};

/// The hash table.
pub struct DashEh {
    table: Extendible,
    free: FreeLists,
    buckets: Buckets,
}

impl DashEh {
    /// Locks a hash's two buckets in the segment that the directory has for it.
    fn lock<'c, C: Cpu>(&self, cpu: &'c C, hash: W<'c, C>) -> (Open<'c, C>, Pair<'c, C>) {
        let _call = cpu.call(1);
        loop {
            let mut open = self.table.open(cpu, hash);
            let pair = self.buckets.home(cpu, open.segment, hash);
            pair.lock(cpu);
            open.prefix = open.segment.load();
            if open.covers(hash).branch(STILL_COVERS) {
                return (open, pair);
            }
            pair.unlock(cpu);
        }
    }

    fn covers(hash: u64, depth: u64, bits: u64) -> bool {
        hash >> (64 - depth) == bits
    }
}

impl Map for DashEh {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        // The second is for records alone.
        let omits = [
            Omits::Nothing,
            Omits::Nothing,
            Omits::Record,
            Omits::Metadata,
            Omits::Segment,
            Omits::Directory,
        ];
        let omits = omits[params.get("omits") as usize];
        let buckets = Buckets::of(params, omits);
        let table = Extendible::lay_out(heap, params, buckets.bytes())?;
        Ok(DashEh {
            free: FreeLists::allocate(heap, table.segments, plan.threads),
            table,
            buckets,
        })
    }

    fn format(&self, image: &dyn Image) {
        self.table.format(image);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let (cpu, hash) = (thread.cpu, hash(key));
        loop {
            let open = self.table.open(cpu, hash);
            let pair = self.buckets.home(cpu, open.segment, hash);
            let versions = (pair.first.version(cpu), pair.second.version(cpu));
            let found = self
                .buckets
                .find(open.segment, &pair, (key, hash))
                .map(|place| place.bucket.value(place.slot));
            let prefix = open.segment.load();
            if pair.first.stayed(versions.0).branch(FIRST_STAYED)
                && pair.second.stayed(versions.1).branch(SECOND_STAYED)
                && prefix.equals(open.prefix).branch(SEGMENT_STAYED)
            {
                return found;
            }
            cpu.spins();
        }
    }

    fn put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let (cpu, hash) = (thread.cpu, hash(key));
        let record = Record { key, hash, value };
        loop {
            let (open, pair) = self.lock(cpu, hash);
            let attempt = match self.buckets.find(open.segment, &pair, (key, hash)) {
                Some(place) => {
                    old.keep(place.bucket.place(place.slot));
                    place.bucket.set_value(place.slot, value);
                    Attempt::Done
                }
                None => self.buckets.insert(cpu, open.segment, &pair, &record),
            };
            cpu.intent(Intent::Durable);
            pair.unlock(cpu);
            match attempt {
                Attempt::Done => return true,
                Attempt::Full => {
                    if !self.split(thread, &open) {
                        return false;
                    }
                }
            }
        }
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let (cpu, hash) = (thread.cpu, hash(key));
        let (open, pair) = self.lock(cpu, hash);
        let found = self.buckets.find(open.segment, &pair, (key, hash));
        if let Some(place) = &found {
            old.keep(place.bucket.place(place.slot));
            place.clear(cpu);
        }
        pair.unlock(cpu);
        found.is_some()
    }

    fn mend(&self, image: &dyn Image) {
        self.table.complete_splits(image);
        for (segment, depth, bits) in self.table.all(image).unwrap_or_default() {
            let buckets = self.buckets.addresses(segment);
            self.buckets
                .mend(image, &buckets, |hash| DashEh::covers(hash, depth, bits));
        }
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.table.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        let mut records = BTreeMap::new();
        for (segment, depth, bits) in self.table.all(image)? {
            let buckets = self.buckets.addresses(segment);
            self.buckets
                .read(image, &buckets, |hash| DashEh::covers(hash, depth, bits), &mut records)?;
        }
        Ok(records)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let [directory, root] = self.table.footprint();
        vec![self.free.range(), directory, root]
    }
}
