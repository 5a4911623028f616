//! `cq`, concurrent queues: pushes to and pops from linked queues. `queue` is the same with one queue.
//!
//! COSPlay (MICRO 2021), section 5, Table 3 "CQ" and its variants CQ-4, CQ-16, CQ-64, after Kolli et al. (ASPLOS 2016).
//! Each queue has one lock, or with `locks=2` one for each end (`ends.rs`; Delegated Persist Ordering, MICRO 2016,
//! section V). A node is the address of the next node and 64 four-byte items (264 bytes, five lines). A
//! task picks a random queue. At even odds, it fills a node and pushes it, or pops one. Log and flushes cover whole
//! rows: the node with its five lines, the queue's header, and for a push the link of the last node. There are two
//! fences a task.
//!
//! With `operations`, a region has several pushes and pops of one queue, under its lock. Each is a step, and the region
//! ends with another step (StrandWeaver, ISCA 2020, Figure 10, "queue").
//!
//! Simplified: nodes come from a fixed pool. Volatile free lists, one per thread, hold the free ones; a restart
//! rebuilds them from the reachable nodes. Half of the nodes are linked at the start. A push without a free node and a
//! pop of an empty queue do nothing. A node's items are consecutive numbers, so that a torn node is visible.

mod check;
mod ends;
mod task;

use crate::filler::pair;
use crate::operations::{ring, Lists, OPERATIONS};
use crate::papers::COSPLAY;
use crate::params::param;
use crate::{About, Alias};
use ends::Ends;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Memory};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, place, BuildPlan, Demand, FreeLists, Heap, Locks, LogLayout, Table, ThreadState, Workload,
    PAYLOAD_BYTES,
};

sites! {
    PUSHES = 0xa992_4b99;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "cq",
    aliases: &[Alias {
        name: "queue",
        set: &[("queues", "1")],
    }],
    line: "pushes to and pops from linked queues",
    paper: "COSPlay (MICRO 2021), Table 3, CQ",
    tasks: 20_000,
    params: PARAMS,
    small: &[("queues", "3"), ("nodes", "4"), ("log_records", "24")],
    ..COSPLAY
};

const PARAMS: &[Param] = &[
    param("queues", 16, 1..=1 << 16, "queues"),
    param(
        "nodes",
        512,
        2..=1 << 16,
        "nodes for each queue, half of them linked at the start",
    ),
    param(
        "locks",
        1,
        1..=2,
        "locks of a queue: one, or one for pushes and one for pops",
    ),
    OPERATIONS,
    // Two regions.
    log_records(2 * MOST_RECORDS),
];

/// Records of a push, which writes more than a pop: ten for a node, one for the header, one for the last node's link.
const MOST_RECORDS: u64 = 12;

const ITEMS: u64 = 64;
const NODE_BYTES: u64 = 8 + 4 * ITEMS;

/// Offsets in the header of a queue with one lock.
mod header {
    pub const HEAD: u64 = 0;
    pub const TAIL: u64 = 8;
    pub const COUNT: u64 = 16;
    pub const BYTES: u64 = 24;
}

/// Linked queues and their nodes.
pub struct Cq {
    queues: u64,
    /// One a queue with one lock, and one an end with two.
    headers: Table<{ header::BYTES }>,
    nodes: Table<NODE_BYTES>,
    /// Of queues with one lock.
    locks: Locks,
    /// Of queues with two.
    ends: Option<Ends>,
    free: FreeLists,
    operations: u64,
    /// Nodes that a task of several operations has popped.
    popped: Lists,
    logs: LogLayout,
}

/// Lines of a node.
const NODE_LINES: u64 = NODE_BYTES.div_ceil(PAYLOAD_BYTES);

/// Address of item `i` in its node.
fn item(i: u64) -> u64 {
    place(8 + 4 * i)
}

impl Cq {
    fn populate(&self, memory: &Memory, per_queue: u64) {
        for queue in 0..self.queues {
            let node = |i: u64| self.nodes.addr(queue * per_queue + i).0;
            for i in 0..per_queue {
                let next = if i + 1 < per_queue { node(i + 1) } else { 0 };
                memory.set_word(Addr(node(i)), next);
                for k in (0..ITEMS).step_by(2) {
                    memory.set_word(Addr(node(i) + item(k)), pair(i + k, i + k + 1));
                }
            }
            if self.ends.is_some() {
                self.populate_ends(memory, queue, [node(0), node(per_queue - 1)], per_queue - 1);
                continue;
            }
            let header = self.headers.addr(queue).0;
            memory.set_word(Addr(header + header::HEAD), node(0));
            memory.set_word(Addr(header + header::TAIL), node(per_queue - 1));
            memory.set_word(Addr(header + header::COUNT), per_queue);
        }
    }
}

impl Workload for Cq {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (queues, per_queue) = (params.get("queues"), params.get("nodes"));
        if queues * per_queue > 1 << 24 {
            return Err(ParamError(format!(
                "workload.queues={queues} times workload.nodes={per_queue}: at most {} nodes in all; set one lower",
                1 << 24
            )));
        }
        let two_locks = params.get("locks") == 2;
        let operations = params.get("operations");
        if two_locks && operations > 1 {
            return Err(ParamError(format!(
                "workload.operations={operations} with workload.locks=2: a region of pushes and pops takes one lock; set workload.locks=1 or workload.operations=1"
            )));
        }
        let mut heap = Heap::new(plan);
        // With two locks, each end has a header, and a queue has a dummy besides its nodes.
        let two = u64::from(two_locks);
        let headers = heap.table(queues * (1 + two));
        let nodes = heap.table(queues * (per_queue + two));
        let cq = Cq {
            queues,
            headers,
            nodes,
            locks: Locks::allocate(&mut heap, queues * (1 - two)),
            ends: two_locks.then(|| Ends::allocate(&mut heap, queues)),
            free: FreeLists::allocate(&mut heap, nodes.all(), plan.threads),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), ring(params, MOST_RECORDS)),
            operations,
            popped: Lists::allocate(&mut heap, plan.lanes(), operations),
        };
        Ok((cq, heap))
    }

    fn fill(&self, memory: &Memory, _seed: u64) {
        let dummy = u64::from(self.ends.is_some());
        self.populate(memory, (self.nodes.rows() / self.queues - dummy) / 2 + dummy);
        self.restart(memory);
    }

    fn region(params: &Params) -> Demand {
        let operations = params.get("operations");
        // Each push writes a node; the first one also writes the link of an existing node. All share the queue's
        // header.
        Demand {
            lines: NODE_LINES * operations + 2,
            words: NODE_BYTES / 8 * operations + 1 + header::BYTES / 8,
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        if self.operations > 1 {
            return self.several(thread);
        }
        let queue = thread.random.below(self.queues);
        let pushes = (thread.random.word() >> 63).is(0).branch(PUSHES);
        match (self.ends, pushes) {
            (None, true) => self.push(thread, queue),
            (None, false) => self.pop(thread, queue),
            (Some(ends), true) => self.push_to_end(thread, ends, queue),
            (Some(ends), false) => self.pop_from_end(thread, ends, queue),
        }
    }

    /// Each queue is a list that ends at its tail and has the length of its count (with two locks: a dummy before as
    /// many nodes as were pushed and not popped). No node is in two places. The items
    /// of each node are consecutive.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        let linked = self.reachable(image)?;
        let nodes = (0..self.nodes.rows()).filter(|index| linked[*index as usize]);
        nodes
            .map(|index| self.nodes.addr(index).0)
            .try_for_each(|node| Cq::check_items(image, node))
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let locks = match self.ends {
            None => self.locks.range(self.queues),
            Some(ends) => ends.range(self.queues),
        };
        vec![
            self.nodes.range(),
            self.free.range(),
            self.headers.range(),
            locks,
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that is in no queue is free. If a queue's links are broken, no node is free.
    fn restart(&self, image: &dyn Image) {
        let linked = self
            .reachable(image)
            .unwrap_or_else(|_| vec![true; self.nodes.rows() as usize]);
        self.free.rebuild(image, |node| linked[node as usize]);
        self.hand_over_all(image);
    }
}
