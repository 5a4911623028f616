//! `skiplist`: insertions, deletions and searches of random keys in a skip list.
//!
//! One of the programs written for Atlas (Chakrabarti, Boehm and Bhandari, OOPSLA 2014) that ASAP (HPCA 2022) measures:
//! 2,000 operations on 4 threads, 80 % of them insertions. Structure and sizes beyond that are ours. The list is
//! Pugh's (CACM 1990): a node is linked at its lowest levels, at each further one with a probability of a quarter. A
//! node has its key, a link for each level, and an element of `item_bytes` bytes: the key's value.
//!
//! One lock guards the list. A critical section that changes it is one failure-atomic region. A new node's lines, or
//! the element that a new value replaces, are logged whole, as Atlas logs a copy of many bytes; each other store is
//! logged before it is made. A search writes nothing, so it has no region.
//!
//! Simplified: every node has room for the links of all levels, and every search begins at the highest. Nodes come from
//! a fixed pool, by volatile free lists that a restart rebuilds.

mod check;
mod list;

use crate::elements::{most_records, Elements, ITEM_BYTES};
use crate::maps::{init_ops, keys, reads};
use crate::operations::{two_regions, Lists};
use crate::papers::ATLAS;
use crate::params::{omits, param};
use crate::populate::loader;
use crate::About;
use list::{node, LEVELS};
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Call, CoreId, Cpu, Image, Lowering, Memory, Note, Thread, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    finish, log_records, BuildPlan, FreeLists, Heap, Locks, LogLayout, Plain, Random, Rows, Table, ThreadState,
    Workload,
};

sites! {
    OPERATION_READS = 0x7bf5_cc31;
    OPERATION_INSERTS = 0x30cf_64ba;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "skiplist",
    line: "insertions, deletions and searches in a skip list",
    paper: "ASAP (HPCA 2022), Skiplist, after Atlas (OOPSLA 2014)",
    tasks: 2_000,
    drift: Some("four insertions for each deletion or search: the list grows, and with it the way to a key"),
    params: PARAMS,
    small: &[
        ("keys", "24"),
        ("init_ops", "16"),
        ("inserts", "50"),
        ("reads", "10"),
        ("log_records", "38"),
    ],
    ..ATLAS
};

const PARAMS: &[Param] = &[
    Param {
        max: 1 << 20,
        ..keys(8192)
    },
    init_ops(1000),
    reads(0),
    param(
        "inserts",
        80,
        0..=100,
        "percent of operations that insert, or replace the value; what neither searches nor inserts deletes",
    ),
    ITEM_BYTES,
    Omits::PARAM,
    log_records(two_regions(MOST_RECORDS)),
];

/// Maximum number of records of a region: a new node, and a link to it at each level.
const MOST_RECORDS: u64 = most_records(node::ELEMENT) + LEVELS;

/// The low half of a word.
const LOW: u64 = 0xffff_ffff;

omits! {
    "the log and the flushes of a new node's element, the log of the links to a new node, or that of the links past a deleted one":
    Element = "element",
    Link = "link",
    Unlink = "unlink",
}

/// A skip list.
pub struct SkipList {
    /// The links of all levels to their first nodes, at the same offsets as a node's.
    head: Table<{ node::LINKED_BYTES }>,
    nodes: Rows,
    elements: Elements,
    locks: Locks,
    free: FreeLists,
    /// The node before a key, at each level, of each lane's operation.
    paths: Lists,
    keys: u64,
    init_ops: u64,
    /// Percent.
    reads: u64,
    inserts: u64,
    omits: Omits,
    logs: LogLayout,
}

impl SkipList {
    /// A random key. None is 0.
    fn draw<'c, C: Cpu>(&self, random: &mut Random<'c, C>) -> W<'c, C> {
        random.below(self.keys) + 1
    }

    /// An insertion of a random key, or a new value of it.
    fn insert_any<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let key = self.draw(&mut thread.random);
        let half = thread.random.word() >> 32;
        let value = (half << 32) | (key ^ half);
        cpu.note(Note::CallBegin(Call::Put {
            key: key.bits(),
            value: value.bits(),
        }));
        let done = self.put(thread, key, value);
        cpu.note(Note::CallEnd {
            answer: done.then_some(value.bits()),
        });
    }

    /// Whether a value is one that this key is given.
    fn is_of(key: u64, value: u64) -> bool {
        (value & LOW) == ((key ^ (value >> 32)) & LOW)
    }

    /// Fills the list on plain memory: functional and untimed.
    fn load(&self, memory: &Memory, seed: u64) {
        let plain = Plain::new(memory, CoreId(0), Lowering::NOTHING);
        let cpu = &Thread::on(&plain);
        let ended = finish(|| {
            let mut state = loader(cpu, &self.logs, seed);
            for _ in 0..self.init_ops {
                self.insert_any(&mut state);
            }
        });
        ended.expect("nobody holds a lock");
    }
}

impl Workload for SkipList {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (keys, reads, inserts) = (params.get("keys"), params.get("reads"), params.get("inserts"));
        if reads + inserts > 100 {
            return Err(ParamError(format!(
                "workload.reads={reads} with workload.inserts={inserts}: together at most 100 percent"
            )));
        }
        let elements = Elements::of(params, node::ELEMENT)?;
        let mut heap = Heap::new(plan);
        // A node that a lane has unlinked becomes free a little later.
        let nodes = elements.rows(&mut heap, keys + plan.lanes() as u64);
        let list = SkipList {
            head: heap.table(1),
            nodes,
            elements,
            locks: Locks::allocate(&mut heap, 1),
            free: FreeLists::allocate(&mut heap, nodes, plan.threads),
            paths: Lists::allocate(&mut heap, plan.lanes(), LEVELS),
            keys,
            init_ops: params.get("init_ops"),
            reads,
            inserts,
            omits: Omits::of(params),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        Ok((list, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        self.restart(memory);
        self.load(memory, seed);
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let cpu = thread.cpu;
        let draw = thread.random.below(100);
        if self.reads > 0 && draw.below(self.reads).branch(OPERATION_READS) {
            let key = self.draw(&mut thread.random);
            cpu.note(Note::CallBegin(Call::Get(key.bits())));
            let found = self.get(thread, key);
            cpu.note(Note::CallEnd {
                answer: found.map(|value| value.bits()),
            });
        } else if draw.below(self.reads + self.inserts).branch(OPERATION_INSERTS) {
            self.insert_any(thread);
        } else {
            let key = self.draw(&mut thread.random);
            cpu.note(Note::CallBegin(Call::Remove(key.bits())));
            let done = self.remove(thread, key);
            cpu.note(Note::CallEnd {
                answer: done.then_some(key.bits()),
            });
        }
    }

    /// At each level keys ascend. A level has only nodes of the level below. Elements are whole and their key's.
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
            self.head.range(),
            self.locks.range(1),
            self.paths.range(),
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every node that is not in the list is free. If the list is broken, no node is free.
    fn restart(&self, image: &dyn Image) {
        let used = self.reachable(image).ok();
        self.free
            .rebuild(image, |node| used.as_ref().is_none_or(|used| used[node as usize]));
    }
}
