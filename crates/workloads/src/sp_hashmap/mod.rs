//! `sp-hashmap`: insertions and deletions in a hash table with linear probing, which doubles.
//!
//! Speculative Persistence (ISCA 2017), Table 1 "Hash-Map", and 3.2. An entry is a line: state, key, value. "If the
//! entry is already populated, the next consecutive entry is checked, and so on." If the key is found, its entry is
//! logged and deleted. Otherwise the free entry and the table's size are logged, and the key is inserted.
//!
//! - A deleted entry stays as a tombstone: probes go on behind it. Moving later entries back instead would log each of
//!   them. An insertion takes the first tombstone that it has passed. Size, the word that is logged, counts the entries
//!   that are not empty, so a deletion leaves it as it is, and logs its entry alone, as in the paper.
//! - "If no free entry is found for insertion, the table is resized": here if three quarters of the entries are not
//!   empty and the insertion would take an empty one. A probe for an absent key ends at an empty entry, and in a table
//!   without any it would pass all. At three quarters it passes 8.5 on average (Knuth, The Art of Computer Programming,
//!   6.4).
//! - A resizing copies all records to a table of twice the size: "each insertion is followed by clwb"; when all are
//!   durable, a failure-atomic region switches to the new table. Tombstones are not copied. A crash before the switch
//!   may leave records in the new table, so a resizing first clears what it finds there.
//!
//! The paper gives no range of keys and no first size. Here there are twice as many keys as initial operations
//! (`keys_for`): 950,000 of 3,000,000 are in the table at first. It begins with 1,024 entries. Room is allocated for
//! tables of up to two entries a key; a table of that size does not double, and takes no new key where it would.

mod check;
mod resize;

use crate::papers::SPECULATIVE;
use crate::params::param;
use crate::populate::populate;
use crate::structures::{init_ops, keys_for, STRUCTURES};
use crate::About;
use resize::MOST_ENTRIES_PER_KEY;
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, Memory, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, Demand, Heap, Locks, LogLayout, Step, Table, ThreadState, Workload, PAYLOAD_BYTES,
};

sites! {
    ENTRY_IS_EMPTY = 0x7a0d_e419;
    ENTRY_IS_FULL = 0x15c6_b8f2;
    KEY_MATCHES = 0xc98e_3d54;
    TOMBSTONE_IS_FIRST = 0x3e27_a60b;
    TABLE_ENDS = 0x94f1_5cd8;
    FINDS_NO_TOMBSTONE = 0x68b3_0e7f;
    HAS_ROOM = 0xd25a_914c;
}

/// The workload's description.
pub const ABOUT: About = About {
    name: "sp-hashmap",
    line: "inserts and deletes entries of a hash table with linear probing",
    paper: "Speculative Persistence (ISCA 2017), Table 1, Hash-Map",
    tasks: 100_000,
    params: PARAMS,
    small: &[
        ("keys", "12"),
        ("entries", "4"),
        ("init_ops", "4"),
        ("structures", "2"),
        ("log_records", "8"),
    ],
    ..SPECULATIVE
};

/// Operations before the run (Table 1).
const INIT_OPS: u64 = 1_500_000;

const PARAMS: &[Param] = &[
    param("keys", keys_for(INIT_OPS), 1..=1 << 24, "number of keys"),
    param(
        "entries",
        1024,
        4..=1 << 24,
        "entries of the first table, rounded up to a power of two",
    ),
    init_ops(INIT_OPS),
    STRUCTURES,
    // Undo log: a line has two records; two lines, two regions.
    log_records(8),
];

/// Offsets in a header's line.
mod header {
    /// The table's address.
    pub const TABLE: u64 = 0;
    /// The address behind it.
    pub const END: u64 = 8;
    /// 64 less the binary logarithm of its entries.
    pub const SHIFT: u64 = 16;
    /// Entries that are not empty.
    pub const SIZE: u64 = 24;
    /// The most of these.
    pub const LIMIT: u64 = 32;
    pub const BYTES: u64 = 40;
}

/// Offsets in an entry's line.
mod entry {
    pub const STATE: u64 = 0;
    pub const KEY: u64 = 8;
    pub const VALUE: u64 = 16;
}

/// States of an entry.
const EMPTY: u64 = 0;
const FULL: u64 = 1;
const TOMBSTONE: u64 = 2;

/// A multiplier that spreads keys: 2^64 over the golden ratio (Knuth, The Art of Computer Programming, 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Added to a key, it gives the key's value: a torn entry shows.
const VALUE: u64 = 0x3c3c_0000_0000;

/// Hash tables.
pub struct SpHashmap {
    headers: Table<{ header::BYTES }>,
    locks: Locks,
    /// The tables of all structures; those of one follow each other, each twice as large as the one before.
    tables: Addr,
    /// Entries of the first table.
    first: u64,
    /// Entries of the largest table.
    most: u64,
    keys: u64,
    shared: bool,
    init_ops: u64,
    logs: LogLayout,
}

/// A table, in registers.
struct Open<'c, C: Cpu> {
    start: W<'c, C>,
    end: W<'c, C>,
    shift: W<'c, C>,
}

/// Where a probe has ended.
enum Probe<'c, C: Cpu> {
    /// At the key's entry.
    Found(W<'c, C>),
    /// At an empty entry, behind the tombstone at this address if it is not 0.
    Absent { empty: W<'c, C>, tombstone: W<'c, C> },
}

impl<'c, C: Cpu> Open<'c, C> {
    fn of(header: W<'c, C>) -> Self {
        let _call = header.call(1);
        Open {
            start: header.at(header::TABLE).load(),
            end: header.at(header::END).load(),
            shift: header.at(header::SHIFT).load(),
        }
    }

    /// The first entry that may hold a key.
    fn home(&self, key: W<'c, C>) -> W<'c, C> {
        (((key * SPREAD) >> self.shift) << u64::from(LINE_BYTES.trailing_zeros())) + self.start
    }

    /// The next entry.
    fn after(&self, at: W<'c, C>) -> W<'c, C> {
        let next = at + LINE_BYTES;
        match next.equals(self.end).branch(TABLE_ENDS) {
            true => self.start,
            false => next,
        }
    }

    fn probe(&self, cpu: &'c C, key: W<'c, C>) -> Probe<'c, C> {
        let _call = cpu.call(1);
        let mut at = self.home(key);
        let mut tombstone = cpu.word(0);
        loop {
            let state = at.at(entry::STATE).load();
            if state.is(EMPTY).branch(ENTRY_IS_EMPTY) {
                return Probe::Absent { empty: at, tombstone };
            }
            if state.is(FULL).branch(ENTRY_IS_FULL) {
                if at.at(entry::KEY).load().equals(key).branch(KEY_MATCHES) {
                    return Probe::Found(at);
                }
            } else if tombstone.is(0).branch(TOMBSTONE_IS_FIRST) {
                tombstone = at;
            }
            at = self.after(at);
        }
    }
}

impl SpHashmap {
    /// The first table of a structure.
    fn tables_of(&self, index: u64) -> Addr {
        Addr(self.tables.0 + index * self.stride())
    }

    /// Bytes of the tables of a structure.
    fn stride(&self) -> u64 {
        (2 * self.most - self.first) * LINE_BYTES
    }

    fn delete<'c, C: Cpu>(thread: &mut ThreadState<'c, C>, at: W<'c, C>) {
        let _call = thread.cpu.call(2);
        let tombstone = thread.cpu.word(TOMBSTONE);
        let mut region = thread.log.begin();
        region.log(at, 0, PAYLOAD_BYTES);
        region.order(Step::Last);
        region.update(at.at(entry::STATE), tombstone, 8);
        region.finish();
    }

    /// Inserts a key that a probe has not found; in a table without room, after it has doubled.
    fn insert<'c, C: Cpu>(
        &self,
        thread: &mut ThreadState<'c, C>,
        header: W<'c, C>,
        key: W<'c, C>,
        (empty, tombstone): (W<'c, C>, W<'c, C>),
    ) {
        let _call = thread.cpu.call(3);
        if !tombstone.is(0).branch(FINDS_NO_TOMBSTONE) {
            return SpHashmap::write(thread, header, tombstone, key, false);
        }
        let size = header.at(header::SIZE).load();
        let limit = header.at(header::LIMIT).load();
        if size.less(limit).branch(HAS_ROOM) {
            return SpHashmap::write(thread, header, empty, key, true);
        }
        if self.double(thread, header) {
            let table = Open::of(header);
            if let Probe::Absent { empty, .. } = table.probe(thread.cpu, key) {
                SpHashmap::write(thread, header, empty, key, true);
            }
        }
    }

    /// Writes a record into the free entry at `at`; one that was empty makes the table larger.
    fn write<'c, C: Cpu>(
        thread: &mut ThreadState<'c, C>,
        header: W<'c, C>,
        at: W<'c, C>,
        key: W<'c, C>,
        was_empty: bool,
    ) {
        let _call = thread.cpu.call(5);
        let full = thread.cpu.word(FULL);
        let mut region = thread.log.begin();
        region.log(at, 0, PAYLOAD_BYTES);
        region.log(header, header::SIZE, 8);
        region.order(Step::Last);
        region.update(at.at(entry::KEY), key, 8);
        region.update(at.at(entry::VALUE), key + VALUE, 8);
        region.update(at.at(entry::STATE), full, 8);
        if was_empty {
            let size = region.read(header.at(header::SIZE), 8);
            region.update(header.at(header::SIZE), size + 1, 8);
        }
        region.finish();
    }
}

impl Workload for SpHashmap {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (keys, structures) = (params.get("keys"), params.get("structures"));
        let first = params.get("entries").next_power_of_two();
        let most = (MOST_ENTRIES_PER_KEY * keys).next_power_of_two().max(first);
        let mut heap = Heap::new(plan);
        let mut map = SpHashmap {
            headers: heap.table(structures),
            locks: Locks::allocate(&mut heap, structures),
            tables: Addr(0),
            first,
            most,
            keys,
            shared: plan.lanes() > 1,
            init_ops: params.get("init_ops"),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), params.get("log_records")),
        };
        // The largest table is half of all, and only many operations fill the one before it.
        let bytes = structures * map.stride();
        map.tables = heap.pm_of_which(bytes, bytes / 2);
        Ok((map, heap))
    }

    fn fill(&self, memory: &Memory, seed: u64) {
        for index in 0..self.headers.rows() {
            self.begin(memory, index);
        }
        populate(self, memory, seed, self.init_ops);
    }

    fn region(_params: &Params) -> Demand {
        // An insertion: entry and header. A switch writes five words of the header.
        Demand { lines: 2, words: 5 }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        let cpu = thread.cpu;
        let index = match self.headers.rows() {
            1 => cpu.word(0),
            rows => thread.random.below(rows),
        };
        let key = thread.random.below(self.keys);
        let guard = self.locks.at(index);
        if self.shared {
            thread.log.lock(guard);
        }
        let header = self.headers.row(index);
        match Open::of(header).probe(cpu, key) {
            Probe::Found(at) => SpHashmap::delete(thread, at),
            Probe::Absent { empty, tombstone } => self.insert(thread, header, key, (empty, tombstone)),
        }
        if self.shared {
            thread.log.unlock(guard);
        }
    }

    /// Each table is one of its structure's; each key is there once, with its value, where a probe finds it; size is
    /// right.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        (0..self.headers.rows()).try_for_each(|index| self.check_table(image, index))
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    /// Not the tables: a table is many times the cache, and the tasks before the run bring in what they use of it.
    fn footprint(&self) -> Vec<Range<u64>> {
        let locks = self.locks.range(self.headers.rows());
        vec![self.headers.range(), locks, self.logs.lists(), self.logs.range()]
    }
}

#[cfg(test)]
mod tests;
