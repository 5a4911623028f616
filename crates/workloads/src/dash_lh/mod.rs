//! `dash-lh`: linear hashing with fingerprints, balanced buckets and chains of stash buckets, without a log.
//!
//! Lu et al., "Dash: Scalable Hashing on Persistent Memory" (VLDB 2020), section 5: the segments are those of `dash-eh`.
//! Any segment takes what overflows, in stash buckets that form a chain. The table grows by the segments in turn.
//!
//! - *Next* (5.1, 5.3): one word holds the round N and Next. A hash's segment is its bits modulo 2^N, or modulo 2^(N + 1) if
//!   that segment's turn has been. Who adds a bucket to a chain then advances Next by one compare-and-swap, and flushes
//!   it.
//! - *Hybrid expansion* (5.2): the directory points to arrays of segments. After `stride` arrays of a size comes a size
//!   twice as large. An array is durable in the directory before Next reaches it.
//! - *Split* (5.3): advancing Next splits nothing. Who comes to a new segment that is not whole splits the old one, with
//!   all its locks held: what belongs to the new segment is copied, and durable before the new segment says that it is
//!   whole. That is durable before the old one says that it has lost that half, and that before its records are dropped.
//!   Then what is left in the chain moves to free slots of the old segment, and empty stash buckets are free.
//! - *Operations* within a segment, and its locks, are those of `dash-eh`. The lock of the first stash bucket guards the
//!   chain. Locks are released after durability; Next is advanced before it is durable.
//! - *Recovery* (4.8): as `dash-eh`; a segment that is not whole is split off again.
//!
//! Not in the paper: before a new segment is whole, who splits writes the word of Next once more, and that is durable. The
//! public program does not: what other threads insert into a new segment is lost if power fails before Next is durable.
//! A segment has a mask, of the bits that all its hashes share with its number. So it gives halves away in the order of
//! the rounds, even if nobody came to a segment for a round, and an operation checks the mask rather than Next. If no stash
//! bucket is left for a split, operations go on in the old segment. A new segment keeps each record in its slot.

mod directory;
mod recovery;
mod split;
mod stash;

use crate::dash::bucket::BUCKET;
use crate::dash::{Attempt, Buckets, Omits, Pair, Record, BUCKETS};
use crate::maps::{self, hash, Map, Old};
use crate::papers::ASAP;
use crate::params::{choice, param};
use crate::About;
use directory::{Directory, Open};
use stash::Added;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, Intent, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, Rows, ThreadState};

sites! {
    SEGMENT_IS_NOT_WHOLE = 0x1c5f_140d;
    SEGMENT_COVERS = 0x4735_4c83;
    STILL_COVERS = 0x8d51_c169;
    FIRST_STAYED = 0x4c64_b16e;
    SECOND_STAYED = 0x822d_d5f2;
    SEGMENT_STAYED = 0x250b_adfb;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "dash-lh",
    line: "inserts into a linear hash table with fingerprints and chains of stash buckets",
    paper: "ASAP (HPCA 2022), Table III, after Dash (VLDB 2020)",
    tasks: 40_000,
    drift: Some("the table grows, and its segments split"),
    params: PARAMS,
    small: &[
        ("keys", "400"),
        ("init_ops", "110"),
        ("depth", "1"),
        ("stride", "1"),
        ("buckets", "2"),
        ("segments", "16"),
        ("pool", "16"),
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
        1..=20,
        "bits of a hash that choose a segment at first: the public program begins with 64 segments",
    ),
    param(
        "stride",
        8,
        1..=64,
        "arrays of segments before they double in size; rounded up to a power of two",
    ),
    BUCKETS,
    param("segments", 4096, 2..=1 << 20, "segments that there is room for"),
    param("pool", 4096, 1..=1 << 24, "buckets that stashes may have beside their first two"),
    choice(
        "omits",
        "what a faulty program leaves out: the flush of a record of a large pair, the order of a record before its metadata, the flush of metadata, the order of a new segment before its state, that of its state before the old segment, or that Next is durable before a new segment is whole",
        &["nothing", "value", "record", "metadata", "segment", "state", "next"],
    ),
};

/// Offsets in a segment's first line.
mod segment {
    /// The bits of a hash that all its keys share with its number; 0 if it is not whole yet.
    pub const MASK: u64 = 0;
    /// The first bucket of its chain.
    pub const CHAIN: u64 = 8;
}

/// The hash table.
pub struct DashLh {
    directory: Directory,
    buckets: Buckets,
    /// Stash buckets that chains may have.
    pool: Rows,
    free: FreeLists,
}

impl DashLh {
    /// The segment that has a hash. If it is not whole, it is split off first; without a stash bucket for that, the hash
    /// stays in the old one.
    fn open<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, hash: W<'c, C>) -> Open<'c, C> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        loop {
            let mut open = self.directory.of(cpu, hash);
            let is_whole = !open.mask.is(0).branch(SEGMENT_IS_NOT_WHOLE);
            if !is_whole {
                open = self.directory.ancestor(cpu, open.number);
            }
            // The segment may have been split meanwhile.
            if !open.covers(hash).branch(SEGMENT_COVERS) {
                cpu.give_way();
                cpu.spins();
            } else if is_whole || !self.split(thread, &open) {
                return open;
            }
        }
    }

    /// Locks a hash's two buckets in the segment that has it.
    fn lock<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, hash: W<'c, C>) -> (Open<'c, C>, Pair<'c, C>) {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        loop {
            let mut open = self.open(thread, hash);
            let pair = self.buckets.home(cpu, open.segment, hash);
            pair.lock(cpu);
            open.mask = open.segment.at(segment::MASK).load();
            if open.covers(hash).branch(STILL_COVERS) {
                return (open, pair);
            }
            pair.unlock(cpu);
        }
    }
}

impl Map for DashLh {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        // The second is for records alone.
        let omits = [
            Omits::Nothing,
            Omits::Nothing,
            Omits::Record,
            Omits::Metadata,
            Omits::Segment,
            Omits::State,
            Omits::Next,
        ];
        let omits = omits[params.get("omits") as usize];
        let buckets = Buckets::of(params, omits);
        let rows = params.get("pool");
        let pool = heap.rows(rows, BUCKET, rows / 16 + 1);
        Ok(DashLh {
            directory: Directory::lay_out(heap, params, buckets.bytes())?,
            buckets,
            pool,
            free: FreeLists::allocate(heap, pool, plan.threads),
        })
    }

    fn format(&self, image: &dyn Image) {
        self.directory.format(image);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let (cpu, hash) = (thread.cpu, hash(key));
        loop {
            let open = self.open(thread, hash);
            let pair = self.buckets.home(cpu, open.segment, hash);
            let versions = (pair.first.version(cpu), pair.second.version(cpu));
            let found = self
                .find(open.segment, &pair, (key, hash))
                .map(|place| place.bucket.value(place.slot));
            let mask = open.segment.at(segment::MASK).load();
            if pair.first.stayed(versions.0).branch(FIRST_STAYED)
                && pair.second.stayed(versions.1).branch(SECOND_STAYED)
                && mask.equals(open.mask).branch(SEGMENT_STAYED)
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
        let (open, pair) = self.lock(thread, hash);
        let added = match self.find(open.segment, &pair, (key, hash)) {
            Some(place) => {
                old.keep(place.bucket.place(place.slot));
                place.bucket.set_value(place.slot, value);
                Added::Record
            }
            None => match self.buckets.insert(cpu, open.segment, &pair, &record) {
                Attempt::Done => Added::Record,
                Attempt::Full => self.chain(thread, open.segment, &pair, &record),
            },
        };
        cpu.intent(Intent::Durable);
        pair.unlock(cpu);
        if matches!(added, Added::Bucket) {
            self.directory.expand(cpu, self.buckets.omits != Omits::Next);
        }
        !matches!(added, Added::Nothing)
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let (cpu, hash) = (thread.cpu, hash(key));
        let (open, pair) = self.lock(thread, hash);
        let found = self.find(open.segment, &pair, (key, hash));
        if let Some(place) = &found {
            old.keep(place.bucket.place(place.slot));
            place.clear(cpu);
        }
        pair.unlock(cpu);
        found.is_some()
    }

    fn mend(&self, image: &dyn Image) {
        self.mend_segments(image);
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.records(image)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![self.free.range(), self.directory.range()]
    }
}
