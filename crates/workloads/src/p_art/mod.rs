//! `p-art`: an adaptive radix tree, whose searches take no lock.
//!
//! ART (Leis et al., ICDE 2013) with the locks of ROWEX (Leis et al., DaMoN 2016), as RECIPE made it persistent (Lee et
//! al., SOSP 2019, section 6.4): a byte of the key chooses a node's child. Nodes have room for 4, 16, 48 or 256 children;
//! leaves have the whole key and the value. A node has the bytes that all its keys share as a prefix, and its level in the
//! tree, which never changes. The root has 256 and stays.
//!
//! - *Insertion* locks the node that gets the leaf. The leaf is durable before the node points to it. A full node is
//!   replaced by a larger copy, a leaf in the way by a node of two; both are durable before a parent points to them. A key
//!   that leaves a prefix early gets a new node above, and then the prefix becomes shorter.
//! - *Deletion* clears the pointer to the leaf. A node with few children is replaced by a smaller one (the public program's
//!   limits); a node of two by the child that is left, whose prefix then becomes longer. *A new value* replaces the old one
//!   in its leaf.
//! - *Half-done changes of a prefix* show by the level (RECIPE's condition 3): the prefix does not begin where the parent
//!   ends. Searches skip bytes that are missing, since the leaf has the whole key. A writer that gets such a node's lock
//!   takes the right prefix from a leaf below.
//! - *Locks* are versions, as ROWEX's. A writer that comes too late begins again. Locks are released after durability, and
//!   new nodes are born locked, so what a thread builds upon is durable.
//! - *Memory* that a deletion or a copy has left is given back by epochs, as in the public program, so that nobody looks at
//!   it any more. *Recovery* frees the locks, counts children anew, and finds the memory that nothing reaches.
//!
//! Not in the public program: a writer that holds a parent's lock looks whether the node is still its child; new nodes are
//! born locked; a merge takes the prefix from a leaf, since that of the child may be half done.
//!
//! Simplified: all 7 bytes of a prefix fit into its word. The public program stores pointers past the caches (`movnti`),
//! which needs no flush. Models of strands know no such stores, so here each is a store and a flush: an insertion flushes
//! 2.5 times, where the public program flushes 1.4 times and stores a pointer past the caches.

mod deletion;
mod descent;
mod insertion;
mod node;
mod recovery;

use crate::epochs::{Epochs, Owner};
use crate::maps::{self, Map, Old, NUMBER};
use crate::papers::ASAP;
use crate::params::{omits, param};
use crate::About;
use node::NodeKind;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Cpu, Image, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{BuildPlan, FreeLists, Heap, Rows, ThreadState};

sites! {
    ROW_IS_LEAF = 0x0124_6c95;
    ROW_IS_4 = 0xb093_c13c;
    ROW_IS_16 = 0xe6cb_fbf4;
    ROW_IS_48 = 0xb1e2_5f07;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "p-art",
    line: "inserts and searches in an adaptive radix tree",
    paper: "ASAP (HPCA 2022), Table III, after RECIPE's P-ART (SOSP 2019)",
    tasks: 100_000,
    drift: Some("the tree grows, and its nodes are replaced by larger ones"),
    params: PARAMS,
    small: &[
        ("keys", "40"),
        ("init_ops", "6"),
        ("gap", "40"),
        ("pool", "64"),
        ("reads", "10"),
        ("deletes", "30"),
        ("records", "64"),
    ],
    ..ASAP
};

const PARAMS: &[Param] = maps::params! {
    init_ops: 100_000, reads: 50;
    param(
        "gap",
        1 << 32,
        1..=1 << 32,
        "distance from key to key in the tree: with 1, keys differ in their last bytes only",
    ),
    param(
        "pool",
        1 << 18,
        8..=1 << 24,
        "leaves that there is room for, and nodes of 4; a quarter as many of 16, a twelfth of 48, a 37th of 256",
    ),
    Omits::PARAM,
};

omits! {
    "the flush of a record of a large pair, the order of a leaf before the pointer to it, that of a byte before its child, that of a new node before the pointer to it, the flush of a pointer, the look at the level, or the flush of the last line of a largest node":
    Value = "value",
    Leaf = "leaf",
    Byte = "byte",
    Node = "node",
    Pointer = "pointer",
    /// It takes every prefix for whole.
    Level = "level",
    /// The last line of a new node of the largest kind.
    End = "end",
}

/// How a try to change the tree ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Another writer is in the way.
    Again,
    NoRoom,
    /// Whether it has changed anything.
    Done(bool),
}

/// The number of the leaves' pool, after those of the kinds of nodes.
const LEAVES: usize = 4;

/// The tree.
pub struct Art {
    /// The root's address.
    root: u64,
    /// Nodes of each kind, and leaves.
    pools: [Rows; 5],
    free: [FreeLists; 5],
    epochs: Epochs,
    /// A key times this is the tree's key.
    factor: u64,
    omits: Omits,
}

impl Art {
    /// The key by whose bytes the tree branches.
    fn path<'c, C: Cpu>(&self, key: W<'c, C>) -> W<'c, C> {
        key * self.factor
    }

    /// Allocates a row of a pool.
    fn take<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, pool: usize) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        if let Some(taken) = self.free[pool].take(thread.cpu, thread.thread) {
            return Some(taken.row());
        }
        self.epochs.reclaim(thread, self);
        let taken = self.free[pool].take(thread.cpu, thread.thread)?;
        Some(taken.row())
    }

    /// Gives a row back that nobody looks at.
    fn give<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, pool: usize, row: W<'c, C>) {
        self.free[pool].give(thread.cpu, thread.thread, row, &thread.log);
    }
}

impl Owner for Art {
    /// A row of the pool with this number.
    fn take_back<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>, row: W<'c, C>, pool: W<'c, C>) {
        let _call = thread.cpu.call(3);
        let pool = if pool.is(LEAVES as u64).branch(ROW_IS_LEAF) {
            LEAVES
        } else if pool.is(NodeKind::N4 as u64).branch(ROW_IS_4) {
            NodeKind::N4 as usize
        } else if pool.is(NodeKind::N16 as u64).branch(ROW_IS_16) {
            NodeKind::N16 as usize
        } else if pool.is(NodeKind::N48 as u64).branch(ROW_IS_48) {
            NodeKind::N48 as usize
        } else {
            NodeKind::N256 as usize
        };
        self.give(thread, pool, row);
    }
}

/// How many rows the pools have, for so many leaves.
fn rows(leaves: u64) -> [u64; 5] {
    [leaves, leaves / 4 + 4, leaves / 12 + 4, leaves / 37 + 4, leaves]
}

impl Map for Art {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        let (keys, gap) = (params.get("keys"), params.get("gap"));
        if u128::from(keys) * u128::from(gap) > 1 << 64 {
            return Err(ParamError(format!(
                "workload.keys={keys} with workload.gap={gap}: together at most 2^64"
            )));
        }
        let rows = rows(params.get("pool"));
        let bytes = NodeKind::ALL.map(NodeKind::bytes);
        let mut pool = |number: usize| {
            let bytes = bytes.get(number).copied().unwrap_or(LINE_BYTES);
            heap.rows(rows[number], bytes, rows[number] / 4 + 1)
        };
        let pools = [pool(0), pool(1), pool(2), pool(3), pool(LEAVES)];
        Ok(Art {
            root: pools[NodeKind::N256 as usize].addr(0).0,
            pools,
            free: pools.map(|rows| FreeLists::allocate(heap, rows, plan.threads)),
            epochs: Epochs::allocate(heap, plan, rows.iter().sum()),
            factor: NUMBER.wrapping_mul(gap),
            omits: Omits::of(params),
        })
    }

    /// A root without children.
    fn format(&self, image: &dyn Image) {
        maps::set(image, self.root + node::field::HEAD, NodeKind::N256 as u64);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        self.epochs.enter(thread);
        let found = self.search(thread.cpu, key).map(|leaf| leaf.at(8).load());
        self.epochs.leave(thread);
        found
    }

    fn put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        self.epochs.enter(thread);
        let mut made = None;
        let done = loop {
            match self.try_put(thread, (key, value), &mut made, old) {
                Turn::Done(done) => break done,
                Turn::NoRoom => break false,
                Turn::Again => {
                    thread.cpu.give_way();
                    thread.cpu.spins();
                }
            }
        };
        // Another thread has inserted the key first, or there was no room for a node.
        if let Some(leaf) = made {
            self.give(thread, LEAVES, leaf);
        }
        self.epochs.leave(thread);
        self.epochs.reclaim_if_full(thread, self);
        done
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        self.epochs.enter(thread);
        let done = loop {
            match self.try_remove(thread, key, old) {
                Turn::Done(done) => break done,
                // A deletion needs no memory.
                Turn::NoRoom | Turn::Again => {
                    thread.cpu.give_way();
                    thread.cpu.spins();
                }
            }
        };
        self.epochs.leave(thread);
        self.epochs.reclaim_if_full(thread, self);
        done
    }

    fn mend(&self, image: &dyn Image) {
        self.mend_nodes(image);
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.reached(image);
        for (free, reached) in self.free.iter().zip(reached) {
            free.rebuild(image, |row| reached[row as usize]);
        }
        self.epochs.restart(image);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.pairs(image)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.free[NodeKind::N4 as usize].range(),
            self.free[LEAVES].range(),
            self.epochs.range(),
            self.root..self.root + NodeKind::N256.bytes(),
        ]
    }
}
