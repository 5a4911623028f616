//! `linked-list`: insertions and deletions in a sorted linked list.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "Linked-List", and 3.1.1. An operation searches a random key from the head
//! on. If the key is there, its node is deleted; otherwise a node with the key is inserted. The region logs the node before
//! it ("we log data of node nn and the address of nn"), whose next node changes. A new node is not logged: nothing reaches it
//! yet. A node is a line. The head is a line of its own with the same first word.
//!
//! The paper allows at most 1,024 nodes. Here there are so many keys, which bounds the list.

use crate::structures::{init_ops, populate, Structures, STRUCTURES};
use crate::About;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Memory, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, Demand, Heap, LogLayout, Region, Step, ThreadState, Workload, PAYLOAD_BYTES,
};

sites! {
    LIST_ENDS = 0x2f61_b8d3;
    KEY_IS_LOWER = 0x8c05_4ea7;
    KEY_IS_HERE = 0xd37b_196c;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "linked-list",
    aliases: &[],
    line: "inserts and deletes nodes of a sorted linked list",
    paper: "Speculative Persistence (ISCA 2017), Table 1, Linked-List",
    machine: "sp",
    runtime: "log-p-sf",
    tasks: 50_000,
    params: PARAMS,
    small: &[
        ("keys", "24"),
        ("init_ops", "20"),
        ("structures", "2"),
        ("log_records", "8"),
    ],
};

const PARAMS: &[Param] = &[
    Param {
        name: "keys",
        default: 1024,
        min: 1,
        max: 1 << 20,
        help: "number of keys, and the most nodes of a list",
    },
    init_ops(500),
    STRUCTURES,
    // Undo log: a line has two records; two lines, two regions.
    log_records(8),
];

/// Offsets in a node.
mod node {
    /// The next node, or 0. The head has the first node at the same offset.
    pub const NEXT: u64 = 0;
    pub const KEY: u64 = 8;
    pub const VALUE: u64 = 16;
    pub const BYTES: u64 = 24;
}

/// What an insertion writes: a node, and the link to it.
const LARGEST: Demand = Demand { lines: 2, words: 4 };

/// Added to a key, it gives the key's value: a torn node shows.
const VALUE: u64 = 0x5a5a_0000_0000;

/// Sorted linked lists.
pub struct LinkedList {
    lists: Structures<8, { node::BYTES }>,
    keys: u64,
    init_ops: u64,
    logs: LogLayout,
}

impl LinkedList {
    /// The node after which the key belongs, or the head; and the node with the key, if it is there.
    async fn search<'c, C: Cpu>(head: W<'c, C>, key: W<'c, C>) -> (W<'c, C>, Option<W<'c, C>>) {
        let mut before = head;
        let mut at = head.at(node::NEXT).load().await;
        while !at.is(0).branch(LIST_ENDS) {
            let found = at.at(node::KEY).load().await;
            if !found.less(key).branch(KEY_IS_LOWER) {
                return (before, found.equals(key).branch(KEY_IS_HERE).then_some(at));
            }
            before = at;
            at = at.at(node::NEXT).load().await;
        }
        (before, None)
    }

    async fn insert<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, before: W<'c, C>, node: W<'c, C>, key: W<'c, C>) {
        region.log(before, 0, PAYLOAD_BYTES).await;
        region.fresh(node).await;
        region.order(Step::Last).await;
        let next = region.read(before.at(node::NEXT), 8).await;
        region.update(node.at(node::NEXT), next, 8).await;
        region.update(node.at(node::KEY), key, 8).await;
        region.update(node.at(node::VALUE), key + VALUE, 8).await;
        region.update(before.at(node::NEXT), node, 8).await;
        region.finish().await;
    }

    async fn delete<'c, C: Cpu>(region: &mut Region<'_, 'c, C>, before: W<'c, C>, node: W<'c, C>) {
        region.log(before, 0, PAYLOAD_BYTES).await;
        region.order(Step::Last).await;
        let next = region.read(node.at(node::NEXT), 8).await;
        region.update(before.at(node::NEXT), next, 8).await;
        region.finish().await;
    }

    /// The nodes that a list reaches, by number.
    fn reachable(&self, image: &dyn Image) -> Result<Vec<bool>, String> {
        let mut seen = vec![false; self.lists.nodes.rows() as usize];
        for list in 0..self.lists.headers.rows() {
            let mut last = None;
            let mut at = image.word(self.lists.headers.addr(list));
            while at != 0 {
                let Some(index) = self
                    .lists
                    .nodes
                    .index_of(at)
                    .filter(|index| self.lists.own(list).contains(index))
                else {
                    return Err(format!("list {list} reaches {at:#x}, which is none of its nodes"));
                };
                let word = |offset| image.word(Addr(at + offset));
                let key = word(node::KEY);
                // Ascending keys exclude a circle, too.
                if key >= self.keys || last.is_some_and(|last| last >= key) {
                    return Err(format!("list {list} has key {key} after {last:?}"));
                }
                if word(node::VALUE) != key + VALUE {
                    return Err(format!(
                        "list {list}: the value of key {key} is {:#x}",
                        word(node::VALUE)
                    ));
                }
                seen[index as usize] = true;
                last = Some(key);
                at = word(node::NEXT);
            }
        }
        Ok(seen)
    }
}

impl Workload for LinkedList {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let keys = params.get("keys");
        let mut heap = Heap::new(plan);
        let list = LinkedList {
            lists: Structures::allot(&mut heap, plan, params.get("structures"), keys),
            keys,
            init_ops: params.get("init_ops"),
            logs: LogLayout::allot(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((list, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.restart(memory);
        populate(self, memory, seed, self.init_ops);
    }

    fn region(_params: &Params) -> Demand {
        LARGEST
    }

    async fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let cpu = thread.cpu;
        let list = self.lists.draw(cpu, &mut thread.random);
        let key = thread.random.below(self.keys);
        self.lists.lock(&mut thread.log, list).await;
        let (before, found) = LinkedList::search(self.lists.headers.row(list), key).await;
        match found {
            Some(node) => {
                LinkedList::delete(&mut thread.log.begin(), before, node).await;
                self.lists.give(cpu, list, node).await;
            }
            None => {
                if let Some(node) = self.lists.take(cpu, list).await {
                    LinkedList::insert(&mut thread.log.begin(), before, node, key).await;
                }
            }
        }
        self.lists.unlock(&mut thread.log, list).await;
    }

    /// Each list reaches nodes of its own, with ascending keys, and values that belong to them.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.reachable(image).map(|_| ())
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let mut ranges = self.lists.footprint();
        ranges.extend([self.logs.lists(), self.logs.range()]);
        ranges
    }

    /// Every node that no list reaches is free. If a list is broken, no node is free.
    fn restart(&self, image: &dyn Image) {
        let seen = self.reachable(image).ok();
        self.lists
            .rebuild(image, |node| seen.as_ref().is_none_or(|seen| seen[node as usize]));
    }
}
