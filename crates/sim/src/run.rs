//! The run itself.

use crate::play::{play, Play};
use crate::prepare::{prepare, Prepared};
use crate::record::{Measured, Record};
use crate::{needs, Broken, Error, Plan, Recoverable, Scope, Sets, Source, Spec};
use std::rc::Rc;
use std::time::Instant;
use strandline_design::{About, Design};
use strandline_designs::{abouts, with_design_set, DesignVisitor};
use strandline_isa::Memory;
use strandline_kernel::Cycles;
use strandline_machine::{Journal, Machine, Options, Outcome};

/// A run with all that crash exploration needs of it.
pub struct Observation {
    /// Its record.
    pub record: Record,
    /// What became durable when, what the program said, and what the cores executed.
    pub journal: Journal,
    /// Memory before the run.
    pub initial: Memory,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
    /// The design.
    pub about: About,
    /// The machine.
    pub machine: Machine,
}

/// Runs what the user asks for.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run(spec: &Spec) -> Result<Record, Error> {
    let plan = Plan::of(spec)?;
    let prepared = prepare(&spec.workload, &plan, spec.seed, Broken::default())?;
    let options = patient(&plan, Broken::default().options(spec.seed, false));
    Ok(execute(spec, &plan, prepared, options, |runner| {
        registered(spec, runner, &plan.sets)
    })?
    .0)
}

/// Runs what the user asks for and keeps the journal and the trace. Nobody runs ahead of anybody.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe(spec: &Spec) -> Result<Observation, Error> {
    observed(spec, Broken::default(), true, |runner, sets| {
        registered(spec, runner, sets)
    })
}

/// As [`observe`], without the trace of what the cores executed: of a long run that is most of what is kept.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe_durable(spec: &Spec) -> Result<Observation, Error> {
    observed(spec, Broken::default(), false, |runner, sets| {
        registered(spec, runner, sets)
    })
}

/// As [`observe`], with a design that need not be in the registry, whatever `spec` calls it.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe_design<D: Design>(spec: &Spec, design: D, broken: Broken) -> Result<Observation, Error> {
    observed(spec, broken, true, |runner, _| runner.visit(design))
}

fn observed(
    spec: &Spec,
    broken: Broken,
    trace: bool,
    run: impl FnOnce(Runner<'_>, &Sets) -> RanOr,
) -> Result<Observation, Error> {
    let mut plan = Plan::of(spec)?;
    plan.machine.simulation.slack.0 = 0;
    let prepared = prepare(&spec.workload, &plan, spec.seed, broken)?;
    let initial = prepared.memory.clone();
    let program = prepared.program.clone();
    let options = Options {
        trace,
        ..patient(&plan, broken.options(spec.seed, true))
    };
    let (record, outcome, about) = execute(spec, &plan, prepared, options, |runner| run(runner, &plan.sets))?;
    Ok(Observation {
        record,
        journal: outcome.journal.unwrap_or_default(),
        initial,
        program,
        about,
        machine: plan.machine,
    })
}

/// A recording may have no tasks, by whose ends progress is told.
fn patient(plan: &Plan, options: Options) -> Options {
    let patience = match plan.source {
        Source::Workload(_) => options.patience,
        Source::Recording(_) => Cycles(u64::MAX),
    };
    Options { patience, ..options }
}

/// Runs with the registered design that `spec` names.
fn registered(spec: &Spec, runner: Runner<'_>, sets: &Sets) -> RanOr {
    with_design_set(&spec.design, sets.of(Scope::Design), runner).ok_or_else(|| unknown_design(&spec.design))??
}

fn execute(
    spec: &Spec,
    plan: &Plan,
    prepared: Prepared,
    options: Options,
    run: impl FnOnce(Runner<'_>) -> RanOr,
) -> Result<(Record, Outcome, About), Error> {
    let started = Instant::now();
    let runner = Runner {
        machine: &plan.machine,
        cores: plan.cores as usize,
        prepared,
        options,
    };
    let ran = run(runner);
    if let Source::Recording(recorded) = &plan.source {
        recorded.failure().map_or(Ok(()), Err)?;
    }
    let ran = ran?;
    let measured = Measured {
        storage: ran.storage,
        drain_bytes: ran.drain_bytes,
        host_seconds: started.elapsed().as_secs_f64(),
    };
    let record = Record::of(spec, plan, &ran.about, &ran.outcome.stats, &measured);
    Ok((record, ran.outcome, ran.about))
}

struct Runner<'a> {
    machine: &'a Machine,
    cores: usize,
    prepared: Prepared,
    options: Options,
}

struct Ran {
    outcome: Outcome,
    about: About,
    storage: Vec<(&'static str, u64)>,
    drain_bytes: u64,
}

type RanOr = Result<Ran, Error>;

impl DesignVisitor for Runner<'_> {
    type Out = RanOr;

    fn visit<D: Design>(self, design: D) -> RanOr {
        let about = design.about();
        needs::check(&about, self.machine)?;
        let sizes = self.machine.sizes(self.cores as u64);
        let (storage, drain_bytes) = (design.storage(&sizes), design.drain_bytes(&sizes));
        let program = Play {
            cores: self.cores,
            memory: self.prepared.memory,
            footprint: self.prepared.footprint,
            threads: self.prepared.threads,
        };
        let outcome = play(design, self.machine, program, self.options)?;
        Ok(Ran {
            outcome,
            about,
            storage,
            drain_bytes,
        })
    }
}

/// The error of who names a design that does not exist.
#[must_use]
pub fn unknown_design(name: &str) -> Error {
    let nearest = abouts()
        .into_iter()
        .max_by(|a, b| {
            let near = |about: &About| strsim::jaro_winkler(about.name, name);
            near(a).total_cmp(&near(b))
        })
        .map_or("x86", |about| about.name);
    Error::Input(format!(
        "design {name}: there is none of this name; did you mean {nearest}? (`strandline list designs` shows all)"
    ))
}
