//! `nstore`: YCSB on a key-value table, as in N-Store. `nstore-rd`, `nstore-bal` and `nstore-wr` have 90, 50 and 10 %
//! reads.
//!
//! StrandWeaver (ISCA 2020), Table II "N-Store", after Arulraj et al. (SIGMOD 2015). Sizes are those of N-Store's
//! public source and YCSB's core workloads. A tuple has 10 fields of 100 bytes, each a separate allocation. An update
//! writes all fields (N-Store's option of writing only the first is `written`). A read copies all fields into the
//! client's buffer. A transaction has one tuple (`operations`). Keys are zipfian with theta 0.99. A primary index, a B+
//! tree in persistent memory, maps keys to tuples.
//!
//! A task draws its keys, finds and locks their tuples, and reads them, or updates them in one failure-atomic region.
//! The engine updates in place: for each field, it logs the field's lines and then writes them. The tuple's version is
//! written with the last field.
//!
//! With `partitions=threads`, as N-Store and ASAP's artifact have it, each thread owns an equal part of the tuples, and
//! takes no lock: its transactions run one after the other. (Tasks that share a thread take the lock of its part.) By
//! default, there is one table with a lock per tuple in DRAM, packed, so that threads share all.
//!
//! Simplified: 10,000 tuples, because the paper gives no number; keys are numbers; contents encode key, version and
//! position in the tuple.

mod check;
mod index;
mod task;

use crate::operations::{ring, two_regions, Lists, OPERATIONS};
use crate::papers::STRANDWEAVER;
use crate::params::{choice, param};
use crate::zipf::{theta, Zipf};
use crate::{About, Alias};
use index::Index;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, Memory, LINE_BYTES};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    log_records, BuildPlan, Demand, Heap, Locks, LogLayout, Table, ThreadState, Workload, PAYLOAD_BYTES,
};

/// The workload's description.
pub const ABOUT: About = About {
    name: "nstore",
    aliases: &[
        Alias {
            name: "nstore-rd",
            set: &[("reads", "90")],
        },
        Alias {
            name: "nstore-bal",
            set: &[("reads", "50")],
        },
        Alias {
            name: "nstore-wr",
            set: &[("reads", "10")],
        },
    ],
    line: "YCSB reads and updates of N-Store's key-value table",
    paper: "StrandWeaver (ISCA 2020), Table II, N-Store",
    tasks: 50_000,
    params: PARAMS,
    small: &[("rows", "6"), ("reads", "20"), ("log_records", "84")],
    ..STRANDWEAVER
};

const PARAMS: &[Param] = &[
    param("rows", 10_000, 1..=1 << 20, "tuples of the table"),
    param(
        "reads",
        50,
        0..=100,
        "transactions that read, percent; the others update",
    ),
    param(
        "written",
        FIELDS,
        1..=FIELDS,
        "fields that an update writes, from the first on",
    ),
    theta(99),
    choice(
        "partitions",
        "who has the tuples: all threads, with a lock per tuple, or each thread its part",
        &["shared", "threads"],
    ),
    OPERATIONS,
    log_records(two_regions(MOST_RECORDS)),
];

/// Fields of a tuple.
const FIELDS: u64 = 10;

/// Bytes of a field, in whole words: 100 are used.
const FIELD_WORDS: u64 = 13;

/// Lines of a field, which is a separate allocation.
const FIELD_LINES: u64 = (8 * FIELD_WORDS).div_ceil(PAYLOAD_BYTES);

/// Payload words of a field's line.
const LINE_WORDS: u64 = PAYLOAD_BYTES / 8;

/// Records of a line's words, four each, and of an update: all lines of the fields, and the line of the version.
const LINE_RECORDS: u64 = LINE_WORDS.div_ceil(4);
const MOST_RECORDS: u64 = FIELDS * FIELD_LINES * LINE_RECORDS + 1;

/// Offsets in a tuple's first line.
mod tuple {
    pub const KEY: u64 = 0;
    pub const VERSION: u64 = 8;
}

/// Lines of a tuple: its own, then those of its fields.
const TUPLE_BYTES: u64 = PAYLOAD_BYTES * (1 + FIELDS * FIELD_LINES);

/// Offset of field `field` from the tuple's address.
const fn field_offset(field: u64) -> u64 {
    LINE_BYTES * (1 + field * FIELD_LINES)
}

/// Offset of word `word` from the field's start.
const fn word_offset(word: u64) -> u64 {
    word / LINE_WORDS * LINE_BYTES + word % LINE_WORDS * 8
}

/// Words of a field in its line `line`.
const fn words_of_line(line: u64) -> u64 {
    let before = line * LINE_WORDS;
    if FIELD_WORDS - before < LINE_WORDS {
        FIELD_WORDS - before
    } else {
        LINE_WORDS
    }
}

/// Positions of the key and of the writing tuple version in a word of a field; the lowest bits are the word's position.
const KEY_SHIFT: u64 = 40;
const VERSION_SHIFT: u64 = 8;

/// Word `word` of field `field`, without key and version.
const fn place_in_tuple(field: u64, word: u64) -> u64 {
    field * 16 + word
}

/// N-Store's table and its index.
pub struct Nstore {
    tuples: Table<TUPLE_BYTES>,
    index: Index,
    locks: Locks,
    zipf: Zipf,
    partitions: Option<Partitions>,
    reads: u64,
    written: u64,
    operations: u64,
    /// A transaction's keys, ascending, then the addresses of its tuples.
    lists: Lists,
    /// The client's buffer for reads.
    buffers: Lists,
    logs: LogLayout,
}

/// Each thread has tuples of its own.
#[derive(Clone, Copy)]
struct Partitions {
    /// Tuples of each.
    rows: u64,
    /// Tasks share threads, and take the lock of a thread's part.
    locked: bool,
}

impl Partitions {
    fn of(plan: &BuildPlan, rows: u64) -> Result<Partitions, ParamError> {
        match rows / plan.threads as u64 {
            0 => Err(ParamError(format!(
                "workload.rows={rows} with workload.partitions=threads: must be at least the {} threads",
                plan.threads
            ))),
            rows => Ok(Partitions {
                rows,
                locked: plan.window.is_some(),
            }),
        }
    }
}

impl Nstore {
    fn rows(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.tuples.rows()).map(|row| self.tuples.addr(row).0)
    }

    fn populate(&self, memory: &Memory) {
        for (key, row) in (0..).zip(self.rows()) {
            memory.set_word(Addr(row + tuple::KEY), key);
            for field in 0..FIELDS {
                for word in 0..FIELD_WORDS {
                    let at = Addr(row + field_offset(field) + word_offset(word));
                    memory.set_word(at, key << KEY_SHIFT | place_in_tuple(field, word));
                }
            }
        }
        self.index.fill(memory, self.rows());
    }
}

impl Workload for Nstore {
    fn lay_out(params: &Params, plan: &BuildPlan) -> Result<(Self, Heap), ParamError> {
        let (rows, operations) = (params.get("rows"), params.get("operations"));
        let partitions = match params.get("partitions") {
            0 => None,
            _ => Some(Partitions::of(plan, rows)?),
        };
        let drawn = partitions.map_or(rows, |partitions| partitions.rows);
        let mut heap = Heap::new(plan);
        let store = Nstore {
            tuples: heap.table(rows),
            index: Index::allocate(&mut heap, rows),
            locks: Locks::allocate(&mut heap, rows),
            zipf: Zipf::allocate(&mut heap, drawn, params.get("theta"), plan.seed),
            partitions,
            reads: params.get("reads"),
            written: params.get("written"),
            operations,
            lists: Lists::allocate(&mut heap, plan.lanes(), 2 * operations),
            buffers: Lists::allocate(&mut heap, plan.lanes(), FIELD_WORDS * FIELDS),
            logs: LogLayout::allocate(&mut heap, plan.lanes(), ring(params, MOST_RECORDS)),
        };
        Ok((store, heap))
    }

    fn fill(&self, memory: &Memory, _seed: u64) {
        self.populate(memory);
        self.restart(memory);
    }

    fn region(params: &Params) -> Demand {
        let operations = params.get("operations");
        let written = params.get("written");
        // The fields, and the version, which shares a line with the key.
        Demand {
            lines: (written * FIELD_LINES + 1) * operations,
            words: (written * FIELD_WORDS + 1) * operations,
        }
    }

    fn task<C: Cpu>(&self, thread: &mut ThreadState<'_, C>) {
        self.transact(thread);
    }

    /// The index leads to every tuple. Each tuple holds its own key. All updated fields have the contents of the
    /// tuple's version.
    fn check(&self, image: &dyn Image) -> Result<(), String> {
        self.index.check(image, self.rows())?;
        (0..)
            .zip(self.rows())
            .try_for_each(|(key, row)| self.check_tuple(image, key, row))
    }

    fn logs(&self) -> LogLayout {
        self.logs
    }

    fn footprint(&self) -> Vec<Range<u64>> {
        vec![
            self.tuples.range(),
            self.index.range(),
            self.zipf.range(),
            self.locks.range(self.tuples.rows()),
            self.buffers.range(),
            self.lists.range(),
            self.logs.lists(),
            self.logs.range(),
        ]
    }

    /// The table of the key distribution is volatile.
    fn restart(&self, image: &dyn Image) {
        self.zipf.write(image);
    }
}

#[cfg(test)]
mod tests;
