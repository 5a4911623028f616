//! `atlas-queue`: enqueues to and dequeues from a linked queue with two locks.
//!
//! One of the programs written for Atlas (Chakrabarti, Boehm and Bhandari, OOPSLA 2014) that ASAP (HPCA 2022) measures:
//! 8,000 operations on 4 threads, half of them enqueues. Structure and sizes beyond that are ours. The queue is the
//! one with two locks of Michael and Scott (PODC 1996). Its first node is a dummy: a dequeue makes the next node the
//! dummy. So an enqueue and a dequeue take different locks.
//!
//! Each critical section is one failure-atomic region. A new node's lines are logged whole, as Atlas logs a copy of
//! many bytes; each other store is logged before it is made.
//!
//! In a queue of only the dummy, the published queue has a race: a dequeue looks at the link that an enqueue writes
//! under the other lock. A region that follows such a link depends on a region that may be undone, and no log sees it.
//! Here an enqueue hands its node over when its region has ended, in volatile memory, under a third lock for two
//! instructions. The runtimes whose regions are durable later find there what a dequeue depends on.
//! `workload.omits=hand-over` is the published queue.
//!
//! Nodes are numbered in their order, which the invariant checks. Simplified: nodes come from a fixed pool, by volatile
//! free lists that a restart rebuilds. An enqueue without a free node and a dequeue from an empty queue do nothing.

mod check;

use crate::elements::{most_records, Elements, ITEM_BYTES};
use crate::operations::two_regions;
use crate::papers::ATLAS;
use crate::params::{omits, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Addr, Call, Cpu, Image, Memory, Note, W};
use strandline_kernel::{Param, ParamError, Params, Rng};
use strandline_runtime::{
    log_records, BuildPlan, FreeLists, Heap, LogLayout, Region, Rows, Step, Table, ThreadState, Workload,
};

sites! {
    OPERATION_ENQUEUES = 0x7846_6fa9;
    NOTHING_HANDED_OVER = 0x9978_5c08;
    DUMMY_IS_LAST = 0xd37e_b8b4;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "atlas-queue",
    line: "enqueues to and dequeues from a linked queue with two locks",
    paper: "ASAP (HPCA 2022), Queue, after Atlas (OOPSLA 2014)",
    tasks: 8_000,
    drift: Some("how threads wait for the two locks settles within thousands of tasks only"),
    params: PARAMS,
    small: &[("nodes", "6"), ("log_records", "20")],
    ..ATLAS
};

const PARAMS: &[Param] = &[
    param("nodes", 16_384, 1..=1 << 20, "elements that there is room for"),
    param(
        "loaded",
        50,
        0..=100,
        "elements in the queue at the start, percent of the room",
    ),
    param(
        "inserts",
        50,
        0..=100,
        "percent of operations that enqueue; the others dequeue",
    ),
    ITEM_BYTES,
    Omits::PARAM,
    log_records(two_regions(MOST_RECORDS)),
];

/// Maximum number of records of a region: a new node, the link, the tail and the number of the next node.
const MOST_RECORDS: u64 = most_records(node::ELEMENT) + 3;

/// Offsets in a node, and the word at which its element begins.
mod node {
    pub const NEXT: u64 = 0;
    pub const NUMBER: u64 = 8;
    pub const ELEMENT: u64 = 2;
}

/// Offsets in the row of an end of the queue.
mod end {
    /// The dummy, or the last node.
    pub const NODE: u64 = 0;
    /// Of the tail: the number of the next node.
    pub const NUMBER: u64 = 8;
    pub const BYTES: u64 = 16;
}

/// Offsets in volatile memory, each lock in its own line.
mod volatile {
    use strandline_isa::LINE_BYTES;
    use strandline_runtime::LOCK_BYTES;

    /// The lock of dequeues. That of enqueues is at 0.
    pub const HEAD: u64 = LINE_BYTES;
    pub const HAND_OVER: u64 = 2 * LINE_BYTES;
    /// The last node whose region has ended.
    pub const HANDED_OVER: u64 = HAND_OVER + LOCK_BYTES;
    pub const BYTES: u64 = 3 * LINE_BYTES;
}

omits! {
    "the log and the flushes of a new node's element, the log of a link, or the wait of a dequeue for the end of the region that enqueued":
    Element = "element",
    Link = "link",
    HandOver = "hand-over",
}

/// A linked queue.
pub struct AtlasQueue {
    /// The head and the tail.
    ends: Table<{ end::BYTES }>,
    nodes: Rows,
    elements: Elements,
    volatile: Addr,
    free: FreeLists,
    /// Percent.
    loaded: u64,
    inserts: u64,
    omits: Omits,
    logs: LogLayout,
}

impl AtlasQueue {
    fn head(&self) -> u64 {
        self.ends.addr(0).0
    }

    fn tail(&self) -> u64 {
        self.ends.addr(1).0
    }

    /// Writes a new node, without successor.
    fn fill_node<'c, C: Cpu>(
        &self,
        region: &mut Region<'_, 'c, C>,
        cpu: &'c C,
        node: W<'c, C>,
        number: W<'c, C>,
        value: W<'c, C>,
    ) {
        let _call = cpu.call(4);
        if self.omits == Omits::Element {
            region.log(node, 0, 8 * node::ELEMENT);
            self.elements.store(node, value);
        } else {
            region.log_row(node, self.elements.row_bytes());
        }
        region.order(Step::More);
        region.update(node.at(node::NEXT), cpu.word(0), 8);
        region.update(node.at(node::NUMBER), number, 8);
        if self.omits != Omits::Element {
            self.elements.update(region, node, value);
        }
        region.finish();
    }

    /// Adds an element; false if there is no room.
    fn enqueue<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, value: W<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return false;
        };
        thread.log.takes(taken);
        let node = taken.row();
        let (tail, guard) = (cpu.word(self.tail()), cpu.word(self.volatile.0));
        thread.log.lock(guard);

        let (last, number) = (tail.at(end::NODE).load(), tail.at(end::NUMBER).load());
        let mut region = thread.log.begin();
        self.fill_node(&mut region, cpu, node, number, value);
        if self.omits == Omits::Link {
            last.at(node::NEXT).store(node);
            last.at(node::NEXT).flush();
        } else {
            region.write(last.at(node::NEXT), node, 8);
        }
        region.write(tail.at(end::NODE), node, 8);
        region.write(tail.at(end::NUMBER), number + 1, 8);
        region.end();

        self.hand_over(thread, node);
        thread.log.unlock(guard);
        true
    }

    /// Tells dequeues that the region of this node has ended.
    fn hand_over<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, node: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let lock = thread.cpu.word(self.volatile.0 + volatile::HAND_OVER);
        let word = thread.cpu.word(self.volatile.0 + volatile::HANDED_OVER);
        thread.log.lock(lock);
        word.store(node);
        thread.log.unlock(lock);
    }

    /// Whether nothing was handed over behind the dummy.
    fn is_empty<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, dummy: W<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        if self.omits == Omits::HandOver {
            return dummy.at(node::NEXT).load().is(0).branch(DUMMY_IS_LAST);
        }
        let lock = thread.cpu.word(self.volatile.0 + volatile::HAND_OVER);
        let word = thread.cpu.word(self.volatile.0 + volatile::HANDED_OVER);
        thread.log.lock(lock);
        let last = word.load();
        thread.log.unlock(lock);
        dummy.equals(last).branch(NOTHING_HANDED_OVER)
    }

    /// Removes the first element; returns its first word, or nothing if the queue is empty.
    fn dequeue<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let (head, guard) = (cpu.word(self.head()), cpu.word(self.volatile.0 + volatile::HEAD));
        thread.log.lock(guard);
        let dummy = head.at(end::NODE).load();
        if self.is_empty(thread, dummy) {
            thread.log.unlock(guard);
            return None;
        }

        let next = dummy.at(node::NEXT).load();
        let value = self.elements.read(next);
        let mut region = thread.log.begin();
        region.write(head.at(end::NODE), next, 8);
        region.end();

        thread.log.unlock(guard);
        // Only once the region has ended, because another thread may overwrite the node at once.
        self.free.give(cpu, thread.thread, dummy, &thread.log);
        Some(value)
    }

    /// Links random elements behind the dummy before the run.
    fn populate(&self, memory: &Memory, seed: u64) {
        let mut rng = Rng::new(seed);
        let count = (self.nodes.rows() - 1) * self.loaded / 100;
        for i in 0..=count {
            let node = self.nodes.addr(i).0;
            let next = if i < count { self.nodes.addr(i + 1).0 } else { 0 };
            memory.set_word(Addr(node + node::NEXT), next);
            memory.set_word(Addr(node + node::NUMBER), i);
            self.elements.set(memory, node, rng.next_u64());
        }
        memory.set_word(Addr(self.head() + end::NODE), self.nodes.addr(0).0);
        memory.set_word(Addr(self.tail() + end::NODE), self.nodes.addr(count).0);
        memory.set_word(Addr(self.tail() + end::NUMBER), count + 1);
    }
}

impl Workload for AtlasQueue {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let elements = Elements::of(params, node::ELEMENT)?;
        let mut heap = Heap::new(plan);
        // One is the dummy.
        let nodes = elements.rows(&mut heap, params.get("nodes") + 1);
        let queue = AtlasQueue {
            ends: heap.table(2),
            nodes,
            elements,
            volatile: heap.dram(volatile::BYTES),
            free: FreeLists::allocate(&mut heap, nodes, plan.threads),
            loaded: params.get("loaded"),
            inserts: params.get("inserts"),
            omits: Omits::of(params),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((queue, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.populate(memory, seed);
        self.restart(memory);
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let cpu = thread.cpu;
        if thread.random.below(100).below(self.inserts).branch(OPERATION_ENQUEUES) {
            let value = thread.random.word();
            cpu.note(Note::CallBegin(Call::Enqueue(value.bits())));
            let done = self.enqueue(thread, value);
            cpu.note(Note::CallEnd {
                answer: done.then_some(value.bits()),
            });
        } else {
            cpu.note(Note::CallBegin(Call::Dequeue));
            let first = self.dequeue(thread);
            cpu.note(Note::CallEnd {
                answer: first.map(|value| value.bits()),
            });
        }
    }

    /// The queue is a list from the dummy to its tail, numbered without gaps, and its elements are whole.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.reachable(image).map(|_| ())
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        self.values(image).unwrap_or_default()
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.nodes.range(),
            self.free.range(),
            self.ends.range(),
            self.volatile.0..self.volatile.0 + volatile::BYTES,
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that is not in the queue is free, and all in it are handed over. If the queue is broken, no node is
    /// free.
    fn restart(&self, image: &dyn Image) {
        let used = self.reachable(image).ok();
        self.free
            .rebuild(image, |node| used.as_ref().is_none_or(|used| used[node as usize]));
        let last = image.word(Addr(self.tail() + end::NODE));
        image.set_word(Addr(self.volatile.0 + volatile::HANDED_OVER), last);
    }
}
