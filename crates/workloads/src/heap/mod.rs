//! `heap`: insertions into and deletions from a priority queue, a binary heap in an array.
//!
//! One of the programs written for Atlas (Chakrabarti, Boehm and Bhandari, OOPSLA 2014) that ASAP (HPCA 2022) measures:
//! 8,000 operations on 4 threads, half of them insertions. Structure and sizes beyond that are ours. The heap is
//! Williams's (Algorithm 232, CACM 1964). A slot of the array is one word: the priority and the place of the element,
//! which has `item_bytes` bytes in a row of its own. So moving an element up or down stores one word.
//!
//! One lock guards the heap. Its critical section is one failure-atomic region. A new element's lines are logged
//! whole, as Atlas logs a copy of many bytes; each other store is logged before it is made. The lock is released after
//! the runtime has ended the region: under `atlas` that is before the region is committed, and the lock passes on the
//! dependence.
//!
//! Simplified: rows come from a fixed pool, by volatile free lists that a restart rebuilds. An insertion without a
//! free row and a deletion from an empty heap do nothing.

mod check;

use crate::elements::{most_records, Elements, ITEM_BYTES};
use crate::operations::two_regions;
use crate::papers::ATLAS;
use crate::params::{omits, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Addr, Call, Cpu, Image, Memory, Note, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params, Rng};
use strandline_runtime::{
    log_records, place, BuildPlan, FreeLists, Heap, Locks, LogLayout, Region, Rows, Step, Table, ThreadState, Workload,
    PAYLOAD_BYTES,
};

sites! {
    OPERATION_INSERTS = 0xf6bd_f840;
    HEAP_IS_EMPTY = 0x6005_7177;
    AT_THE_ROOT = 0xbfef_6760;
    IS_BELOW_PARENT = 0xe86b_f090;
    HAS_A_CHILD = 0x7bd4_6573;
    HAS_A_RIGHT_CHILD = 0xf000_c66b;
    RIGHT_IS_LESS = 0x3052_07ca;
    CHILD_IS_LESS = 0xeb9a_5876;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "heap",
    line: "insertions into and deletions from a priority queue",
    paper: "ASAP (HPCA 2022), Heap, after Atlas (OOPSLA 2014)",
    tasks: 8_000,
    drift: Some(
        "a deletion takes the least element: what is left has ever higher priorities, and new elements rise further",
    ),
    params: PARAMS,
    small: &[("nodes", "16"), ("log_records", "58")],
    ..ATLAS
};

const PARAMS: &[Param] = &[
    param("nodes", 16_384, 1..=MOST_NODES, "elements that there is room for"),
    param(
        "loaded",
        50,
        0..=100,
        "elements in the heap at the start, percent of the room",
    ),
    param(
        "inserts",
        50,
        0..=100,
        "percent of operations that insert; the others delete the element of least priority",
    ),
    ITEM_BYTES,
    Omits::PARAM,
    log_records(two_regions(MOST_RECORDS)),
];

const MOST_NODES: u64 = 1 << 20;

/// Maximum number of records of a region: a new element, a slot of each level, the size.
const MOST_RECORDS: u64 = most_records(0) + MOST_NODES.ilog2() as u64 + 2;

/// The part of a slot that is the element's place: its distance from the first row, in lines.
const PLACE: u64 = 0xffff_ffff;

const LINE_SHIFT: u64 = LINE_BYTES.trailing_zeros() as u64;

/// Slots of a line.
const LINE_SLOTS: u64 = PAYLOAD_BYTES / 8;

/// 2^64 over [`LINE_SLOTS`], rounded up: the upper half of the product with a number of a slot is the number of its
/// line.
const PER_LINE: u64 = u64::MAX / LINE_SLOTS + 1;

omits! {
    "the log and the flushes of a new element, or the log of a slot":
    Element = "element",
    Slot = "slot",
}

/// A priority queue.
pub struct PriorityQueue {
    /// How many elements it has.
    size: Table<8>,
    /// The slots, seven in a line.
    array: Table<PAYLOAD_BYTES>,
    rows: Rows,
    elements: Elements,
    locks: Locks,
    free: FreeLists,
    /// Percent.
    loaded: u64,
    inserts: u64,
    omits: Omits,
    logs: LogLayout,
}

impl PriorityQueue {
    /// The address of slot `i`: a multiplication, two additions and a shift, because a line's last word is its trailer.
    fn slot<'c, C: Cpu>(&self, i: W<'c, C>) -> W<'c, C> {
        ((i + i.scaled_below(PER_LINE)) << 3) + self.array.range().start
    }

    /// As [`PriorityQueue::slot`], outside the program.
    fn slot_addr(&self, i: u64) -> Addr {
        Addr(self.array.range().start + place(8 * i))
    }

    /// The address of the row with a slot's element.
    fn row<'c, C: Cpu>(&self, slot: W<'c, C>) -> W<'c, C> {
        ((slot & PLACE) << LINE_SHIFT) + self.rows.range().start
    }

    /// Stores into a slot.
    fn set<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, slot: W<'c, C>, value: W<'c, C>) {
        let _call = slot.call(3);
        if self.omits == Omits::Slot {
            slot.store(value);
            return slot.flush();
        }
        region.write(slot, value, 8);
    }

    /// Writes a new element.
    fn fill_row<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, row: W<'c, C>, value: W<'c, C>) {
        let _call = row.call(3);
        if self.omits == Omits::Element {
            return self.elements.store(row, value);
        }
        self.elements.log(region, row);
        region.order(Step::More);
        self.elements.update(region, row, value);
        region.finish();
    }

    /// Moves parents down from the free slot `hole` until `new` fits, and stores it.
    fn sift_up<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, mut hole: W<'c, C>, new: W<'c, C>) {
        let _call = hole.call(3);
        while !hole.is(0).branch(AT_THE_ROOT) {
            let parent = (hole - 1) >> 1;
            let above = region.read(self.slot(parent), 8);
            if !new.less(above).branch(IS_BELOW_PARENT) {
                break;
            }
            self.set(region, self.slot(hole), above);
            hole = parent;
        }
        self.set(region, self.slot(hole), new);
    }

    /// Moves children up from the free root of a heap of `size` slots until `last` fits, and stores it.
    fn sift_down<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, cpu: &'c C, size: W<'c, C>, last: W<'c, C>) {
        let _call = cpu.call(3);
        let mut hole = cpu.word(0);
        loop {
            let mut child = (hole << 1) + 1;
            if !child.less(size).branch(HAS_A_CHILD) {
                break;
            }
            let mut least = region.read(self.slot(child), 8);
            let right = child + 1;
            if right.less(size).branch(HAS_A_RIGHT_CHILD) {
                let other = region.read(self.slot(right), 8);
                if other.less(least).branch(RIGHT_IS_LESS) {
                    (child, least) = (right, other);
                }
            }
            if !least.less(last).branch(CHILD_IS_LESS) {
                break;
            }
            self.set(region, self.slot(hole), least);
            hole = child;
        }
        self.set(region, self.slot(hole), last);
    }

    /// Inserts an element; false if there is no room.
    fn insert<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, value: W<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let Some(taken) = self.free.take(cpu, thread.thread) else {
            return false;
        };
        thread.log.takes(taken);
        let row = taken.row();
        let guard = self.locks.first(cpu);
        thread.log.lock(guard);

        let count = cpu.word(self.size.addr(0).0);
        let size = count.load();
        let mut region = thread.log.begin();
        self.fill_row(&mut region, row, value);
        let new = (value & !PLACE) | ((row - self.rows.range().start) >> LINE_SHIFT);
        self.sift_up(&mut region, size, new);
        region.write(count, size + 1, 8);
        region.end();

        thread.log.unlock(guard);
        true
    }

    /// Deletes an element of least priority; returns its first word, or nothing if the heap is empty.
    fn delete_min<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(1);
        let cpu = thread.cpu;
        let guard = self.locks.first(cpu);
        thread.log.lock(guard);
        let count = cpu.word(self.size.addr(0).0);
        let size = count.load();
        if size.is(0).branch(HEAP_IS_EMPTY) {
            thread.log.unlock(guard);
            return None;
        }

        let left = size - 1;
        let least = self.slot(cpu.word(0)).load();
        let last = self.slot(left).load();
        let row = self.row(least);
        let value = self.elements.read(row);
        let mut region = thread.log.begin();
        self.sift_down(&mut region, cpu, left, last);
        region.write(count, left, 8);
        region.end();

        thread.log.unlock(guard);
        // Only once the region has ended, because another thread may overwrite the row at once.
        self.free.give(cpu, thread.thread, row, &thread.log);
        Some(value)
    }

    /// Inserts random elements before the run.
    fn populate(&self, memory: &Memory, seed: u64) {
        let mut rng = Rng::new(seed);
        let count = self.rows.rows() * self.loaded / 100;
        for i in 0..count {
            let (row, value) = (self.rows.addr(i).0, rng.next_u64());
            self.elements.set(memory, row, value);
            let new = (value & !PLACE) | ((row - self.rows.range().start) >> LINE_SHIFT);
            let mut hole = i;
            while hole > 0 && new < memory.word(self.slot_addr((hole - 1) / 2)) {
                memory.set_word(self.slot_addr(hole), memory.word(self.slot_addr((hole - 1) / 2)));
                hole = (hole - 1) / 2;
            }
            memory.set_word(self.slot_addr(hole), new);
        }
        memory.set_word(self.size.addr(0), count);
    }
}

impl Workload for PriorityQueue {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let nodes = params.get("nodes");
        let elements = Elements::of(params, 0)?;
        let mut heap = Heap::new(plan);
        let rows = elements.rows(&mut heap, nodes);
        let queue = PriorityQueue {
            size: heap.table(1),
            array: heap.table(nodes.div_ceil(LINE_SLOTS)),
            rows,
            elements,
            locks: Locks::allocate(&mut heap, 1),
            free: FreeLists::allocate(&mut heap, rows, plan.threads),
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
        if thread.random.below(100).below(self.inserts).branch(OPERATION_INSERTS) {
            let value = thread.random.word();
            cpu.note(Note::CallBegin(Call::Insert(value.bits())));
            let done = self.insert(thread, value);
            cpu.note(Note::CallEnd {
                answer: done.then_some(value.bits()),
            });
        } else {
            cpu.note(Note::CallBegin(Call::DeleteMin));
            let least = self.delete_min(thread);
            cpu.note(Note::CallEnd {
                answer: least.map(|value| value.bits()),
            });
        }
    }

    /// Each slot has an element of its own with the slot's priority, which is not less than the parent's. No element is
    /// torn.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.reachable(image).map(|_| ())
    }

    fn contents(&self, image: &dyn Image) -> BTreeMap<u64, u64> {
        self.values(image)
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.rows.range(),
            self.free.range(),
            self.array.range(),
            self.size.range(),
            self.locks.range(1),
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// Every row that is not in the heap is free. If the heap is broken, no row is free.
    fn restart(&self, image: &dyn Image) {
        let used = self.reachable(image).ok();
        self.free
            .rebuild(image, |row| used.as_ref().is_none_or(|used| used[row as usize]));
    }
}
