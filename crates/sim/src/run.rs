//! The run itself.

use crate::play::{play, Play};
use crate::programs::Prepared;
use crate::record::{Measured, Record};
use crate::starts::Shared;
use crate::{needs, recording, resolved, warm, Error, Plan, Progress, Recoverable, Scope, Sets, Source, Spec, Starts};
use serde_json::Value;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use strandline_design::{About, AnyDesign};
use strandline_designs::abouts;
use strandline_isa::{Memory, LINE_BYTES};
use strandline_kernel::{did_you_mean, Cycles};
use strandline_machine::config::Warm;
use strandline_machine::{
    Detail, Heartbeat, Journal, MachineConfig, Options, Outcome, Timeline, Traces, VolatileLines,
};
use strandline_record::Edits;

/// A run with the data that crash exploration needs.
pub struct Observation {
    /// Its record.
    pub record: Record,
    /// The order of durable writes, the program's notes, and the executed operations.
    pub journal: Journal,
    /// Memory before the run.
    pub initial: Memory,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
    /// The design.
    pub about: About,
    /// The machine.
    pub machine: MachineConfig,
}

/// Entries of the predictors of an [`Outline`].
const FEW_PREDICTIONS: u64 = 64;

/// What a crash test needs of a run, without a record and a trace.
pub struct Outline {
    /// The order of durable writes, and the program's notes.
    pub journal: Journal,
    /// Memory before the run.
    pub initial: Memory,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
}

/// Runs `spec`.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run(spec: &Spec) -> Result<Record, Error> {
    run_watched(spec, &Progress::default())
}

/// As [`run`], and reports its progress.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run_watched(spec: &Spec, progress: &Progress) -> Result<Record, Error> {
    run_sharing(spec, &Starts::default(), progress)
}

/// As [`run_watched`], with the start that it shares with other runs.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run_sharing(spec: &Spec, starts: &Starts, progress: &Progress) -> Result<Record, Error> {
    run_plan(spec, &Plan::of(spec)?, starts, progress)
}

/// Runs a recording with these changes.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run_edited(spec: &Spec, edits: Edits) -> Result<Record, Error> {
    run_plan(
        spec,
        &Plan::edited(spec, edits)?,
        &Starts::default(),
        &Progress::default(),
    )
}

fn run_plan(spec: &Spec, plan: &Plan, starts: &Starts, progress: &Progress) -> Result<Record, Error> {
    progress.begin(plan.tasks + plan.warm_tasks * plan.threads);
    let prepared = prepare(spec, plan)?;
    let options = Options {
        seed: spec.seed,
        heartbeat: heartbeat(plan),
        code: plan.code,
        precision: plan.precision,
        ..Options::default()
    };
    let design = registered(spec, &plan.sets)?;
    Ok(recorded(spec, plan, prepared, options, design, starts, progress)?.0)
}

/// Runs `spec` and keeps the journal and the trace. The cores run without slack.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe(spec: &Spec) -> Result<Observation, Error> {
    observe_until(spec, &Progress::default())
}

/// As [`observe`], until it is stopped.
///
/// # Errors
/// Bad input, a run without progress, or [`Error::Stopped`].
pub fn observe_until(spec: &Spec, progress: &Progress) -> Result<Observation, Error> {
    observed(
        spec,
        |_| Ok(Traces::Everything),
        None,
        progress,
        |sets| registered(spec, sets),
    )
}

/// As [`observe`], without the trace, which is most of the data of a long run.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe_durable(spec: &Spec) -> Result<Observation, Error> {
    observed(
        spec,
        |_| Ok(Traces::Nothing),
        None,
        &Progress::default(),
        |sets| registered(spec, sets),
    )
}

/// As [`observe`], of a recording without markers of locks, whose trace has no loads and stores of volatile memory by which
/// its threads do not communicate: enough for the memory model.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe_shared(spec: &Spec) -> Result<Observation, Error> {
    observed(spec, shared, None, &Progress::default(), |sets| registered(spec, sets))
}

fn shared(plan: &Plan) -> Result<Traces, Error> {
    let mut lines = VolatileLines::default();
    if let Source::Recording(recorded) = &plan.source {
        recorded.shared()?.into_iter().for_each(|addr| lines.add(addr));
    }
    Ok(Traces::Shared(Arc::new(lines)))
}

/// Runs `spec` and keeps the journal, for a test of a few tasks that costs little more than they do.
///
/// The L2 is no larger than the L1, nor is the LLC, and predictors have few entries: to build those of a server takes
/// longer than the tasks do, which touch few lines and branches. The LLC begins with the footprint, for the same reason.
/// The cores run without slack.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn outline(spec: &Spec) -> Result<Outline, Error> {
    let mut plan = Plan::of(spec)?;
    let machine = &mut plan.machine;
    let mut held = machine.l1.bytes;
    for cache in machine.l2.iter_mut().chain([&mut machine.llc]) {
        cache.bytes = cache.bytes.min(held.next_multiple_of(LINE_BYTES * cache.ways));
        held = cache.bytes;
    }
    machine.core.predictor_entries = machine.core.predictor_entries.min(FEW_PREDICTIONS);
    machine.simulation.slack.0 = 0;
    machine.simulation.warm = Warm::Footprint;
    let prepared = prepare(spec, &plan)?;
    let program = prepared.program.clone();
    let options = Options {
        seed: spec.seed,
        journal: true,
        heartbeat: heartbeat(&plan),
        code: plan.code,
        ..Options::default()
    };
    let design = registered(spec, &plan.sets)?;
    let none = Starts::default();
    let shared = Shared::alone(&none, &*design);
    let executed = execute(&plan, prepared, options, design, &shared, &Progress::default())?;
    Ok(Outline {
        journal: executed.outcome.journal.unwrap_or_default(),
        initial: executed.initial.expect(KEPT),
        program,
    })
}

/// As [`observe`], with a design that need not be in the registry, whatever design `spec` names. A run in which no task
/// ends for `patience` has no progress.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe_design(spec: &Spec, design: Box<AnyDesign>, patience: Cycles) -> Result<Observation, Error> {
    observed(
        spec,
        |_| Ok(Traces::Everything),
        Some(patience),
        &Progress::default(),
        |_| Ok(design),
    )
}

/// As [`run_watched`], with a timeline.
pub(crate) fn recorded_by(spec: &Spec, detail: Detail, progress: &Progress) -> Result<(Record, Timeline, Plan), Error> {
    let plan = Plan::of(spec)?;
    if spec.precision.is_some() {
        return Err(Error::Input(
            "--precision: a timeline has the whole run; leave the option out".to_owned(),
        ));
    }
    progress.begin(plan.tasks + plan.warm_tasks * plan.threads);
    let prepared = prepare(spec, &plan)?;
    let options = Options {
        seed: spec.seed,
        heartbeat: heartbeat(&plan),
        code: plan.code,
        timeline: Some(detail),
        ..Options::default()
    };
    let design = registered(spec, &plan.sets)?;
    let (record, executed, _) = recorded(spec, &plan, prepared, options, design, &Starts::default(), progress)?;
    let timeline = executed.outcome.timeline.unwrap_or_default();
    Ok((record, timeline, plan))
}

fn observed(
    spec: &Spec,
    trace: impl FnOnce(&Plan) -> Result<Traces, Error>,
    limit: Option<Cycles>,
    progress: &Progress,
    design: impl FnOnce(&Sets) -> Result<Box<AnyDesign>, Error>,
) -> Result<Observation, Error> {
    let mut plan = Plan::of(spec)?;
    plan.machine.simulation.slack.0 = 0;
    let trace = trace(&plan)?;
    let prepared = prepare(spec, &plan)?;
    let program = prepared.program.clone();
    let options = Options {
        seed: spec.seed,
        journal: true,
        trace,
        patience: limit.unwrap_or(Options::default().patience),
        heartbeat: heartbeat(&plan),
        code: plan.code,
        ..Options::default()
    };
    let (record, executed, about) = recorded(
        spec,
        &plan,
        prepared,
        options,
        design(&plan.sets)?,
        &Starts::default(),
        progress,
    )?;
    Ok(Observation {
        record,
        journal: executed.outcome.journal.unwrap_or_default(),
        initial: executed.initial.expect(KEPT),
        program,
        about,
        machine: plan.machine,
    })
}

/// Prepares the plan's program, a workload or a recording.
fn prepare(spec: &Spec, plan: &Plan) -> Result<Prepared, Error> {
    match &plan.source {
        Source::Workload(_) => {
            let program = plan.program(spec.seed);
            Ok(crate::programs::workload(
                &spec.workload,
                plan.sets.of(Scope::Workload),
                program,
            )?)
        }
        Source::Recording(recorded) => recording::prepare(recorded, &plan.machine),
    }
}

/// A recording may have no tasks, but it has an end: each of its instructions is progress.
fn heartbeat(plan: &Plan) -> Heartbeat {
    match plan.source {
        Source::Workload(_) => Heartbeat::Tasks,
        Source::Recording(_) => Heartbeat::Instructions,
    }
}

/// The registered design that `spec` names, with the user's parameters.
pub(crate) fn registered(spec: &Spec, sets: &Sets) -> Result<Box<AnyDesign>, Error> {
    let mut design = design_named(&spec.design)?;
    design.configure(sets.of(Scope::Design))?;
    Ok(design)
}

/// As [`execute`], with the record.
fn recorded(
    spec: &Spec,
    plan: &Plan,
    prepared: Prepared,
    options: Options,
    design: Box<AnyDesign>,
    starts: &Starts,
    progress: &Progress,
) -> Result<(Record, Executed, About), Error> {
    let started = Instant::now();
    let about = design.about();
    let resolved = resolved::of(spec, plan, &*design)?;
    let sizes = plan.machine.sizes(plan.cores);
    let (storage, drain_bytes) = (design.storage(&sizes), design.drain_bytes(&sizes));
    let shared = Shared::of(starts, plan, &resolved, &*design);
    let executed = execute(plan, prepared, options, design, &shared, progress)?;
    let measured = Measured {
        resolved,
        storage,
        drain_bytes,
        warm: executed.begun.clone(),
        host_seconds: started.elapsed().as_secs_f64(),
    };
    let record = Record::of(spec, plan, &about, &executed.outcome, &measured);
    Ok((record, executed, about))
}

/// A run, and what it began with.
struct Executed {
    outcome: Outcome,
    /// Memory at its beginning, if it kept a journal.
    initial: Option<Memory>,
    /// How caches were warmed, for the record.
    begun: Value,
}

/// A run with a journal.
const KEPT: &str = "a run with a journal keeps its initial memory";

/// Runs the plan's program.
fn execute(
    plan: &Plan,
    prepared: Prepared,
    options: Options,
    design: Box<AnyDesign>,
    shared: &Shared<'_>,
    progress: &Progress,
) -> Result<Executed, Error> {
    let about = design.about();
    needs::check(&about, &plan.machine)?;
    needs::check_restart(&*design, plan)?;
    let (memory, llc) = warm::begin(
        plan,
        prepared.memory,
        prepared.warmth,
        &*prepared.program,
        shared,
        progress,
    )?;
    let begun = llc.described(plan);
    let initial = options.journal.then(|| memory.clone());
    let program = Play {
        cores: plan.cores as usize,
        memory,
        llc,
        threads: prepared.threads,
        remote: progress.remote(),
    };
    let played = play(design, &plan.machine, program, options);
    if let Source::Recording(recorded) = &plan.source {
        recorded.failure().map_or(Ok(()), Err)?;
    }
    let outcome = played?;
    assert!(
        !outcome.halted,
        "{}: a program was interrupted that does not poll for it",
        about.name
    );
    Ok(Executed {
        outcome,
        initial,
        begun,
    })
}

/// The registered design of this name.
///
/// # Errors
/// There is none; the error suggests the closest name.
pub fn design_named(name: &str) -> Result<Box<AnyDesign>, Error> {
    strandline_designs::design(name).ok_or_else(|| unknown_design(name))
}

/// Error for an unknown design name; suggests the closest one.
#[must_use]
pub fn unknown_design(name: &str) -> Error {
    let meant = did_you_mean(name, abouts().iter().map(|about| about.name));
    Error::Input(format!(
        "design {name}: unknown name{meant} (`strandline list designs` shows all)"
    ))
}
