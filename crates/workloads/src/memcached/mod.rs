//! `memcached`: sets, gets and deletions of an in-memory cache whose items are persistent.
//!
//! WHISPER (Nalli et al., ASPLOS 2017), Memcached, as ASAP (HPCA 2022) measures it: 4 threads, 8,000 sets of 64-byte values.
//! A hash table chains items by key. Memory is pages; each belongs to a slab class, which cuts it into equal chunks. A
//! class has a list of free chunks and a list of its items in the order of their use (LRU). A set takes a chunk, evicts
//! the least recently used item of its class if there is none, fills the chunk, unlinks the key's older item and links
//! the new one: one failure-atomic region. A get copies the value. It moves the item to the front of its LRU list if that
//! has not happened for `interval` sets. One lock guards the cache, as in the version that WHISPER has (1.2); requests
//! are received, and answers sent, outside.
//!
//! A key has 16 bytes. A value has `value_bytes`; with `varied`, some have a random size, in other slab classes.
//! Simplified: no network; connections' buffers are in DRAM; three classes; time is the number of sets; items do not
//! expire; the hash table does not grow.

mod check;
mod lists;
mod slabs;
mod task;

use crate::maps::{self, hash, hash_of, DELETES};
use crate::operations::{two_regions, Lists};
use crate::papers::WHISPER;
use crate::params::{omits, param};
use crate::populate::populate;
use crate::About;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, Memory, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, Demand, Heap, Locks, LogLayout, Rows, Table, ThreadState, Workload, PAYLOAD_BYTES,
};

/// The workload's description.
pub const ABOUT: About = About {
    name: "memcached",
    line: "sets and gets of a cache with slabs and eviction",
    paper: "ASAP (HPCA 2022), Table III, Memcached, after WHISPER (ASPLOS 2017)",
    tasks: 8_000,
    drift: Some("the cache is empty at first: ever more sets find an older item of their key, which they unlink"),
    params: PARAMS,
    small: &[
        ("keys", "24"),
        ("init_ops", "12"),
        ("buckets", "5"),
        ("pages", "4"),
        ("page", "12"),
        ("varied", "60"),
        ("reads", "20"),
        ("deletes", "10"),
        ("interval", "3"),
        ("log_records", "50"),
    ],
    ..WHISPER
};

const PARAMS: &[Param] = &[
    maps::keys(10_000),
    maps::init_ops(0),
    maps::reads(0),
    DELETES,
    param(
        "value_bytes",
        64,
        LEAST_BYTES..=MOST_BYTES,
        "bytes of a value, rounded up to words",
    ),
    param(
        "varied",
        0,
        0..=100,
        "percent of sets whose value has a random size of 16 to 128 bytes instead",
    ),
    param("buckets", 16_384, 1..=1 << 24, "chains of the hash table"),
    param(
        "pages",
        128,
        CLASSES..=1 << 20,
        "slab pages; when all are in use, sets evict",
    ),
    param("page", 192, 12..=1 << 14, "lines of a slab page"),
    param(
        "interval",
        1_000,
        0..=1 << 32,
        "sets after which a get moves its item to the front of the LRU list again",
    ),
    Omits::PARAM,
    log_records(two_regions(MOST_RECORDS)),
];

/// Bytes of the smallest and the largest value.
const LEAST_BYTES: u64 = 16;
const MOST_BYTES: u64 = 128;

/// Payload words of a line.
const LINE_WORDS: u64 = PAYLOAD_BYTES / 8;

/// Slab classes. Chunks of class c have c + 2 lines: an item's header, and the lines of its value.
const CLASSES: u64 = (MOST_BYTES / 8).div_ceil(LINE_WORDS);

/// Records of a region's steps, four words each: an evicted item and an older one of the key, five each; the count of
/// evictions; the chunk; and a new item's two and six, its chain, the former front of its list, the class, the cache.
const MOST_RECORDS: u64 = 2 * 5 + 2 + 12;

/// What a region writes at most: an evicted item with its neighbours and class, an older one of the key, and the new item.
const LARGEST: Demand = Demand { lines: 17, words: 52 };

/// Offsets in an item's header.
mod item {
    /// The next item of its chain, or the next free chunk.
    pub const CHAIN: u64 = 0;
    /// Bytes of the value, the class, and the time of its last move to the front. 0: a free chunk.
    pub const META: u64 = 8;
    /// The next item towards the front of the LRU list.
    pub const NEWER: u64 = 16;
    /// The next one towards its end.
    pub const OLDER: u64 = 24;
    pub const KEY: u64 = 32;
    /// The number of the set that stored it.
    pub const UNIQUE: u64 = 48;
}

/// Positions in an item's meta word.
const CLASS_SHIFT: u64 = 8;
const TIME_SHIFT: u64 = 16;

/// Offsets in a slab class.
mod class {
    /// The most recently used item.
    pub const FRONT: u64 = 0;
    /// The least recently used one.
    pub const END: u64 = 8;
    pub const ITEMS: u64 = 16;
    /// The first free chunk.
    pub const FREE: u64 = 24;
    /// The first chunk of the newest page that has never been used.
    pub const UNUSED: u64 = 32;
    /// The end of that page.
    pub const PAGE_END: u64 = 40;
    pub const EVICTED: u64 = 48;
    pub const BYTES: u64 = 56;
}

/// Offsets in the header of the cache.
mod cache {
    /// Sets so far.
    pub const SETS: u64 = 0;
    /// Pages that belong to a class.
    pub const PAGES: u64 = 8;
    pub const BYTES: u64 = 16;
}

omits! {
    "the log and flush of a new value, or the log of the back link of an LRU list":
    Value = "value",
    Link = "link",
}

/// The cache.
pub struct Memcached {
    cache: Table<{ cache::BYTES }>,
    classes: Table<{ class::BYTES }>,
    /// The class of each page, plus one.
    owners: Table<8>,
    pages: Rows,
    buckets: Table<8>,
    lock: Locks,
    /// Each lane's connection: key and value.
    buffers: Lists,
    logs: LogLayout,
    keys: u64,
    init_ops: u64,
    reads: u64,
    deletes: u64,
    value_bytes: u64,
    varied: u64,
    /// Bytes of a page.
    page: u64,
    interval: u64,
    omits: Omits,
}

impl Memcached {
    /// The chain of a key.
    fn chain<'c, C: Cpu>(&self, key: W<'c, C>) -> W<'c, C> {
        self.buckets.row(hash(key).scaled_below(self.buckets.rows()))
    }

    /// As [`Memcached::chain`], outside the program: its number.
    fn chain_of(&self, key: u64) -> u64 {
        ((u128::from(hash_of(key)) * u128::from(self.buckets.rows())) >> 64) as u64
    }

    /// Gives each class its first page ("pre-allocate", as the program does).
    fn format(&self, image: &dyn Image) {
        image.set_word(Addr(self.cache.addr(0).0 + cache::PAGES), CLASSES);
        for number in 0..CLASSES {
            let (class, page) = (self.classes.addr(number).0, self.pages.addr(number).0);
            image.set_word(self.owners.addr(number), number + 1);
            image.set_word(Addr(class + class::UNUSED), page);
            image.set_word(Addr(class + class::PAGE_END), page + self.page);
        }
    }
}

impl Workload for Memcached {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (reads, deletes) = maps::shares(params)?;
        let (pages, page) = (params.get("pages"), params.get("page") * LINE_BYTES);
        let mut heap = Heap::new(plan);
        let server = Memcached {
            cache: heap.table(1),
            classes: heap.table(CLASSES),
            owners: heap.table(pages),
            pages: heap.rows(pages, page, pages),
            buckets: heap.table(params.get("buckets")),
            lock: Locks::allocate(&mut heap, 1),
            buffers: Lists::allocate(&mut heap, plan.lanes(), 2 + MOST_BYTES / 8),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
            keys: params.get("keys"),
            init_ops: params.get("init_ops"),
            reads,
            deletes,
            value_bytes: params.get("value_bytes"),
            varied: params.get("varied"),
            page,
            interval: params.get("interval"),
            omits: Omits::of(params),
        };
        Ok((server, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.format(memory);
        populate(self, memory, seed, self.init_ops);
    }

    fn region(_params: &Params) -> Demand {
        LARGEST
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        self.serve(thread);
    }

    /// Chains and LRU lists have the same items, each once, with keys of its chain and whole values. Each chunk that was
    /// ever used is an item or free.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.check_cache(image)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.pages.range(),
            self.buckets.range(),
            self.owners.range(),
            self.buffers.range(),
            self.classes.range(),
            self.cache.range(),
            self.lock.range(1),
            self.logs.lists(),
            self.logs.range(),
        ]
    }
}

#[cfg(test)]
mod tests;
