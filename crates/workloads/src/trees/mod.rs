//! The trees of Speculative Persistence (ISCA 2017), Table 1: what AVL tree, B-tree and red-black tree share.
//!
//! An operation searches a random key. It deletes a key that it finds, and inserts one that it does not (3.2). Each
//! node has a line. The search is a loop. Insertion and deletion are recursive ("the tree is traversed recursively",
//! 3.2): they descend, which pushes the link of each level to a stack, and rebalance on the way back. On return, a level
//! writes the link that its callee returns, changed or not, as a recursive function does. (Incremental logging writes
//! what changes.) Full logging logs between descent and return, along the stack: so it logs the nodes that are written,
//! even if a load was given a stale value.
//!
//! Rebalancing is made failure-atomic in one of two ways:
//!
//! - *Full logging*, which the paper measures: before its first write, an operation logs all nodes which may be
//!   involved if rebalancing is triggered. It is one failure-atomic region.
//! - *Incremental logging* (`incremental`): the insertion or removal is a region, and so is each step of rebalancing.
//!   Each logs the nodes that it writes. A crash between two steps leaves a sorted tree that is not balanced. Recovery
//!   finds where, and continues to rebalance it by the same steps.
//!
//! Not in the paper: how many keys there are. By default they are twice as many as the initial operations
//! ([`keys_for`]). Nodes are allocated for all keys.

pub(crate) mod binary;
mod edit;
#[cfg(test)]
pub(crate) mod testing;
mod walk;

pub use edit::{line, offset, Change, Tree};
pub use walk::Walk;

use crate::operations::{two_regions, Lists};
use crate::params::param;
use crate::populate::populate;
use crate::structures::{init_ops, keys_for, Structures, STRUCTURES};
use std::marker::PhantomData;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, Memory, Thread, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    finish, log_records, recover, BuildPlan, Demand, Heap, Log, LogLayout, OnImage, ThreadState, Workload,
    PAYLOAD_BYTES,
};

/// Offsets in a tree's header.
pub(crate) mod header {
    /// Number of keys.
    pub const SIZE: u64 = 0;
    /// Link to the root; 0 without one.
    pub const ROOT: u64 = 8;
    /// Levels above the leaves, if the tree counts them.
    pub const HEIGHT: u64 = 16;
    pub const BYTES: u64 = 24;
}

/// Position of the key in a value; random bits are below it.
pub(crate) const KEY_SHIFT: u64 = 32;

/// The most keys of a tree.
pub(crate) const MOST_KEYS: u64 = 1 << 22;

/// A kind of tree.
pub trait Shape: Sync + 'static {
    /// Bytes of a node that are used and logged. A header has no more.
    const NODE: u64;
    /// Nodes for each key.
    const NODES: u64;
    /// The most links of a path in a tree of `keys` keys.
    fn links(keys: u64) -> u64;
    /// The most lines that an operation logs in a tree of `keys` keys.
    fn lines(keys: u64) -> u64;
    /// The most words that an operation writes in a tree of `keys` keys.
    fn words(keys: u64) -> u64;
    /// Deletes or inserts the key.
    fn toggle<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, key: W<'c, C>, value: W<'c, C>);
    /// Walks through the tree with this header.
    ///
    /// # Errors
    /// A fault that no interrupted rebalancing leaves.
    fn walk(walk: &mut Walk<'_>, header: u64) -> Result<(), String>;
    /// Continues rebalancing at a place that [`Shape::walk`] has found.
    fn resume<'c, C: Cpu>(tree: &mut Tree<'_, 'c, C>, at: Unbalanced);
}

/// Where a tree is not balanced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbalanced {
    /// A key that leads to the node, or below it.
    pub key: u64,
    /// The number of links from the header to the node.
    pub links: u64,
    /// The child of the node below which something lacks, if that is known.
    pub lacks: Option<binary::Side>,
    /// What is wrong.
    pub what: String,
}

/// The parameters of a tree whose operations log at most `records` records.
pub(crate) const fn params(initial: u64, records: u64) -> [Param; 5] {
    [
        init_ops(initial),
        param("keys", keys_for(initial), 1..=MOST_KEYS, "keys, each in a tree or not"),
        STRUCTURES,
        param(
            "incremental",
            0,
            0..=1,
            "1: each step of rebalancing is logged and made durable by itself",
        ),
        log_records(two_regions(records)),
    ]
}

/// Records of `lines` lines of `bytes` bytes: the undo log's have four words each.
pub(crate) const fn records(lines: u64, bytes: u64) -> u64 {
    lines * bytes.div_ceil(32)
}

/// Trees with their nodes, locks and logs.
pub struct Trees {
    structures: Structures<{ header::BYTES }, PAYLOAD_BYTES>,
    keys: u64,
    init_ops: u64,
    incremental: bool,
    logged_bytes: u64,
    most_links: u64,
    /// The stack of the open operation's recursion, and the nodes that it has removed.
    stacks: Lists,
    logs: LogLayout,
}

/// The workload of one kind of tree.
pub struct Toggles<S> {
    trees: Trees,
    shape: PhantomData<S>,
}

impl<S: Shape> Toggles<S> {
    /// Walks through all trees.
    fn walk<'a>(&self, image: &'a dyn Image) -> Result<Walk<'a>, String> {
        let mut walk = Walk::new(image, self.trees.structures.nodes, self.trees.keys);
        for index in 0..self.trees.structures.headers.rows() {
            let header = self.trees.structures.headers.addr(index).0;
            walk.start(index);
            S::walk(&mut walk, header)?;
            let size = image.word(Addr(header + header::SIZE));
            if size != walk.keys.len() as u64 {
                return Err(format!("the tree has {} keys, but its size is {size}", walk.keys.len()));
            }
        }
        Ok(walk)
    }

    /// Continues rebalancing at these places, by the program's own steps. Power may fail again at any store.
    fn resume(&self, image: &dyn Image, places: Vec<(u64, Unbalanced)>) {
        let repaired = OnImage::new(image);
        let cpu = &Thread::on(&repaired);
        let ended = finish(|| {
            let mut log = Log::open(cpu, &self.trees.logs, 0);
            for (index, place) in places {
                let stack = cpu.word(self.trees.stacks.range().start);
                let mut tree = Tree::open(&self.trees, cpu, &mut log, stack, cpu.word(index));
                S::resume(&mut tree, place);
                tree.close();
            }
            log.close();
        });
        ended.expect("nobody holds a lock");
        // Logs that are opened later continue behind these regions.
        recover(image, &self.trees.logs);
    }
}

impl<S: Shape> Workload for Toggles<S> {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let keys = params.get("keys");
        let mut heap = Heap::new(plan);
        let most_links = S::links(keys);
        let trees = Trees {
            // One node more for each lane and level: an operation takes new nodes before it frees others.
            structures: Structures::lay_out(
                &mut heap,
                plan,
                params.get(STRUCTURES.name),
                S::NODES * keys + most_links,
            ),
            keys,
            init_ops: params.get("init_ops"),
            incremental: params.get("incremental") == 1,
            logged_bytes: S::NODE,
            most_links,
            stacks: Lists::allocate(&mut heap, plan.lanes(), 3 * most_links),
            logs: LogLayout::allocate_for(
                &mut heap,
                plan.lanes(),
                params.get("log_records"),
                records(S::lines(keys), S::NODE),
            ),
        };
        let shape = PhantomData;
        Ok((Toggles { trees, shape }, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.restart(memory);
        populate(self, memory, seed, self.trees.init_ops);
    }

    fn region(params: &Params) -> Demand {
        let lines = S::lines(params.get("keys"));
        // A step of rebalancing writes at most two words of each line on average.
        Demand {
            lines,
            words: 2 * lines,
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let structures = &self.trees.structures;
        let key = thread.random.below(self.trees.keys);
        let value = (key << KEY_SHIFT) | (thread.random.word() >> KEY_SHIFT);
        let index = structures.draw(thread.cpu, &mut thread.random);
        structures.lock(&mut thread.log, index);

        let stack = self.trees.stacks.of(thread);
        let mut tree = Tree::open(&self.trees, thread.cpu, &mut thread.log, stack, index);
        S::toggle(&mut tree, key, value);
        tree.close();

        structures.unlock(&mut thread.log, index);
    }

    /// Keys are in order and values belong to them. The tree is balanced. Its size is right. No node is reachable
    /// twice, or both reachable and free.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let walk = self.walk(image)?;
        if let Some(unbalanced) = walk.unbalanced.first() {
            return Err(unbalanced.1.what.clone());
        }
        self.trees.structures.check_free(image, &walk.linked)
    }

    fn logs(&self) -> LogLayout {
        self.trees.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let mut ranges = self.trees.structures.footprint();
        ranges.extend([
            self.trees.stacks.range(),
            self.trees.logs.lists(),
            self.trees.logs.range(),
        ]);
        ranges
    }

    /// Continues interrupted rebalancing. It is interrupted at one place of a tree at most: its lock is held. Where
    /// several are not balanced, the tree is broken, and the check says so.
    fn repair(&self, image: &dyn Image) {
        let Ok(walk) = self.walk(image) else { return };
        let all = walk.unbalanced;
        let is_alone = |tree: u64| all.iter().filter(|place| place.0 == tree).count() == 1;
        let places: Vec<_> = all.iter().filter(|place| is_alone(place.0)).cloned().collect();
        if !self.trees.incremental || places.is_empty() {
            return;
        }
        // Splits need free nodes.
        self.restart(image);
        self.resume(image, places);
    }

    /// Every node that is not in a tree is free. If a tree is broken, no node is free.
    fn restart(&self, image: &dyn Image) {
        let linked = self.walk(image).ok().map(|walk| walk.linked);
        let is_linked = |node: u64| linked.as_ref().is_none_or(|linked| linked[node as usize]);
        self.trees.structures.rebuild(image, is_linked);
    }
}
