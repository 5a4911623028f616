//! Little's law: entries in use, summed over time, are the residences summed over what enters.
//!
//! The machine counts the left side as entries enter and leave. A timeline has the right side: when each operation
//! entered and left. This judges write-back buffers. Store queues count an entry that is dispatched behind a held fence from
//! the fence's end on; write queues, persist buffers and epoch tables are counted once only.

use super::{cases, spec, Verdict};
use strandline_sim::{timeline, Part, Progress};

/// Both sides agree within this share.
const TOLERANCE: f64 = 0.01;

/// A run: the design, the workload, and threads.
type Row = (&'static str, &'static str, u64);

const SHORT: [Row; 4] = [
    ("x86", "sps", 1),
    ("x86", "hashmap", 2),
    ("eadr", "queue", 2),
    ("cosplay", "sps", 2),
];

const THOROUGH: [Row; 9] = [
    SHORT[0],
    SHORT[1],
    SHORT[2],
    SHORT[3],
    ("volatile", "hashmap", 4),
    ("non-atomic", "queue", 2),
    ("x86-pcommit", "sps", 2),
    ("unordered", "sps", 4),
    ("dccvap", "hashmap", 2),
];

fn agree(what: &str, row: Row, counted: u64, resided: u64) -> Verdict {
    let differ = (counted as f64 - resided as f64).abs();
    match differ <= TOLERANCE * counted.max(resided) as f64 {
        true => Ok(()),
        false => Err(format!(
            "{row:?}: {what} holds {counted} entry cycles by its count, {resided} by its operations"
        )),
    }
}

pub fn holds(row: Row) -> Verdict {
    let (design, workload, threads) = row;
    let spec = spec(workload, design, "asap", threads, 60 * threads, &[]);
    let drawn = timeline(&spec, &Part::default(), &Progress::default()).map_err(|error| error.to_string())?;
    let (stats, timeline) = (&drawn.record.stats, &drawn.timeline);
    let within = |from: u64, to: Option<u64>| to.unwrap_or(timeline.end).saturating_sub(from.max(timeline.start));
    let flushes = timeline
        .ops
        .0
        .iter()
        .filter(|op| op.addr.is_some() && op.size == 0 && !op.void);
    let buffered = flushes.filter_map(|op| Some(within(op.left?, op.done))).sum();
    agree(
        "the write-back buffer",
        row,
        stats.writeback_buffer.entry_cycles,
        buffered,
    )
}

#[test]
fn occupancy_is_arrivals_times_residence() {
    super::judge(cases(&SHORT, &THOROUGH).into_iter().map(holds));
}
