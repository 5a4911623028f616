//! A run with its timeline.

use crate::{design_named, request, Error, Progress, Record, Run, Spec};
use serde::Serialize;
use strandline_design::{AnyDesign, Place};
use strandline_machine::{Detail, MachineConfig, Timeline};

request! {
    /// Which part of a run's timeline is wanted. Cycles count from the start of the timed region.
    pub struct Part {}
    defaults {
        /// The first cycle.
        from_cycle: u64 = 0,
        /// The last cycle; the end if `None`.
        to_cycle: Option<u64> = None,
        /// Up to the cycle in which this number of tasks have ended; all if `None`.
        first_tasks: Option<u64> = None,
        /// The most rows: the part ends earlier if it has more.
        most_rows: u64 = u64::MAX,
        /// Record single instructions too.
        instructions: bool = false,
    }
}

/// Operations that are recorded for each row that is wanted: most store to volatile memory, and have none.
const RECORDED: u64 = 8;

impl Default for Part {
    fn default() -> Part {
        Part::new()
    }
}

/// A run, and what happened in it.
#[derive(Debug, Serialize)]
pub struct Drawn {
    /// Its record: that of the same run without a timeline.
    pub record: Record,
    /// What happened, in the part that is wanted.
    pub timeline: Timeline,
    /// Where a store becomes durable: `caches` (as soon as it is visible), `queue` (ADR), or `media`.
    pub durable: &'static str,
    /// The last cycle of that part, since the start of the timed region.
    pub to_cycle: u64,
    /// The part ends earlier than what was wanted, which has too many rows.
    pub is_shortened: bool,
}

/// Runs `spec` and records what happens when. The run is the one without a timeline.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn timeline(spec: &Spec, part: &Part, progress: &Progress) -> Result<Drawn, Error> {
    if part.to_cycle.is_some_and(|to| to < part.from_cycle) {
        return Err(Error::input("--to: is before --from; give a later cycle"));
    }
    let detail = Detail {
        instructions: part.instructions,
        until: part.to_cycle,
        most: usize::try_from(part.most_rows.saturating_mul(RECORDED)).unwrap_or(usize::MAX),
        ..Detail::default()
    };
    let run = Run {
        progress: progress.clone(),
        ..Run::of(spec)
    };
    let (record, timeline, plan) = run.timeline(detail)?;
    let design = crate::run::registered(spec, &plan.sets)?;
    let first = timeline.start.saturating_add(part.from_cycle);
    let wanted = match (part.to_cycle, part.first_tasks) {
        (Some(to), _) => timeline.start.saturating_add(to),
        (None, Some(tasks)) => end_of(&timeline, tasks),
        (None, None) => u64::MAX,
    };
    let from_first = timeline.cut(&(first..=wanted));
    let recorded = from_first.stopped.map_or(u64::MAX, |at| at.saturating_sub(1));
    let rows = usize::try_from(part.most_rows).unwrap_or(usize::MAX);
    let last = wanted.min(from_first.last_with(rows)).min(recorded);
    Ok(Drawn {
        record,
        to_cycle: last.min(from_first.end).saturating_sub(from_first.start),
        is_shortened: last < wanted,
        timeline: from_first.cut(&(first..=last)),
        durable: durable(&*design, &plan.machine),
    })
}

/// When this number of tasks had ended.
fn end_of(timeline: &Timeline, tasks: u64) -> u64 {
    let spans = timeline.spans.0.iter();
    let ended = spans.filter(|span| span.counted);
    let mut ends: Vec<u64> = ended.filter_map(|span| span.to).collect();
    ends.sort_unstable();
    usize::try_from(tasks)
        .ok()
        .and_then(|tasks| ends.get(tasks.checked_sub(1)?).copied())
        .unwrap_or(u64::MAX)
}

/// Where a store becomes durable under the design of this name, as in [`Drawn::durable`].
///
/// # Errors
/// There is no such design.
pub fn durable_in(design: &str, machine: &MachineConfig) -> Result<&'static str, Error> {
    Ok(durable(&*design_named(design)?, machine))
}

fn durable(design: &AnyDesign, machine: &MachineConfig) -> &'static str {
    match machine.durable_from(&design.wants()) {
        place if place.has_visible() => "caches",
        place if place < Place::Media => "queue",
        _ => "media",
    }
}
