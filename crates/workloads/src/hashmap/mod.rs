//! `hashmap`: reads and updates of a chained hash table.
//!
//! StrandWeaver (ISCA 2020), Table II "Hashmap" ("read/update to hashmap"), after NV-Heaps (ASPLOS 2011). There is an
//! array of buckets, each with a lock and the head of a chain of nodes. A node is one line: the address of the next
//! node, the key and a value of five words. A task locks the bucket of a random key. At even odds, it reads the value,
//! or writes all of it in a failure-atomic region, store by store. An update of an absent key inserts it at the head of
//! its chain. With `operations`, a region has several reads and updates, and holds the locks of all their buckets.
//!
//! The paper gives no sizes. Here: 100,000 keys as `array-swap` has elements, as many buckets, and nine of ten keys in
//! the table at the start. Simplified: there are no deletions; locks are in DRAM, packed; nodes come from a fixed pool
//! with volatile free lists. A task of reads only opens no region.

mod check;
mod task;

use crate::filler::filler;
use crate::operations::{ring, two_regions, Lists, OPERATIONS};
use crate::papers::STRANDWEAVER;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, Memory, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, Demand, FreeLists, Heap, Locks, LogLayout, Table, ThreadState, Workload,
};

/// The workload's description.
pub const ABOUT: About = About {
    name: "hashmap",
    line: "reads and updates of a chained hash table",
    paper: "StrandWeaver (ISCA 2020), Table II, Hashmap",
    tasks: 50_000,
    params: PARAMS,
    small: &[
        ("keys", "24"),
        ("buckets", "4"),
        ("loaded", "30"),
        ("log_records", "18"),
    ],
    ..STRANDWEAVER
};

const PARAMS: &[Param] = &[
    param("keys", 100_000, 1..=1 << 24, "number of keys"),
    param("buckets", 100_000, 1..=1 << 24, "buckets, each with a chain and a lock"),
    param("loaded", 90, 0..=100, "keys in the table at the start, percent"),
    param(
        "updates",
        50,
        0..=100,
        "operations that update or insert, percent; the others read",
    ),
    OPERATIONS,
    log_records(two_regions(MOST_RECORDS)),
];

/// Stores of an insertion, which writes more than an update: next, key, value and the head of the chain.
const MOST_RECORDS: u64 = 3 + VALUE_WORDS;

/// Words of a value.
const VALUE_WORDS: u64 = 5;

/// Offsets in a node.
mod node {
    pub const NEXT: u64 = 0;
    pub const KEY: u64 = 8;
    pub const VALUE: u64 = 16;
    pub const BYTES: u64 = VALUE + 8 * super::VALUE_WORDS;
}

/// The first word of the initial value of a key. Word i is larger by i, and an update adds [`VERSION`].
fn first_value(key: u64) -> u64 {
    key << KEY_SHIFT
}

/// Position of the key in a value's first word.
const KEY_SHIFT: u64 = 32;

/// What an update adds to each word of a value: more than the number of words.
const VERSION: u64 = 8;

/// A multiplier that spreads keys: 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// A chained hash table.
pub struct Hashmap {
    heads: Table<8>,
    nodes: Table<{ node::BYTES }>,
    locks: Locks,
    free: FreeLists,
    keys: u64,
    loaded: u64,
    updates: u64,
    operations: u64,
    /// A task's buckets, ascending, then its operations: twice the key, plus one for an update.
    lists: Lists,
    logs: LogLayout,
    seed: u64,
}

impl Hashmap {
    /// The bucket of a key: a multiplication that hashes it, and one that reduces it to the number of buckets.
    fn bucket<'c, C: Cpu>(&self, key: W<'c, C>) -> W<'c, C> {
        (key * SPREAD).scaled_below(self.heads.rows())
    }

    /// The bucket of a key, computed outside the program.
    fn bucket_of(&self, key: u64) -> u64 {
        ((u128::from(key.wrapping_mul(SPREAD)) * u128::from(self.heads.rows())) >> 64) as u64
    }

    /// Whether a key is in the table at the start.
    fn is_loaded(&self, key: u64) -> bool {
        filler(self.seed, key, 0) % 100 < self.loaded
    }

    fn populate(&self, memory: &Memory) {
        for key in (0..self.keys).filter(|key| self.is_loaded(*key)) {
            let (node, head) = (self.nodes.addr(key), self.heads.addr(self.bucket_of(key)));
            memory.set_word(Addr(node.0 + node::NEXT), memory.word(head));
            memory.set_word(Addr(node.0 + node::KEY), key);
            for i in 0..VALUE_WORDS {
                memory.set_word(Addr(node.0 + node::VALUE + 8 * i), first_value(key) + i);
            }
            memory.set_word(head, node.0);
        }
    }
}

impl Workload for Hashmap {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (keys, operations) = (params.get("keys"), params.get("operations"));
        let mut heap = Heap::new(plan);
        let heads = heap.table(params.get("buckets"));
        let nodes = heap.table(keys);
        let map = Hashmap {
            heads,
            nodes,
            locks: Locks::allocate(&mut heap, heads.rows()),
            free: FreeLists::allocate(&mut heap, nodes.all(), plan.threads),
            keys,
            loaded: params.get("loaded"),
            updates: params.get("updates"),
            operations,
            lists: Lists::allocate(&mut heap, plan.lanes(), 2 * operations),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), ring(params, MOST_RECORDS)),
            seed: plan.seed,
        };
        Ok((map, heap))
    }

    fn fill(&self, memory: &Memory, _seed: u64) {
        self.populate(memory);
        self.restart(memory);
    }

    fn region(params: &Params) -> Demand {
        let operations = params.get("operations");
        // An insertion writes a node and a head.
        Demand {
            lines: 2 * operations,
            words: MOST_RECORDS * operations,
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        self.operate(thread);
    }

    /// Each chain holds keys of its bucket, each once. Values belong to their keys and are not torn. No loaded key is
    /// lost.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.check_chains(image)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.nodes.range(),
            self.heads.range(),
            self.free.range(),
            self.locks.range(self.heads.rows()),
            self.lists.range(),
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that is in no chain is free. If a chain is broken, no node is free.
    fn restart(&self, image: &dyn Image) {
        let seen = self.reachable(image).ok();
        self.free
            .rebuild(image, |node| seen.as_ref().is_none_or(|seen| seen.nodes[node as usize]));
    }
}

#[cfg(test)]
mod tests;
