//! `p-clht`: a hash table of buckets of one line, whose searches take no lock.
//!
//! CLHT (David, Guerraoui, Trigonakis, ASPLOS 2015) as RECIPE made it persistent (Lee et al., SOSP 2019, section 6.3):
//! a bucket has a lock, three keys, three values and the next bucket of its chain.
//!
//! - *Insertion*, with the lock of the chain's first bucket: the value, flushed and ordered; then the key, whose store
//!   makes the pair visible. A chain without a free slot gets a bucket more, which is durable before the chain points to
//!   it. The lock is released after durability, so what a thread builds upon is durable.
//! - *Deletion* clears the key; *a new value* replaces the old one in place.
//! - *Search* reads a value, its key, and the value again: no slot is given to another key in between.
//! - *Resizing*, when one chain in a hundred has grown: a table of twice the size is filled, while the old one's buckets are
//!   locked one after the other and for good. Who finds such a bucket waits for the new root. The new table is durable
//!   before the root announces it, and the announcement before the root points to it: in the public program, which
//!   does not announce it, what other threads insert into the new table is lost if power fails before the root is durable.
//! - *Recovery* completes an announced resizing and frees the locks; a value without a key is a free slot. Tables and buckets that a crash has left unreachable
//!   are free after it.

mod recovery;
mod resize;

use crate::maps::{self, hash, Map, Old};
use crate::papers::ASAP;
use crate::params::{omits, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Intent, Primitive, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, Rows, ThreadState};

sites! {
    BUCKET_IS_FREE = 0x6848_a868;
    BUCKET_IS_TAKEN = 0xda5b_01d4;
    KEY_MATCHES = 0x3ee8_a509;
    SLOT_IS_EMPTY = 0x66a2_e4aa;
    SLOT_IS_FIRST = 0x9827_9b45;
    CHAIN_ENDS = 0xd71f_805c;
    CHAIN_IS_FULL = 0x526f_f99d;
    SEARCH_MATCHES = 0xa8db_1bb2;
    VALUE_STAYED = 0xda4f_bcdc;
    SEARCH_ENDS = 0x2c15_b349;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "p-clht",
    line: "inserts and searches in a hash table of buckets of one line, which doubles",
    paper: "ASAP (HPCA 2022), Table III, after RECIPE's P-CLHT (SOSP 2019)",
    tasks: 100_000,
    drift: Some("the table fills and doubles"),
    params: PARAMS,
    small: &[
        ("keys", "40"),
        ("init_ops", "4"),
        ("buckets", "2"),
        ("pool", "24"),
        ("reads", "10"),
        ("deletes", "15"),
        ("records", "64"),
    ],
    ..ASAP
};

const PARAMS: &[Param] = maps::params! {
    init_ops: 100_000, reads: 50;
    param("buckets", 512, 2..=1 << 24, "buckets of the first table, rounded up to a power of two"),
    param(
        "pool",
        1 << 17,
        2..=1 << 24,
        "buckets that chains may have beside their first; the largest table has as many, rounded up to a power of two",
    ),
    Omits::PARAM,
};

/// Pairs of a bucket.
const SLOTS: u64 = 3;

/// Offsets in a bucket.
mod bucket {
    pub const LOCK: u64 = 0;
    pub const KEYS: u64 = 8;
    pub const VALUES: u64 = 32;
    pub const NEXT: u64 = 56;
}

/// States of a bucket's lock.
const FREE: u64 = 0;
const TAKEN: u64 = 1;
/// The bucket has been copied to a larger table.
const MOVED: u64 = 2;

/// Offsets in the root's line.
mod root {
    /// The table's address.
    pub const TABLE: u64 = 0;
    /// The table that follows it, once that is durable; otherwise the same or nothing.
    pub const NEXT: u64 = 16;
    /// The lock of the thread that resizes.
    pub const LOCK: u64 = 8;
}

omits! {
    "the flush of a record of a large pair, the flush of a key, the order of a new bucket before the chain, that of a new table before the root, or the announcement of a new table":
    Value = "value",
    Key = "key",
    Bucket = "bucket",
    Table = "table",
    /// As the public program: what others insert into a new table may be durable before the root is.
    Next = "next",
}

/// The hash table.
pub struct Clht {
    root: Addr,
    /// Tables of all sizes, each behind a line with the number of its buckets less one.
    tables: Addr,
    /// Buckets of the first and of the largest table.
    sizes: (u64, u64),
    nodes: Rows,
    free: FreeLists,
    /// A word of volatile memory: by how many buckets the chains of the table have grown.
    grown: Addr,
    omits: Omits,
}

/// One chain in so many grows before the table does (RECIPE's CLHT_PERC_EXPANSIONS).
const GROWN_ONE_IN: u64 = 128;

impl Clht {
    /// The address of the table of this size.
    fn table(&self, buckets: u64) -> u64 {
        let smaller = std::iter::successors(Some(self.sizes.0), |size| Some(2 * size));
        let before: u64 = smaller
            .take_while(|size| *size < buckets)
            .map(|size| (1 + size) * LINE_BYTES)
            .sum();
        self.tables.0 + before
    }

    /// The first bucket of a hash's chain.
    fn chain<'c, C: Cpu>(&self, cpu: &'c C, hash: W<'c, C>) -> W<'c, C> {
        let table = cpu.word(self.root.0 + root::TABLE).load();
        let mask = table.load();
        (table + ((hash & mask) << u64::from(LINE_BYTES.trailing_zeros()))).at(LINE_BYTES)
    }

    /// Locks the chain of a hash.
    fn lock<'c, C: Cpu>(&self, cpu: &'c C, hash: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(1);
        loop {
            let first = self.chain(cpu, hash);
            let lock = first.at(bucket::LOCK);
            let state = lock.load();
            if state.is(FREE).branch(BUCKET_IS_FREE) {
                let taken = cpu.word(TAKEN);
                if lock.compare_swap(state, taken).is(FREE).branch(BUCKET_IS_TAKEN) {
                    cpu.intent(Intent::Acquire);
                    return first;
                }
            }
            cpu.give_way();
            cpu.spins();
        }
    }

    fn unlock<'c, C: Cpu>(cpu: &'c C, first: W<'c, C>) {
        strandline_runtime::unlock(cpu, first.at(bucket::LOCK));
    }

    /// The slot of a key in a chain, by its key's address; otherwise the first free slot, if there is one, and the last
    /// bucket.
    fn find<'c, C: Cpu>(&self, cpu: &'c C, first: W<'c, C>, key: W<'c, C>) -> InChain<'c, C> {
        let _call = cpu.call(2);
        let (mut at, mut free) = (first, cpu.word(0));
        loop {
            for slot in 0..SLOTS {
                let place = at.at(bucket::KEYS + 8 * slot);
                let held = place.load();
                if held.equals(key).branch(KEY_MATCHES) {
                    return InChain::Key(place);
                }
                if held.is(0).branch(SLOT_IS_EMPTY) && free.is(0).branch(SLOT_IS_FIRST) {
                    free = place;
                }
            }
            let next = at.at(bucket::NEXT).load();
            if next.is(0).branch(CHAIN_ENDS) {
                return InChain::Absent { free, last: at };
            }
            at = next;
        }
    }

    /// Writes a pair into a free slot, whose key has this address.
    fn fill<'c, C: Cpu>(&self, cpu: &'c C, slot: W<'c, C>, key: W<'c, C>, value: W<'c, C>) {
        let _call = cpu.call(3);
        let place = slot.at(bucket::VALUES - bucket::KEYS);
        place.store(value);
        place.flush();
        cpu.intent(Intent::Order);
        cpu.primitive(Primitive::StoreBarrier);
        slot.store(key);
        if self.omits != Omits::Key {
            slot.flush();
        }
    }

    /// Adds a bucket with a pair to a chain; false if there is none.
    fn extend<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        last: W<'c, C>,
        key: W<'c, C>,
        value: W<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(4);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return false;
        };
        let new = taken.row();
        Clht::begin(cpu, new);
        new.at(bucket::VALUES).store(value);
        new.at(bucket::KEYS).store(key);
        if self.omits != Omits::Bucket {
            new.flush();
            cpu.intent(Intent::Order);
        }
        cpu.primitive(Primitive::StoreBarrier);
        last.at(bucket::NEXT).store(new);
        last.flush();
        true
    }

    /// Clears a bucket, which may have been in use before a crash.
    fn begin<'c, C: Cpu>(cpu: &'c C, bucket: W<'c, C>) {
        for offset in (0..LINE_BYTES).step_by(8) {
            bucket.at(offset).store(cpu.word(0));
        }
    }
}

/// What a chain has of a key.
enum InChain<'c, C: Cpu> {
    Key(W<'c, C>),
    Absent { free: W<'c, C>, last: W<'c, C> },
}

impl Map for Clht {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        let first = params.get("buckets").next_power_of_two();
        let rows = params.get("pool");
        let most = rows.next_power_of_two().max(first);
        let bytes = (2 * most - first + u64::from((most / first).trailing_zeros()) + 1) * LINE_BYTES;
        let nodes = heap.rows(rows, LINE_BYTES, rows / 4 + 1);
        Ok(Clht {
            root: heap.pm(LINE_BYTES),
            tables: heap.pm_of_which(bytes, bytes / 2),
            sizes: (first, most),
            free: FreeLists::allocate(heap, nodes, plan.threads),
            nodes,
            grown: heap.dram(LINE_BYTES),
            omits: Omits::of(params),
        })
    }

    fn format(&self, image: &dyn Image) {
        let table = self.table(self.sizes.0);
        maps::set(image, table, self.sizes.0 - 1);
        maps::set(image, self.root.0 + root::TABLE, table);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let mut at = self.chain(cpu, hash(key));
        loop {
            for slot in 0..SLOTS {
                let place = at.at(bucket::VALUES + 8 * slot);
                let mut value = place.load();
                // While the value changes, the key may be about to be replaced, or its value.
                while at.at(bucket::KEYS + 8 * slot).load().equals(key).branch(SEARCH_MATCHES) {
                    let again = place.load();
                    if again.equals(value).branch(VALUE_STAYED) {
                        return Some(value);
                    }
                    value = again;
                }
            }
            at = at.at(bucket::NEXT).load();
            if at.is(0).branch(SEARCH_ENDS) {
                return None;
            }
        }
    }

    fn put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let cpu = thread.cpu;
        let first = self.lock(cpu, hash(key));
        let mut has_grown = false;
        let done = match self.find(cpu, first, key) {
            InChain::Key(slot) => {
                let place = slot.at(bucket::VALUES - bucket::KEYS);
                old.keep(place);
                place.store(value);
                slot.flush();
                true
            }
            InChain::Absent { free, last } => match free.is(0).branch(CHAIN_IS_FULL) {
                false => {
                    self.fill(cpu, free, key, value);
                    true
                }
                true => {
                    has_grown = self.extend(thread, last, key, value);
                    has_grown
                }
            },
        };
        cpu.intent(Intent::Durable);
        Clht::unlock(cpu, first);
        if has_grown {
            self.count_growth(thread);
        }
        done
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let first = self.lock(cpu, hash(key));
        let found = self.find(cpu, first, key);
        if let InChain::Key(slot) = found {
            old.keep(slot.at(bucket::VALUES - bucket::KEYS));
            slot.store(cpu.word(0));
            if self.omits != Omits::Key {
                slot.flush();
            }
            cpu.intent(Intent::Durable);
        }
        Clht::unlock(cpu, first);
        matches!(found, InChain::Key(_))
    }

    fn mend(&self, image: &dyn Image) {
        self.free_locks(image);
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
        maps::set(image, self.grown.0, 0);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.pairs(image)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let first = self.table(self.sizes.0);
        vec![
            self.free.range(),
            first..first + (1 + self.sizes.0) * LINE_BYTES,
            self.root.0..self.root.0 + LINE_BYTES,
        ]
    }
}
