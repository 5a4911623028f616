//! `echo`: a key-value store of versions, to which clients submit batches.
//!
//! Echo (Bailey et al., INFLOW 2013), as WHISPER (Nalli et al., ASPLOS 2017) and ASAP (HPCA 2022) measure it: 4 clients,
//! 128-byte values in batches of 1,024 entries, 10,000 operations. A client writes each value to a new version in
//! persistent memory and adds it to its batch. A full batch is submitted, and a master merges it into a hash table: each
//! key has a list of versions, the newest first, with the timestamp of its batch. A get looks into the client's own
//! batch, then into the table.
//!
//! There is no log. A batch commits by a word:
//!
//! 1. versions and entries are durable, then the batch's state says how many there are (*submitted*);
//! 2. each version is durable before the head of its key's list leads to it;
//! 3. all of that is durable, then the state is zero (*done*).
//!
//! Recovery merges submitted batches again, from their first entry: what a list already has is not linked twice. A batch
//! takes effect as a whole. The put that fills it returns when it is done; with it, the puts before return.
//!
//! Simplified: the master is the client that holds the master's lock; it merges all batches that wait. A list keeps
//! `versions` versions: there are no older snapshots. No deletions.

mod check;
mod client;
mod master;

use crate::maps::{self, hash, set};
use crate::operations::Lists;
use crate::papers::WHISPER;
use crate::params::{omits, param};
use crate::populate::loader;
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{Addr, CoreId, Cpu, Image, Lowering, Memory, Thread, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    finish, BuildPlan, FreeLists, Heap, Locks, LogLayout, OnImage, Plain, Rows, ThreadState, Workload,
};

/// The workload's description.
pub const ABOUT: About = About {
    name: "echo",
    line: "puts in batches that a master merges into lists of versions",
    paper: "ASAP (HPCA 2022), Table III, Echo, after WHISPER (ASPLOS 2017)",
    runtime: "undo",
    tasks: 10_000,
    drift: Some("a batch of 1,024 puts is merged at once, and the lists of versions are empty at first"),
    params: PARAMS,
    small: &[
        ("keys", "12"),
        ("init_ops", "10"),
        ("batch", "2"),
        ("reads", "10"),
        ("buckets", "5"),
        ("versions", "2"),
        ("value_bytes", "64"),
        ("pool", "64"),
    ],
    ..WHISPER
};

const PARAMS: &[Param] = &[
    maps::keys(10_000),
    maps::init_ops(0),
    maps::reads(0),
    param("batch", 1_024, 1..=MOST_ENTRIES, "puts of a batch"),
    param("buckets", 16_384, 1..=1 << 24, "chains of the hash table"),
    param("versions", 4, 1..=64, "versions that a key keeps"),
    param("value_bytes", 128, 16..=128, "bytes of a value, rounded up to words"),
    param(
        "pool",
        1 << 16,
        8..=1 << 24,
        "versions that there is room for, in lists and in batches",
    ),
    Omits::PARAM,
];

/// Lines of each log, which this program never writes.
const LOG_RECORDS: u64 = 8;

const MOST_ENTRIES: u64 = 1 << 12;

/// Position of a batch's timestamp in that of a version; the place in the batch is below it.
const STAMP_SHIFT: u64 = 20;

/// Offsets in a batch, whose entries, the addresses of versions, follow in lines of their own.
mod batch {
    /// How many entries are submitted; 0: none.
    pub const STATE: u64 = 0;
    /// The timestamp, 0 before the merge begins.
    pub const STAMP: u64 = 8;
    pub const ENTRIES: u64 = 64;
}

/// Offsets in the line of a key.
mod key {
    /// The next key of its chain.
    pub const NEXT: u64 = 0;
    pub const KEY: u64 = 8;
    /// The newest version.
    pub const HEAD: u64 = 16;
}

/// Offsets in a version.
mod version {
    /// Its timestamp; 0 before it is merged.
    pub const STAMP: u64 = 0;
    /// The next older version.
    pub const OLDER: u64 = 8;
    pub const KEY: u64 = 16;
    pub const VALUE: u64 = 24;
}

/// Offsets in a lane's line of volatile memory.
mod lane {
    /// 0: its batch waits for the master.
    pub const IDLE: u64 = 0;
    /// Entries of its open batch.
    pub const COUNT: u64 = 8;
    /// The number of its open batch, counted from 1.
    pub const BATCH: u64 = 16;
}

omits! {
    "the flushes of a batch's entries, the wait for what is merged before it is done, or the order of a version before the head of its list":
    Entries = "entries",
    Done = "done",
    Version = "version",
}

/// The store.
pub struct Echo {
    /// The newest timestamp of a merged batch.
    master: Addr,
    batches: Rows,
    buckets: Addr,
    bucket_count: u64,
    key_lines: Rows,
    free_keys: FreeLists,
    versions: Rows,
    free_versions: FreeLists,
    lock: Locks,
    lanes: Lists,
    lane_count: u64,
    /// What each lane's open batch holds, by key.
    locals: Lists,
    /// What a lane has cut off lists, and the value that a get reads.
    buffers: Lists,
    logs: LogLayout,
    keys: u64,
    init_ops: u64,
    reads: u64,
    /// Entries of a batch.
    batch: u64,
    /// Versions that a list keeps.
    kept: u64,
    value_words: u64,
    omits: Omits,
}

impl Echo {
    /// The chain of a key.
    fn chain<'c, C: Cpu>(&self, key: W<'c, C>) -> W<'c, C> {
        (hash(key).scaled_below(self.bucket_count) << 3) + self.buckets.0
    }

    /// Slots of a lane's index of its batch.
    fn slots(&self) -> u64 {
        slots(self.batch)
    }

    /// Puts before the run; the last batch need not be full.
    fn load(&self, memory: &Memory, seed: u64) {
        let plain = Plain::new(memory, CoreId(0), Lowering::NOTHING);
        let cpu = &Thread::on(&plain);
        let ended = finish(|| {
            let mut state = loader(cpu, &self.logs, seed);
            for _ in 0..self.init_ops {
                self.put(&mut state);
            }
            self.commit(&mut state);
        });
        ended.expect("nobody holds a lock");
    }
}

/// Slots for a batch of `entries`: at most half of them are used.
fn slots(entries: u64) -> u64 {
    (2 * entries).next_power_of_two()
}

impl Workload for Echo {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (entries, pool, buckets) = (params.get("batch"), params.get("pool"), params.get("buckets"));
        let value_words = params.get("value_bytes").div_ceil(8);
        let lanes = plan.lanes() as u64;
        let mut heap = Heap::new(plan);
        let batches = heap.rows(lanes, batch::ENTRIES + 8 * entries, lanes);
        let key_lines = heap.rows(pool, LINE_BYTES, pool);
        let versions = heap.rows(pool, version::VALUE + 8 * value_words, pool);
        let store = Echo {
            master: heap.pm(8),
            batches,
            buckets: heap.pm(8 * buckets),
            bucket_count: buckets,
            key_lines,
            free_keys: FreeLists::allocate(&mut heap, key_lines, plan.threads),
            versions,
            free_versions: FreeLists::allocate(&mut heap, versions, plan.threads),
            lock: Locks::allocate(&mut heap, 1),
            lanes: Lists::allocate(&mut heap, plan.lanes(), 3),
            lane_count: lanes,
            locals: Lists::allocate(&mut heap, plan.lanes(), 4 * slots(entries)),
            buffers: Lists::allocate(&mut heap, plan.lanes(), 2 * entries + value_words),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), LOG_RECORDS),
            keys: params.get("keys"),
            init_ops: params.get("init_ops"),
            reads: params.get("reads"),
            batch: entries,
            kept: params.get("versions"),
            value_words,
            omits: Omits::of(params),
        };
        Ok((store, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.restart(memory);
        self.load(memory, seed);
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        self.operate(thread);
    }

    /// Lists have whole versions of their keys, the newest first, and none is of a batch that is not merged. No batch is
    /// submitted.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.check_store(image)
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        self.newest(image)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.versions.range(),
            self.key_lines.range(),
            self.free_versions.range(),
            self.free_keys.range(),
            self.buckets.0..self.buckets.0 + 8 * self.bucket_count,
            self.batches.range(),
            self.locals.range(),
            self.buffers.range(),
            self.lanes.range(),
            self.master.0..self.master.0 + 8,
            self.lock.range(1),
        ]
    }

    /// Merges the submitted batches: first the one whose merge the crash has interrupted.
    fn repair(&self, image: &dyn Image) {
        let Ok(submitted) = self.submitted(image) else {
            return;
        };
        if submitted.is_empty() {
            return;
        }
        self.restart(image);
        let repaired = OnImage::new(image);
        let cpu = &Thread::on(&repaired);
        let ended = finish(|| {
            let mut state = loader(cpu, &self.logs, 0);
            for batch in submitted {
                self.merge(&mut state, cpu.word(batch));
            }
        });
        ended.expect("merging waits for nobody");
    }

    /// Open batches are gone with volatile memory. What neither a list nor a submitted batch has is free.
    fn restart(&self, image: &dyn Image) {
        for word in self.lock.range(1).step_by(8) {
            set(image, word, 0);
        }
        for at in self.lanes.range().step_by(LINE_BYTES as usize) {
            set(image, at + lane::IDLE, 1);
            set(image, at + lane::COUNT, 0);
            set(image, at + lane::BATCH, 1);
        }
        let used = self.used(image).ok();
        let is_used = |at: Addr| used.as_ref().is_none_or(|used| used.contains(&at.0));
        self.free_keys.rebuild(image, |row| is_used(self.key_lines.addr(row)));
        self.free_versions
            .rebuild(image, |row| is_used(self.versions.addr(row)));
    }
}

#[cfg(test)]
mod tests;
