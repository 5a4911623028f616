//! Initial contents of the caches.

use crate::memory::of_machine;
use crate::play::ended;
use crate::programs::{Fill, Warmth};
use crate::starts::{Shared, Start};
use crate::{Error, Plan, Progress, Source};
use serde_json::{json, Value};
use std::ops::Range;
use strandline_isa::{Image, Memory};
use strandline_machine::config::Warm;
use strandline_machine::{latest, Accesses, Contents, Ending, Unfinished, Warming};
use strandline_runtime::Recoverable;

/// Initial contents of the LLC.
pub enum Begin {
    /// These addresses, clean, as far as they fit, the last ones first.
    Lines(Vec<Range<u64>>),
    /// What a program has left there.
    Steady(Box<Contents>),
}

/// Tasks of a steady start for each of the run, at most. Without a core's timing, a task costs the host at most half as
/// much, so that the start costs no more than the run.
const TASKS_OF_ONE: u64 = 2;

/// Tasks of a steady start, at most, unless these cost the host next to nothing; `None` where the run begins in another
/// way.
///
/// A program that is not stationary, such as one whose structure grows, has no more than what costs nothing, whatever the
/// run's length: else a longer run would begin with a larger structure.
pub fn most_tasks(plan: &Plan) -> Option<u64> {
    if plan.machine.hosts > 1
        || plan.machine.simulation.warm != Warm::Steady
        || !matches!(plan.source, Source::Workload(_))
    {
        return None;
    }
    let of_run = plan.tasks.saturating_add(plan.warm_tasks.saturating_mul(plan.threads));
    Some(match plan.source.is_known_to_drift() {
        true => 0,
        false => of_run.saturating_mul(TASKS_OF_ONE),
    })
}

/// How the run of a prepared program begins: memory, and the LLC.
///
/// # Errors
/// It was told to stop, a region exceeds its log, or no task ends.
pub fn begin(
    plan: &Plan,
    fill: Fill,
    warmth: Warmth,
    program: &dyn Recoverable,
    shared: &Shared<'_>,
    progress: &Progress,
) -> Result<(Memory, Begin), Error> {
    match plan.machine.simulation.warm {
        _ if plan.machine.hosts > 1 => Ok((shared.filled(fill)?, Begin::Lines(Vec::new()))),
        Warm::Cold => Ok((shared.filled(fill)?, Begin::Lines(Vec::new()))),
        Warm::Steady if !warmth.threads.is_empty() => {
            let warmed = |accesses: &Accesses| warmed(plan, shared.filled(fill)?, warmth, program, accesses, progress);
            let (memory, contents) = shared.steady(warmed)?;
            Ok((memory, Begin::Steady(contents)))
        }
        Warm::Footprint | Warm::Steady => Ok((shared.filled(fill)?, Begin::Lines(warmth.footprint))),
    }
}

/// A steady start.
fn warmed(
    plan: &Plan,
    memory: Memory,
    warmth: Warmth,
    program: &dyn Recoverable,
    accesses: &Accesses,
    progress: &Progress,
) -> Result<Start, Error> {
    let machine = &plan.machine;
    let seeded = warmth.seeded.into_iter();
    seeded.for_each(|(at, word)| memory.set_word(at, word));
    let mut warming = Warming::new(machine, accesses, memory, warmth.threads);
    for addresses in latest(warmth.footprint, &machine.llc) {
        warming.put(addresses);
    }
    let left = ended(|| warming.run(most_tasks(plan).unwrap_or(0), &progress.remote().stop))?;
    let (memory, contents) = left.map_err(not_begun)?;
    let memory = restarted(&memory, program);
    Ok(Start {
        bytes: memory.host_bytes() + of_machine(machine, plan.threads),
        memory,
        contents: Some(Box::new(contents)),
    })
}

/// Memory for a new process of a program whose threads have ended all they had begun: they open their logs anew, and
/// number regions from the settled ones on. So recovery settles the logs, in which it finds everything complete, and
/// volatile memory, which knows regions by their numbers, is filled again.
fn restarted(memory: &Memory, program: &dyn Recoverable) -> Memory {
    let memory = memory.persistent_half();
    program.recover(&memory);
    program.repair(&memory);
    program.start(&memory);
    memory
}

fn not_begun(why: Unfinished) -> Error {
    match why {
        Unfinished::Stopped => Error::Stopped,
        Unfinished::Stuck => Error::Stuck {
            dead: false,
            text: "no task ends while the caches are warmed (machine.simulation.warm=footprint runs none)".to_owned(),
        },
    }
}

/// What a record says of warming that its bound ended.
const BOUND: &str = "bound";

impl Begin {
    /// The rule and what it took, for the record.
    pub fn described(&self, plan: &Plan) -> Value {
        let Begin::Steady(contents) = self else {
            let rule = match plan.machine.simulation.warm {
                _ if plan.machine.hosts > 1 => "cold",
                Warm::Cold => "cold",
                Warm::Footprint | Warm::Steady => "footprint",
            };
            return json!({ "rule": rule });
        };
        let ended = match contents.ending {
            Ending::TurnedOver => "turned over",
            Ending::Fits => "fits",
            Ending::Bound => BOUND,
        };
        let mut described = json!({
            "rule": "steady",
            "ended": ended,
            "tasks": contents.tasks,
            "lines": contents.lines,
            "dirty_lines": contents.dirty,
        });
        if !contents.unsettled.is_empty() {
            described["unsettled"] = json!(contents.unsettled);
        }
        described
    }
}

/// What a steady start has reached, as `params.warm` of the record describes it.
pub fn in_words(warm: &Value) -> String {
    if warm["ended"] != BOUND {
        return "shared cache in a steady state".to_owned();
    }
    let unsettled = warm["unsettled"].as_array().into_iter().flatten();
    let names: Vec<&str> = unsettled.filter_map(Value::as_str).collect();
    format!(
        "no steady state after {} tasks (not settled: {})",
        warm["tasks"],
        names.join(", ")
    )
}
