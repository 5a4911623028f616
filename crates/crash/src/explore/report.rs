//! What crash exploration says.

use super::replay::{arguments, CrashPoint};
use super::run::Run;
use super::shrink::Failing;
use super::sizes::small;
use crate::case::Case;
use crate::judge::fault::FaultKind;
use serde::Serialize;
use strandline_sim::{Error, Record};

/// What was visited and found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The workload.
    pub workload: String,
    /// The design.
    pub design: String,
    /// Crash states judged.
    pub points: u64,
    /// Events that changed what is durable, over all runs.
    pub durable_events: u64,
    /// Runs, each shaken otherwise.
    pub runs: u64,
    /// Whether all requested crash states were judged: without a stop, and without enough failures before.
    pub complete: bool,
    /// Crash states that do not recover, the smallest case first; only a few.
    pub failures: Vec<Failure>,
    /// The record of the unperturbed run.
    pub record: Record,
}

/// A crash state that does not recover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The earliest cycle of the crash.
    pub at_cycles: u64,
    /// The number of the last durable event before the power failure; 0: none.
    pub event: u64,
    /// The kind of fault, in one word.
    pub kind: FaultKind,
    /// What is wrong.
    pub why: String,
    /// The arguments of `strandline` that reproduce it, from `crash` on.
    pub replay: String,
    /// Tasks of the run.
    pub tasks: u64,
    /// Threads of the run.
    pub threads: u64,
    /// More about it, by lines.
    pub detail: Vec<String>,
    /// What recovery read, and the order that was broken; `None` if the user's stop left no time to find out.
    pub case: Option<Case>,
}

impl Failure {
    /// A failing point in words.
    ///
    /// # Errors
    /// None, for a run that was judged.
    pub fn of(failing: &Failing) -> Result<Failure, Error> {
        Ok(Failure {
            case: Some(Case::of(&failing.run, &failing.finding)?),
            ..Failure::in_short(failing)
        })
    }

    /// A failing point in words, without its case.
    pub fn in_short(Failing { run, finding }: &Failing) -> Failure {
        let place = CrashPoint {
            run: run.number,
            event: finding.event,
        };
        let mut detail: Vec<String> = finding.faults[1..]
            .iter()
            .map(|fault| format!("also {fault}"))
            .collect();
        detail.push(event(run, finding.event));
        detail.extend(shutdown(run, finding.event));
        detail.push(shaking(run));
        detail.extend(sizes(run));
        Failure {
            at_cycles: finding.at.0,
            event: finding.event as u64,
            kind: finding.faults[0].kind(),
            why: finding.faults[0].to_string(),
            replay: arguments(&run.spec, place),
            tasks: run.spec.tasks.unwrap_or(run.observation.record.stats.tasks),
            threads: run.spec.threads_of_workload(),
            detail,
            case: None,
        }
    }
}

fn event(run: &Run, event: usize) -> String {
    let events = run.events();
    match event
        .checked_sub(1)
        .map(|index| &run.observation.journal.durable[index])
    {
        Some(last) => format!(
            "durable event {event} of {events}: line {} at cycle {}",
            last.line, last.at
        ),
        None => format!("before the first of {events} durable events"),
    }
}

/// What the next start finds of a flush on fail, on a machine whose reserve power ends.
fn shutdown(run: &Run, event: usize) -> Option<String> {
    run.observation.machine.hold_up_ns()?;
    Some(match run.observation.journal.late_at(event) {
        0 => "clean shutdown: reserve power lasts, and nothing tells the program that it has lost anything".to_owned(),
        lines => format!(
            "dirty shutdown: reserve power ends before {lines} line{} written; the program is told when it starts next",
            if lines == 1 { " is" } else { "s are" }
        ),
    })
}

fn shaking(run: &Run) -> String {
    match run.shaken.is_empty() {
        true => format!("run {}: the unchanged machine", run.number),
        false => format!("run {}: the machine with {}", run.number, run.shaken.join(", ")),
    }
}

fn sizes(run: &Run) -> Option<String> {
    let sizes: Vec<String> = small(&run.spec).iter().map(|size| size.set(size.value)).collect();
    (!sizes.is_empty()).then(|| format!("sizes of crash runs, unless set: {}", sizes.join(", ")))
}

/// Number of durable events in a report of a replayed point.
const SHOWN: usize = 8;

/// Further output for a replayed point: the newest durable lines and the active regions.
pub fn surroundings(run: &Run, event: usize, under_way: Vec<String>) -> Vec<String> {
    let durable = &run.observation.journal.durable[..event];
    let first = event.saturating_sub(SHOWN);
    let lines = durable.iter().enumerate().skip(first);
    let shown = lines.map(|(index, durable)| {
        format!(
            "event {}, cycle {}: line {} holds {:x?}",
            index + 1,
            durable.at,
            durable.line,
            durable.data
        )
    });
    shown
        .chain(under_way.into_iter().map(|region| format!("under way: {region}")))
        .collect()
}
