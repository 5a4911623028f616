//! `fast-fair`: a B+-tree that shifts records in store order, without a log.
//!
//! Hwang et al., "Endurable Transient Inconsistency in Byte-Addressable Persistent B+-Tree" (FAST 2018): a node has a
//! header, and sorted records of a key and a pointer, of which the first without a pointer ends the list. In a leaf the
//! pointer is the value.
//!
//! - *FAST* (section 3): an insertion shifts the greater records to the right, one by one, pointer before key; a line that
//!   is complete is flushed and ordered before the next is written. A record whose pointer equals the one before it is
//!   invalid. So each store leaves a list that readers understand, and the store of the new pointer is the one that
//!   inserts. A deletion shifts to the left.
//! - *FAIR* (section 4): a full node gives its upper half to a new sibling, which is durable before the node points to it;
//!   that pointer is durable before the upper half is cut off. The parent gets its record last.
//! - *Searches take no lock* (section 5): they go in the direction of the shifts, again if the direction has changed, and to
//!   the sibling for keys that it covers. Writers hold the lock of a node. They release it after durability; a new sibling
//!   is born locked, since what others insert there could be durable before the pointer to it.
//! - *Recovery* removes invalid records, cuts off what the sibling has, and gives parents the records of nodes that only
//!   their siblings point to. Nodes that a crash has left unreachable are free after it.
//!
//! Not in the paper: a search for a child reads a record's key again after its pointer; otherwise a record that is being
//! appended sends it too far to the right, from where nothing leads back. A header has the lowest key that the node covers. A first record would do until it is deleted. Empty
//! nodes stay.

mod recovery;
mod shift;
mod split;

use crate::maps::{self, Map, Old};
use crate::papers::ASAP;
use crate::params::{omits, param};
use crate::About;
use std::collections::BTreeMap;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Intent, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{lock, unlock, BuildPlan, FreeLists, Heap, Rows, ThreadState};

sites! {
    HAS_SIBLING = 0x3c6c_f314;
    SIBLING_COVERS = 0xab19_9f09;
    IS_AT_LEVEL = 0x413f_1e70;
    ROOT_IS_BELOW = 0xf89b_ea1b;
    CHILD_ENDS = 0x3e44_857c;
    CHILD_STAYED = 0x2428_d554;
    CHILD_IS_INVALID = 0xf638_2192;
    CHILD_IS_GREATER = 0x186c_d01b;
    CHILD_SHIFT_CHANGED = 0x723e_fe26;
    SHIFTS_RIGHT = 0x8d85_b5e9;
    RECORD_ENDS = 0xf360_a1d2;
    RECORD_IS_FIRST = 0xd822_d24c;
    RECORD_MATCHES = 0x4f5d_08df;
    RECORD_IS_VALID = 0xa222_aa75;
    RECORD_STAYED = 0xdb9b_be7b;
    BACK_ENDS = 0x2cca_49f4;
    BACK_MATCHES = 0xd154_8e62;
    BACK_IS_VALID = 0xcff4_51d8;
    NOTHING_IS_BEFORE = 0xf6dc_789b;
    BACK_HAS_POINTER = 0x1c0a_6986;
    BACK_STAYED = 0x3837_9e42;
    LEAF_SHIFT_CHANGED = 0xbce5_c4fc;
    FIND_ENDS = 0xc52a_f77f;
    FIND_MATCHES = 0x0479_de62;
    NODE_HAS_ROOM = 0xf146_123c;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "fast-fair",
    line: "inserts into a B+-tree that shifts records in store order",
    paper: "ASAP (HPCA 2022), Table III, after FAST and FAIR (FAST 2018)",
    tasks: 24_000,
    drift: Some("the tree grows, and with it the way to a key"),
    params: PARAMS,
    small: &[
        ("keys", "40"),
        ("init_ops", "6"),
        ("lines", "3"),
        ("pool", "24"),
        ("reads", "10"),
        ("deletes", "15"),
        ("records", "64"),
    ],
    ..ASAP
};

const PARAMS: &[Param] = maps::params! {
    init_ops: 0, reads: 0;
    param(
        "lines",
        8,
        2..=1 << 10,
        "lines of a node: a header, and four records in each of the others",
    ),
    param("pool", 1 << 16, 4..=1 << 24, "nodes that there is room for"),
    Omits::PARAM,
};

/// Offsets in a node.
mod node {
    /// The child for keys below the first record's; 0 in a leaf.
    pub const LEFTMOST: u64 = 0;
    /// The next node of the level.
    pub const SIBLING: u64 = 8;
    /// 0 for a leaf.
    pub const LEVEL: u64 = 16;
    /// Records; of use to the holder of the lock.
    pub const COUNT: u64 = 24;
    /// Odd while records shift to the left.
    pub const SHIFTS: u64 = 32;
    pub const LOCK: u64 = 40;
    /// The lowest key that it covers.
    pub const LOW: u64 = 48;
    /// The first record.
    pub const RECORDS: u64 = 64;
}

/// Bytes of a record.
const RECORD: u64 = 16;

/// The offset of a record's pointer.
const POINTER: u64 = 8;

omits! {
    "the flush of a record of a large pair, the flush of a record, the order of the lines of a shift, that of a new node before the pointer to it, or that of the pointer before the upper half is cut off":
    Value = "value",
    Record = "record",
    Shift = "shift",
    Sibling = "sibling",
    Cut = "cut",
}

/// The tree.
pub struct FastFair {
    root: Addr,
    nodes: Rows,
    free: FreeLists,
    /// Bytes of a node.
    bytes: u64,
    omits: Omits,
}

/// A record for a node of a level: a key, and the value or child.
struct Entry<'c, C: Cpu> {
    level: u64,
    key: W<'c, C>,
    pointer: W<'c, C>,
}

impl<C: Cpu> Clone for Entry<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Cpu> Copy for Entry<'_, C> {}

/// What became of an insertion into a node.
enum Inserted<'c, C: Cpu> {
    Done,
    /// The node was split, and its parent gets this record.
    Split(Entry<'c, C>),
    /// There is no node for a split.
    NoRoom,
}

impl FastFair {
    /// The most records of a node: one place is for the end.
    fn most(&self) -> u64 {
        (self.bytes - node::RECORDS) / RECORD - 1
    }

    /// The sibling of a node if it covers the key.
    fn right<'c, C: Cpu>(at: W<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = at.call(2);
        let sibling = at.at(node::SIBLING).load();
        if sibling.is(0).branch(HAS_SIBLING) {
            return None;
        }
        let low = sibling.at(node::LOW).load();
        (!key.less(low).branch(SIBLING_COVERS)).then_some(sibling)
    }

    /// The node of a level that covers a key; `None` if the tree is not as high.
    fn descend<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>, level: u64) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        let mut at = cpu.word(self.root.0).load();
        let mut height = at.at(node::LEVEL).load();
        if height.below(level).branch(ROOT_IS_BELOW) {
            return None;
        }
        loop {
            while let Some(sibling) = FastFair::right(at, key) {
                at = sibling;
            }
            if height.is(level).branch(IS_AT_LEVEL) {
                return Some(at);
            }
            at = FastFair::child(cpu, at, key);
            height = height - 1;
        }
    }

    /// The child of an inner node for a key. Records of inner nodes shift to the right only.
    fn child<'c, C: Cpu>(cpu: &'c C, parent: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        loop {
            let shifts = parent.at(node::SHIFTS).load();
            let mut child = parent.at(node::LEFTMOST).load();
            let mut record = parent.at(node::RECORDS);
            loop {
                let least = record.load();
                let pointer = record.at(POINTER).load();
                // The place may have been given to another record in between, which is not for this key.
                if !record.load().equals(least).branch(CHILD_STAYED) {
                    continue;
                }
                if pointer.is(0).branch(CHILD_ENDS) {
                    break;
                }
                if !pointer.equals(child).branch(CHILD_IS_INVALID) {
                    if key.less(least).branch(CHILD_IS_GREATER) {
                        break;
                    }
                    child = pointer;
                }
                record = record + RECORD;
            }
            let now = parent.at(node::SHIFTS).load();
            if now.equals(shifts).branch(CHILD_SHIFT_CHANGED) {
                return child;
            }
            cpu.spins();
        }
    }

    /// The value of a key in a leaf, without a lock.
    fn value<'c, C: Cpu>(&self, cpu: &'c C, leaf: W<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        loop {
            let shifts = leaf.at(node::SHIFTS).load();
            let found = match (shifts & 1).is(0).branch(SHIFTS_RIGHT) {
                true => FastFair::forwards(cpu, leaf, key),
                false => FastFair::backwards(cpu, leaf, key),
            };
            let now = leaf.at(node::SHIFTS).load();
            if now.equals(shifts).branch(LEAF_SHIFT_CHANGED) {
                return found;
            }
            cpu.spins();
        }
    }

    fn forwards<'c, C: Cpu>(cpu: &'c C, leaf: W<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        let first = leaf.at(node::RECORDS);
        let mut record = first;
        loop {
            let held = record.load();
            let pointer = record.at(POINTER).load();
            // The first record has no pointer while a lower key takes its place.
            if pointer.is(0).branch(RECORD_ENDS) {
                if !record.equals(first).branch(RECORD_IS_FIRST) {
                    return None;
                }
            } else if held.equals(key).branch(RECORD_MATCHES) {
                // Read anew: the record may have stood in the place before, and moved.
                let before = FastFair::before(cpu, first, record);
                if !pointer.equals(before).branch(RECORD_IS_VALID) && record.load().equals(key).branch(RECORD_STAYED) {
                    return Some(pointer);
                }
            }
            record = record + RECORD;
        }
    }

    /// The pointer before that of a record of a leaf.
    fn before<'c, C: Cpu>(cpu: &'c C, first: W<'c, C>, record: W<'c, C>) -> W<'c, C> {
        let _call = cpu.call(2);
        match record.equals(first).branch(NOTHING_IS_BEFORE) {
            true => cpu.word(0),
            false => (record - RECORD).at(POINTER).load(),
        }
    }

    fn backwards<'c, C: Cpu>(cpu: &'c C, leaf: W<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        let first = leaf.at(node::RECORDS);
        let count = leaf.at(node::COUNT).load();
        let mut record = first + (count << u64::from(RECORD.trailing_zeros()));
        loop {
            if record.load().equals(key).branch(BACK_MATCHES) {
                let pointer = record.at(POINTER).load();
                let before = FastFair::before(cpu, first, record);
                let is_valid = !pointer.is(0).branch(BACK_HAS_POINTER) && !pointer.equals(before).branch(BACK_IS_VALID);
                if is_valid && record.load().equals(key).branch(BACK_STAYED) {
                    return Some(pointer);
                }
            }
            if record.equals(first).branch(BACK_ENDS) {
                return None;
            }
            record = record - RECORD;
        }
    }

    /// Locks the node of a level that covers a key.
    fn lock<'c, C: Cpu>(&self, cpu: &'c C, key: W<'c, C>, level: u64) -> Option<W<'c, C>> {
        let _call = cpu.call(2);
        let mut at = self.descend(cpu, key, level)?;
        loop {
            lock(cpu, at.at(node::LOCK));
            match FastFair::right(at, key) {
                None => return Some(at),
                Some(sibling) => {
                    unlock(cpu, at.at(node::LOCK));
                    at = sibling;
                }
            }
        }
    }

    fn unlock<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>) {
        unlock(cpu, at.at(node::LOCK));
    }

    /// The record of a key in a node that is locked: its records are whole.
    fn find<'c, C: Cpu>(at: W<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = at.call(2);
        let mut record = at.at(node::RECORDS);
        loop {
            if record.at(POINTER).load().is(0).branch(FIND_ENDS) {
                return None;
            }
            if record.load().equals(key).branch(FIND_MATCHES) {
                return Some(record);
            }
            record = record + RECORD;
        }
    }

    /// Inserts a record, and those of the parents of nodes that it splits; false if there is no room.
    fn insert<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, entry: Entry<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = cpu.call(2);
        let mut next = Some(entry);
        while let Some(entry) = next {
            let Some(at) = self.lock(cpu, entry.key, entry.level) else {
                if self.grow_above(cpu, thread, entry) {
                    return true;
                }
                continue;
            };
            next = match self.insert_locked(cpu, thread, at, entry, old) {
                Inserted::Done => None,
                Inserted::Split(parent) => Some(parent),
                // A node whose parent has no record for it is still reached by its sibling.
                Inserted::NoRoom => return entry.level > 0,
            };
        }
        true
    }

    fn insert_locked<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        thread: usize,
        at: W<'c, C>,
        entry: Entry<'c, C>,
        old: &mut Old<'c, C>,
    ) -> Inserted<'c, C> {
        let _call = cpu.call(3);
        if let Some(record) = FastFair::find(at, entry.key) {
            if entry.level == 0 {
                old.keep(record.at(POINTER));
            }
            record.at(POINTER).store(entry.pointer);
            self.flush_record(record);
        } else {
            let count = at.at(node::COUNT).load();
            if !count.below(self.most()).branch(NODE_HAS_ROOM) {
                return self.split(cpu, thread, at, entry);
            }
            self.shift_in(cpu, at, count, entry);
        }
        cpu.intent(Intent::Durable);
        FastFair::unlock(cpu, at);
        Inserted::Done
    }

    fn flush_record<'c, C: Cpu>(&self, record: W<'c, C>) {
        if self.omits != Omits::Record {
            record.flush();
        }
    }
}

impl Map for FastFair {
    fn lay_out(params: &Params, plan: &BuildPlan, heap: &mut Heap) -> Result<Self, ParamError> {
        let (bytes, rows) = (params.get("lines") * LINE_BYTES, params.get("pool"));
        let nodes = heap.rows(rows, bytes, rows / 4 + 1);
        Ok(FastFair {
            root: heap.pm(LINE_BYTES),
            free: FreeLists::allocate(heap, nodes, plan.threads),
            nodes,
            bytes,
            omits: Omits::of(params),
        })
    }

    /// A leaf without records covers all keys.
    fn format(&self, image: &dyn Image) {
        maps::set(image, self.root.0, self.nodes.addr(0).0);
    }

    fn get<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>) -> Option<W<'c, C>> {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let mut leaf = self.descend(cpu, key, 0)?;
        loop {
            let found = self.value(cpu, leaf, key);
            if found.is_some() {
                return found;
            }
            // A split may have moved the key.
            leaf = FastFair::right(leaf, key)?;
        }
    }

    fn put<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        (key, value): (W<'c, C>, W<'c, C>),
        old: &mut Old<'c, C>,
    ) -> bool {
        let _call = thread.cpu.call(3);
        let entry = Entry {
            level: 0,
            key,
            pointer: value,
        };
        self.insert(thread.cpu, thread.thread, entry, old)
    }

    fn remove<'c, C: Cpu>(&self, thread: &mut ThreadState<'c, C>, key: W<'c, C>, old: &mut Old<'c, C>) -> bool {
        let _call = thread.cpu.call(2);
        let cpu = thread.cpu;
        let Some(leaf) = self.lock(cpu, key, 0) else {
            return false;
        };
        let found = FastFair::find(leaf, key);
        if let Some(record) = found {
            old.keep(record.at(POINTER));
            self.shift_out(cpu, leaf, record);
            cpu.intent(Intent::Durable);
        }
        FastFair::unlock(cpu, leaf);
        found.is_some()
    }

    fn mend(&self, image: &dyn Image) {
        self.mend_nodes(image);
        self.mend_parents(image);
    }

    fn restart(&self, image: &dyn Image) {
        let reached = self.reached(image);
        self.free.rebuild(image, |row| reached[row as usize]);
    }

    fn read(&self, image: &dyn Image) -> Result<BTreeMap<u64, u64>, String> {
        self.records(image)
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        let first = self.nodes.addr(0).0;
        vec![
            self.free.range(),
            first..first + self.bytes,
            self.root.0..self.root.0 + LINE_BYTES,
        ]
    }
}
