//! Conservation: a core's cycles are in one class each, and a fence ends in the cycle in which its last condition holds.
//!
//! Neither has a tolerance. A stall begins in the cycle that dispatch has not filled, so that both have this one.

use super::programs::{machine, regions, run};
use super::{cases, spec, Verdict};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use strandline_machine::factory;
use strandline_machine::{Stats, Timeline};
use strandline_sim::{timeline, Part, Progress};

/// A run: the design, the workload, threads, and settings.
type Row = (&'static str, &'static str, u64, &'static [&'static str]);

const THINKS: &[&str] = &["runtime.think=1200"];
/// Threads that miss a lock which is tested try again at times that no fence decides.
const TESTS: &[&str] = &["runtime.lock=test", "runtime.think=6400"];

const SHORT: [Row; 4] = [
    ("x86", "sps", 1, THINKS),
    ("x86", "hashmap", 2, THINKS),
    ("eadr", "queue", 2, THINKS),
    ("eadr", "queue", 2, TESTS),
];

/// Those of the thorough form beside them.
const MORE: [Row; 5] = [
    ("non-atomic", "hashmap", 4, THINKS),
    ("dccvap", "queue", 4, THINKS),
    ("unordered", "sps", 2, THINKS),
    ("eadr", "hashmap", 4, THINKS),
    ("x86", "queue", 4, TESTS),
];

/// Stalls of a core follow one another. Where a core runs ahead, some are behind the end.
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
            if stall.from < last || stall.to < stall.from || stall.counted > stall.to - stall.from {
                return Err(format!(
                    "core {core} stalls twice, or for longer than it does: {stall:?} after {last}"
                ));
            }
            last = stall.to;
        }
    }
    Ok(())
}

/// Up to its last dispatch, each cycle of a core dispatches or stalls, and no stall has more than its first cycle among
/// those that dispatch.
fn classes(timeline: &Timeline, threads: u64) -> Verdict {
    for core in 0..threads {
        let instructions = timeline.instructions.0.iter().filter(|op| u64::from(op.core) == core);
        let times = instructions.map(|op| op.dispatched);
        let dispatches: BTreeSet<u64> = times.filter(|at| (timeline.start..timeline.end).contains(at)).collect();
        let stalls = || timeline.stalls.0.iter().filter(|stall| u64::from(stall.core) == core);
        let twice = stalls().find(|stall| dispatches.range(stall.from + 1..stall.to.max(stall.from + 1)).count() > 0);
        if let Some(stall) = twice {
            return Err(format!("core {core} dispatches in {stall:?}"));
        }
        let stalled = stalls().flat_map(|stall| stall.from..stall.to);
        let either: BTreeSet<u64> = dispatches.iter().copied().chain(stalled).collect();
        let last = dispatches.last().copied().unwrap_or(timeline.start);
        let neither = (timeline.start..last).filter(|at| !either.contains(at)).count();
        if neither > 0 {
            return Err(format!(
                "core {core} neither dispatches nor stalls in {neither} of {} cycles",
                last - timeline.start
            ));
        }
    }
    Ok(())
}

/// Classes of the record that are part of another are no longer than it, and all are no longer than the run.
fn record_classes(stats: &Stats, threads: u64) -> Verdict {
    let within = stats.window_fence_stall_cycles <= stats.fence_stall_cycles
        && stats.design_stall_cycles + stats.queue_persist_stall_cycles <= stats.buffer_stall_cycles
        && stats.fence_stall_cycles + stats.buffer_stall_cycles <= threads * stats.cycles.0;
    match within {
        true => Ok(()),
        false => Err(format!("classes of stalls that exceed a class, or the run: {stats:?}")),
    }
}

/// When all that a core did before this operation was visible and acknowledged.
fn settled(timeline: &Timeline, core: u16, before: usize) -> u64 {
    let older = timeline.ops.0[..before]
        .iter()
        .filter(|op| op.core == core && !op.void && !op.fence);
    let times = older.filter_map(|op| if op.size == 0 { op.done.max(op.left) } else { op.visible });
    times.max().unwrap_or(0)
}

/// A fence that waits for its core's stores and flushes ends in the cycle of the last of them.
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
    let (design, workload, threads, set) = row;
    let set: Vec<String> = set.iter().map(|set| (*set).to_owned()).collect();
    let spec = spec(workload, design, "asap", threads, 30 * threads, &set);
    let part = Part {
        instructions: true,
        ..Part::default()
    };
    let drawn = timeline(&spec, &part, &Progress::default()).map_err(|error| error.to_string())?;
    let verdict = stalls(&drawn.timeline)
        .and_then(|()| classes(&drawn.timeline, threads))
        .and_then(|()| record_classes(&drawn.record.stats, threads))
        .and_then(|()| match design {
            // Its fences wait for nothing.
            "unordered" => Ok(()),
            _ => fences(&drawn.timeline),
        });
    verdict.map_err(|error| format!("{row:?}: {error}"))
}

/// As [`holds`], of regions on two bare cores.
pub fn bare(design: &str) -> Verdict {
    let both = [(); 2].map(|()| factory(|cpu| regions(cpu, 30, Rc::new(Cell::new(0)))));
    let outcome = run(&machine("asap", design, 64), design, true, &both)?;
    fences(&outcome.timeline.expect("a timeline")).map_err(|error| format!("{design}: {error}"))
}

#[test]
fn a_fence_ends_with_its_last_condition() {
    super::judge(cases(&SHORT, &[&SHORT[..], &MORE].concat()).into_iter().map(holds));
}
