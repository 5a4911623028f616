//! `rb-tree`: insertions and deletions of random keys in a red-black tree.
//!
//! StrandWeaver (ISCA 2020), Table II "RB-Tree", after NV-Heaps (ASPLOS 2011). DPO (MICRO 2016) has the same tree with
//! 64 updates a critical section: `operations`. A task takes the tree's lock and opens one failure-atomic region. It
//! looks up each of its random keys. It deletes a present key and inserts an absent one. Every store is logged before
//! it is made. A persistent mirror has one bit for each key in the tree. Each task changes it with the tree, and the
//! invariant compares the two: the published benchmark keeps a mirror copy of the tree for the same check.
//!
//! There are 16,384 keys, and so at most as many nodes. A random half is in the tree at the start, and half stays in on
//! average. Simplified: one tree with one lock, in DRAM; nodes come from a fixed pool with volatile free lists.

pub(crate) mod check;
pub(crate) mod tree;

use crate::filler::filler;
use crate::operations::{ring, two_regions, Lists, OPERATIONS};
use crate::papers::STRANDWEAVER;
use crate::params::param;
use crate::About;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Memory, W};
use strandline_kernel::{Param, ParamError, Params, Rng};
use strandline_runtime::{
    log_records, BuildPlan, FreeLists, Heap, Locks, LogLayout, Random, Table, ThreadState, Workload,
};
use tree::{header, node, Tree, BLACK, RED};

sites! {
    KEY_IS_ABSENT = 0xd2b0_6c71;
    OPERATION_IS_LAST = 0xc093_bc74;
    MORE_TO_FREE = 0xa632_9a27;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "rb-tree",
    line: "insertions and deletions in a red-black tree",
    paper: "StrandWeaver (ISCA 2020), Table II, RB-Tree",
    tasks: 50_000,
    params: PARAMS,
    small: &[("keys", "24"), ("log_records", "174")],
    ..STRANDWEAVER
};

const PARAMS: &[Param] = &[
    param(
        "keys",
        16_384,
        1..=MOST_KEYS,
        "keys, each in the tree or not: the most nodes it can have",
    ),
    OPERATIONS,
    log_records(two_regions(MOST_RECORDS)),
];

const MOST_KEYS: u64 = 1 << 20;

/// Maximum number of levels of a tree of the most keys.
pub(crate) const MOST_LEVELS: u64 = 2 * (MOST_KEYS.ilog2() as u64 + 1);

/// Maximum number of stores of an operation. An insertion makes six in the new node and three for link, size and
/// mirror. It recolours three nodes for each two levels, and rotates twice (six stores each) with two colours. A
/// deletion makes fewer.
const MOST_RECORDS: u64 = 9 + 3 * MOST_LEVELS / 2 + 14;

/// Position of the key in a node's value; random bits are below it.
const KEY_SHIFT: u64 = 32;

/// Keys in a word of the mirror. Each word has its own line.
const MIRROR_BITS: u64 = 64;

/// A red-black tree, its nodes, and the mirror of its keys.
pub struct RbTree {
    header: Table<{ header::BYTES }>,
    nodes: Table<{ node::BYTES }>,
    mirror: Table<8>,
    locks: Locks,
    free: FreeLists,
    keys: u64,
    operations: u64,
    /// The nodes that a task has removed.
    gone: Lists,
    logs: LogLayout,
}

impl RbTree {
    /// Deletes or inserts a key; returns the node that a deletion frees.
    fn toggle<'c, C: Cpu>(
        &self,
        thread: usize,
        tree: &mut Tree<'_, '_, 'c, C>,
        key: W<'c, C>,
        value: W<'c, C>,
    ) -> Option<W<'c, C>> {
        let _call = key.call(4);
        let place = tree.find(key);
        if !place.node.is(0).branch(KEY_IS_ABSENT) {
            let gone = tree.delete(place.node);
            self.reflect(tree, key);
            return Some(gone);
        }
        if let Some(taken) = self.free.take(tree.cpu, thread) {
            tree.region.takes(taken);
            tree.insert(place, taken.row(), key, value);
            self.reflect(tree, key);
        }
        None
    }

    /// Flips a key's bit in the mirror.
    fn reflect<'c, C: Cpu>(&self, tree: &mut Tree<'_, '_, 'c, C>, key: W<'c, C>) {
        let _call = key.call(2);
        let word = self.mirror.row(key >> u64::from(MIRROR_BITS.trailing_zeros()));
        let bit = tree.cpu.word(1) << (key & (MIRROR_BITS - 1));
        let old = tree.region.read(word, 8);
        tree.region.write(word, old ^ bit, 8);
    }

    /// The operations of a task, all in `region`. Returns the end of the list of removed nodes, which starts at `gone`.
    fn operate<'c, C: Cpu>(
        &self,
        thread: usize,
        tree: &mut Tree<'_, '_, 'c, C>,
        random: &mut Random<'c, C>,
        mut gone: W<'c, C>,
    ) -> W<'c, C> {
        let _call = gone.call(4);
        let mut left = tree.cpu.word(self.operations);
        loop {
            let key = random.below(self.keys);
            let value = (key << KEY_SHIFT) | (random.word() >> KEY_SHIFT);
            if let Some(node) = self.toggle(thread, tree, key, value) {
                gone.store(node);
                gone = gone + 8;
            }
            left = left - 1;
            if left.is(0).branch(OPERATION_IS_LAST) {
                return gone;
            }
        }
    }

    /// Fills the tree with a random half of the keys, balanced; nodes are in random order.
    fn populate(&self, memory: &Memory, seed: u64) {
        let keys: Vec<u64> = (0..self.keys).filter(|key| filler(seed, *key, 0) & 1 == 1).collect();
        let mut rows: Vec<u64> = (0..self.nodes.rows()).collect();
        shuffle(&mut rows, seed);
        let filling = Filling {
            memory,
            keys: &keys,
            nodes: rows.iter().map(|row| self.nodes.addr(*row).0).collect(),
            // Levels above this one are full.
            red_level: (keys.len() as u64 + 1).ilog2(),
        };
        let root = filling.build(0..keys.len(), 0, 0);
        let header = self.header.addr(0).0;
        memory.set_word(Addr(header + header::ROOT), root);
        memory.set_word(Addr(header + header::SIZE), keys.len() as u64);
        for key in keys {
            let word = self.mirror.addr(key / MIRROR_BITS);
            memory.set_word(word, memory.word(word) | 1 << (key % MIRROR_BITS));
        }
    }
}

/// Fisher and Yates's shuffle.
fn shuffle(rows: &mut [u64], seed: u64) {
    let mut rng = Rng::new(seed);
    for i in (1..rows.len()).rev() {
        let j = rng.next_u64() % (i as u64 + 1);
        rows.swap(i, j as usize);
    }
}

/// The initial tree during its construction.
struct Filling<'a> {
    memory: &'a Memory,
    keys: &'a [u64],
    /// The address of each key's node.
    nodes: Vec<u64>,
    /// The level (the root's is 0) that is not full: its nodes are red, all others black.
    red_level: u32,
}

impl Filling<'_> {
    /// Builds the subtree of some keys; returns the address of its root, or 0 without keys.
    fn build(&self, keys: Range<usize>, level: u32, parent: u64) -> u64 {
        if keys.is_empty() {
            return 0;
        }
        let middle = keys.start + keys.len() / 2;
        let (node, key) = (self.nodes[middle], self.keys[middle]);
        let words = [
            (node::KEY, key),
            (node::LEFT, self.build(keys.start..middle, level + 1, node)),
            (node::RIGHT, self.build(middle + 1..keys.end, level + 1, node)),
            (node::PARENT, parent),
            (node::COLOUR, if level == self.red_level { RED } else { BLACK }),
            (node::VALUE, key << KEY_SHIFT),
        ];
        for (field, word) in words {
            self.memory.set_word(Addr(node + field), word);
        }
        node
    }
}

impl Workload for RbTree {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (keys, operations) = (params.get("keys"), params.get("operations"));
        let mut heap = Heap::new(plan);
        let header = heap.table(1);
        // Removed nodes become free once their region is durable. So each lane can hold some besides those in the tree.
        let nodes = heap.table(keys + operations * plan.lanes() as u64);
        let tree = RbTree {
            header,
            nodes,
            mirror: heap.table(keys.div_ceil(MIRROR_BITS)),
            locks: Locks::allocate(&mut heap, 1),
            free: FreeLists::allocate(&mut heap, nodes.all(), plan.threads),
            keys,
            operations,
            gone: Lists::allocate(&mut heap, plan.lanes(), operations),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), ring(params, MOST_RECORDS)),
        };
        Ok((tree, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.populate(memory, seed);
        self.restart(memory);
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let cpu = thread.cpu;
        let lock = self.locks.first(cpu);
        let gone = self.gone.of(thread);
        thread.log.lock(lock);

        let mut region = thread.log.begin();
        let mut tree = Tree {
            cpu,
            region: &mut region,
            header: cpu.word(self.header.addr(0).0),
        };
        let mut end = self.operate(thread.thread, &mut tree, &mut thread.random, gone);
        region.end();

        thread.log.unlock(lock);
        // Only once the region is durable, because another thread may overwrite a node at once.
        while gone.less(end).branch(MORE_TO_FREE) {
            end = end - 8;
            let node = end.load();
            self.free.give(cpu, thread.thread, node, &thread.log);
        }
    }

    /// Keys are in order. Parent links are right. No red node has a red child. All paths down have equally many black
    /// nodes. Size and mirror match the tree. Values belong to their keys.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.check_tree(image)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.nodes.range(),
            self.free.range(),
            self.mirror.range(),
            self.header.range(),
            self.locks.range(1),
            self.gone.range(),
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that is not in the tree is free. If the tree is broken, no node is free.
    fn restart(&self, image: &dyn Image) {
        let linked = self.linked(image).ok();
        self.free
            .rebuild(image, |node| linked.as_ref().is_none_or(|linked| linked[node as usize]));
    }
}

#[cfg(test)]
mod tests;
