//! Conservation: a core's cycles are in one class each, and a fence ends in the cycle in which its last condition holds.

use super::programs::{machine, program, regions, run};
use super::{cases, spec, Verdict};
use std::cell::Cell;
use std::rc::Rc;
use strandline_machine::Timeline;
use strandline_sim::{timeline, Part, Progress};

/// A run: the design, the workload, and threads.
type Row = (&'static str, &'static str, u64);

const SHORT: [Row; 3] = [("x86", "sps", 1), ("x86", "hashmap", 2), ("eadr", "queue", 2)];

const THOROUGH: [Row; 7] = [
    SHORT[0],
    SHORT[1],
    SHORT[2],
    ("non-atomic", "hashmap", 4),
    ("dccvap", "queue", 4),
    ("unordered", "sps", 2),
    ("eadr", "hashmap", 4),
];

/// Stalls of a core follow one another, within the run.
fn stalls(timeline: &Timeline) -> Verdict {
    let cores = timeline
        .stalls
        .0
        .iter()
        .map(|stall| stall.core)
        .max()
        .map_or(0, |core| core + 1);
    for core in 0..cores {
        let mut last = 0;
        for stall in timeline.stalls.0.iter().filter(|stall| stall.core == core) {
            // A core's last branch redirects it behind the end.
            if stall.from > timeline.end
                || stall.from < last
                || stall.to < stall.from
                || stall.counted > stall.to - stall.from
            {
                return Err(format!(
                    "core {core} stalls twice, or for longer than it does: {stall:?} after {last}"
                ));
            }
            last = stall.to;
        }
    }
    Ok(())
}

/// When all that a core did before this operation was visible and acknowledged.
fn settled(timeline: &Timeline, core: u16, before: usize) -> u64 {
    let older = timeline.ops.0[..before]
        .iter()
        .filter(|op| op.core == core && !op.void && !op.fence);
    let times = older.filter_map(|op| if op.size == 0 { op.done.max(op.left) } else { op.visible });
    times.max().unwrap_or(0)
}

/// A fence that waits for its core's stores and flushes ends with the last of them.
fn fences(timeline: &Timeline) -> Verdict {
    let waits = timeline
        .waits
        .0
        .iter()
        .filter(|wait| wait.who == "fence" && wait.why == "older stores visible, flushes acknowledged");
    let mut judged = 0;
    for wait in waits {
        let (Some(core), Some(to)) = (wait.core, wait.to) else {
            continue;
        };
        let ops = timeline.ops.0.iter();
        let fence = ops
            .enumerate()
            .find(|(_, op)| op.core == core && op.fence && op.done == Some(to));
        let Some((index, _)) = fence else { continue };
        let last = settled(timeline, core, index);
        judged += 1;
        if to != last.max(wait.from) {
            return Err(format!(
                "core {core}'s fence waits from {} and ends at {to}; its last condition holds at {last}",
                wait.from
            ));
        }
    }
    match judged {
        0 => Err("no fence waits".to_owned()),
        _ => Ok(()),
    }
}

pub fn holds(row: Row) -> Verdict {
    let (design, workload, threads) = row;
    let spec = spec(
        workload,
        design,
        "asap",
        threads,
        30 * threads,
        &["runtime.think=300".to_owned()],
    );
    let drawn = timeline(&spec, &Part::default(), &Progress::default()).map_err(|error| error.to_string())?;
    let verdict = stalls(&drawn.timeline).and_then(|()| match design {
        // Its fences wait for nothing.
        "unordered" => Ok(()),
        _ => fences(&drawn.timeline),
    });
    verdict.map_err(|error| format!("{row:?}: {error}"))
}

/// As [`holds`], of regions on two bare cores.
pub fn bare(design: &str) -> Verdict {
    let both = [(); 2].map(|()| program(|cpu| regions(cpu, 30, Rc::new(Cell::new(0)))));
    let outcome = run(&machine("asap", design, 64), design, true, &both)?;
    fences(&outcome.timeline.expect("a timeline")).map_err(|error| format!("{design}: {error}"))
}

#[test]
fn a_fence_ends_with_its_last_condition() {
    super::judge(cases(&SHORT, &THOROUGH).into_iter().map(holds));
}
