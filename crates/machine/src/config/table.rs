//! Every parameter, declared once.

use std::ops::RangeInclusive;

use strandline_kernel::Cycles;

use super::machine::{Cache, Machine};
use super::parameter::{Field, Kind, Parameter};
use super::words::{Coherence, Consistency};

const MAX_ENTRIES: u64 = 1 << 16;
const MAX_BYTES: u64 = 1 << 40;
const MAX_TIME: u64 = 1_000_000_000;
const ENTRIES: RangeInclusive<u64> = 1..=MAX_ENTRIES;
const BYTES: RangeInclusive<u64> = 64..=MAX_BYTES;
const SOME_TIME: RangeInclusive<u64> = 1..=MAX_TIME;
const ANY_TIME: RangeInclusive<u64> = 0..=MAX_TIME;
const GBPS: RangeInclusive<f64> = 0.001..=100_000.0;

/// A key and the way to its field, both from one path.
macro_rules! at {
    (l2.$field:ident) => {
        (
            concat!("l2.", stringify!($field)),
            Field {
                get: |m| m.l2.as_ref().map(|l2| l2.$field),
                put: |m, value| m.l2.get_or_insert_with(Cache::default).$field = value,
            },
        )
    };
    ($section:ident.$field:ident) => {
        (
            concat!(stringify!($section), ".", stringify!($field)),
            Field {
                get: |m| Some(m.$section.$field),
                put: |m, value| m.$section.$field = value,
            },
        )
    };
    ($section:ident.$field:ident: $words:ident) => {
        (
            concat!(stringify!($section), ".", stringify!($field)),
            Field {
                get: |m| Some(m.$section.$field as usize),
                put: |m, index| m.$section.$field = $words::ALL[index],
            },
        )
    };
}

type At<T> = (&'static str, Field<T>);

const fn count(at: At<u64>, unit: &'static str, range: RangeInclusive<u64>, help: &'static str) -> Parameter {
    Parameter {
        key: at.0,
        help,
        kind: Kind::Count {
            unit,
            range,
            field: at.1,
        },
    }
}

const fn time(at: At<Cycles>, range: RangeInclusive<u64>, help: &'static str) -> Parameter {
    Parameter {
        key: at.0,
        help,
        kind: Kind::Time { range, field: at.1 },
    }
}

const fn rate(at: At<f64>, unit: &'static str, range: RangeInclusive<f64>, help: &'static str) -> Parameter {
    Parameter {
        key: at.0,
        help,
        kind: Kind::Rate {
            unit,
            range,
            field: at.1,
        },
    }
}

const fn flag(at: At<bool>, help: &'static str) -> Parameter {
    Parameter {
        key: at.0,
        help,
        kind: Kind::Flag { field: at.1 },
    }
}

const fn word(at: At<usize>, words: &'static [&'static str], help: &'static str) -> Parameter {
    Parameter {
        key: at.0,
        help,
        kind: Kind::Word { words, field: at.1 },
    }
}

const CORES: At<u64> = (
    "cores",
    Field {
        get: |m| Some(m.cores),
        put: |m, value| m.cores = value,
    },
);

/// A second level of zero bytes is no second level.
const L2_BYTES: At<u64> = (
    "l2.bytes",
    Field {
        get: |m| Some(m.l2.as_ref().map_or(0, |l2| l2.bytes)),
        put: put_l2_bytes,
    },
);

fn put_l2_bytes(machine: &mut Machine, bytes: u64) {
    if bytes == 0 {
        machine.l2 = None;
    } else {
        machine.l2.get_or_insert_with(Cache::default).bytes = bytes;
    }
}

/// All parameters, section by section, in the order in which they are described.
#[rustfmt::skip]
pub(super) static PARAMETERS: &[Parameter] = &[
    count(CORES, "cores", 0..=1024, "simulated cores; 0: as many as the program has threads"),

    rate(at!(core.clock_ghz), "GHz", 0.01..=100.0, "clock of the cores; times in ns are converted at it"),
    count(at!(core.dispatch_width), "micro-ops per cycle", 1..=64, "micro-ops dispatched a cycle, in order"),
    count(at!(core.retire_width), "micro-ops per cycle", 1..=64, "micro-ops retired a cycle, in order"),
    count(at!(core.rob_entries), "entries", ENTRIES, "reorder buffer"),
    count(at!(core.load_queue_entries), "entries", ENTRIES, "load queue"),
    count(at!(core.store_queue_entries), "entries", ENTRIES, "store queue; clwbs and fences use it too"),
    count(at!(core.writeback_buffer_entries), "entries", ENTRIES, "clwbs in flight"),
    count(at!(core.write_combining_buffers), "entries", ENTRIES, "lines that non-temporal stores gather in"),
    count(at!(core.predictor_entries), "entries", 1..=1 << 24, "branch predictor's table; a power of two"),
    time(at!(core.mispredict_penalty), ANY_TIME, "from a mispredicted branch's resolution to its successor's dispatch"),
    time(at!(core.mul_latency), SOME_TIME, "integer multiplication"),
    time(at!(core.div_latency), SOME_TIME, "integer division"),
    time(at!(core.locked_latency), SOME_TIME, "locked read-modify-write that hits the L1, store queue drained"),
    time(at!(core.store_drain_interval), SOME_TIME, "between two stores leaving the store queue"),
    word(at!(core.consistency: Consistency), Consistency::WORDS, "order in which stores become visible"),
    flag(at!(core.lock_orders_flushes), "a locked instruction waits for the core's pending flushes"),
    flag(at!(core.store_prefetch), "a store asks for its line before it reaches the store queue's head"),

    count(at!(l1.bytes), "bytes", BYTES, "private L1 data cache"),
    count(at!(l1.ways), "ways", ENTRIES, "its associativity"),
    count(at!(l1.mshrs), "misses", ENTRIES, "its outstanding misses"),
    time(at!(l1.latency), SOME_TIME, "its hit"),

    count(L2_BYTES, "bytes", 0..=MAX_BYTES, "private L2; 0: none, the private level is the L1 alone"),
    count(at!(l2.ways), "ways", ENTRIES, "its associativity"),
    count(at!(l2.mshrs), "misses", ENTRIES, "its outstanding misses"),
    time(at!(l2.latency), SOME_TIME, "its hit, beyond the L1's"),

    count(at!(llc.bytes), "bytes", BYTES, "shared last-level cache, inclusive"),
    count(at!(llc.ways), "ways", ENTRIES, "its associativity"),
    count(at!(llc.mshrs), "misses", ENTRIES, "its outstanding misses"),
    time(at!(llc.latency), SOME_TIME, "its hit, beyond the private levels and the interconnect"),

    time(at!(interconnect.hop_latency), ANY_TIME, "one traversal"),
    word(at!(interconnect.coherence: Coherence), Coherence::WORDS, "how other copies of a line are found"),

    count(at!(controllers.count), "controllers", 1..=64, "persistent-memory controllers"),
    count(at!(controllers.interleave_bytes), "bytes", BYTES, "consecutive bytes on one controller; a multiple of 64"),
    count(at!(controllers.wpq_entries), "entries", ENTRIES, "write-pending queue of a controller"),
    count(at!(controllers.read_queue_entries), "entries", ENTRIES, "read queue of a controller"),
    flag(at!(controllers.adr), "the write-pending queue is in the persistence domain"),
    time(at!(controllers.bmo_latency), ANY_TIME, "backend memory operations on a write before the queue accepts it"),

    time(at!(pm.read_latency), SOME_TIME, "read of a line, controller and media, unloaded"),
    time(at!(pm.write_to_controller), SOME_TIME, "from the write-back buffer to the controller and the acknowledgement back"),
    time(at!(pm.write_latency), SOME_TIME, "a bank is busy with one line's write"),
    rate(at!(pm.read_gbps), "GB/s", GBPS, "peak read bandwidth of a controller"),
    rate(at!(pm.write_gbps), "GB/s", GBPS, "peak write bandwidth of a controller"),
    count(at!(pm.banks), "banks", ENTRIES, "banks behind a controller"),
    count(at!(pm.row_bytes), "bytes", 0..=1 << 20, "row buffer of a bank; 0: none, else a power of two"),
    time(at!(pm.row_hit_latency), ANY_TIME, "read of an open row"),
    time(at!(pm.row_hit_write_latency), ANY_TIME, "a bank is busy with a write to an open row"),
    count(at!(pm.combine_bytes), "bytes", 0..=1 << 20, "block of the write-combining buffer; 0: none, else a power of two"),
    count(at!(pm.combine_entries), "entries", 0..=MAX_ENTRIES, "blocks in the write-combining buffer of a controller"),

    time(at!(dram.read_latency), SOME_TIME, "read of a line of volatile memory, controller and memory, unloaded"),
    rate(at!(dram.gbps), "GB/s", GBPS, "its peak bandwidth"),

    time(at!(simulation.slack), ANY_TIME, "how far a core may run ahead of another; 0 for crash exploration"),
    time(at!(simulation.jitter), ANY_TIME, "largest random delay added to each flush"),
    count(at!(simulation.evict_one_in), "stores", 0..=1 << 40, "forced eviction of a recently written line once in so many stores; 0: never"),
];

/// The parameter with this key.
pub(super) fn find(key: &str) -> Option<&'static Parameter> {
    PARAMETERS.iter().find(|parameter| parameter.key == key)
}

/// The sections, in the order of the table.
pub(super) fn sections() -> Vec<&'static str> {
    let mut sections: Vec<_> = PARAMETERS
        .iter()
        .filter_map(|p| p.key.split_once('.'))
        .map(|(section, _)| section)
        .collect();
    sections.dedup();
    sections
}
