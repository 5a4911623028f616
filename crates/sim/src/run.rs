//! The run itself.

use crate::play::{play, Play};
use crate::programs::Prepared;
use crate::record::{Measured, Record};
use crate::starts::Shared;
use crate::{
    needs, recording, resolved, warm, why, Error, Plan, Progress, Recoverable, Scope, Sets, Source, Spec, Starts,
    Written,
};
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

/// A run to be made, and what it takes along; [`run`] and [`observe`] make one that takes nothing.
pub struct Run<'r> {
    /// What is run.
    pub spec: &'r Spec,
    /// Changes of its recording.
    pub edits: Edits,
    /// A design that need not be in the registry, in place of the one that `spec` names.
    pub design: Option<Box<AnyDesign>>,
    /// A run in which no task ends for so long has no progress; the machine's usual patience if `None`.
    pub patience: Option<Cycles>,
    /// What it shares with other runs, if anything.
    pub starts: Option<&'r Starts>,
    /// Who follows it, and may stop it.
    pub progress: Progress,
}

/// What an observed run keeps of the operations that its cores execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// All of them.
    Everything,
    /// Of a recording without markers of locks, all but the loads and stores of volatile memory by which its threads do
    /// not communicate: enough for the memory model.
    Shared,
    /// None: they are most of the data of a long run.
    Nothing,
}

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
    Run::of(spec).record()
}

/// Runs `spec` and keeps the journal and the whole trace. The cores run without slack.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observe(spec: &Spec) -> Result<Observation, Error> {
    Run::of(spec).observe(Traced::Everything)
}

impl<'r> Run<'r> {
    /// That of `spec`, alone.
    #[must_use]
    pub fn of(spec: &'r Spec) -> Run<'r> {
        Run {
            spec,
            edits: Edits::default(),
            design: None,
            patience: None,
            starts: None,
            progress: Progress::default(),
        }
    }

    /// Makes it.
    ///
    /// # Errors
    /// Bad input, a run without progress, or [`Error::Stopped`].
    pub fn record(mut self) -> Result<Record, Error> {
        let plan = self.plan()?;
        let options = Options {
            precision: plan.precision,
            timeline: self.spec.why.then(|| why::detail(&plan.machine)),
            ..self.options(&plan)
        };
        Ok(self.recorded(&plan, options)?.0)
    }

    /// Makes it, and keeps the journal. The cores run without slack.
    ///
    /// # Errors
    /// As [`Run::record`].
    pub fn observe(mut self, trace: Traced) -> Result<Observation, Error> {
        let mut plan = self.plan()?;
        plan.machine.simulation.slack.0 = 0;
        let options = Options {
            journal: true,
            trace: traces(&plan, trace)?,
            ..self.options(&plan)
        };
        let (record, ended) = self.recorded(&plan, options)?;
        Ok(Observation {
            record,
            journal: ended.outcome.journal.unwrap_or_default(),
            initial: ended.initial.expect(KEPT),
            program: ended.program,
            about: ended.about,
            machine: plan.machine,
        })
    }

    /// Makes it and keeps the journal, for a test of a few tasks that costs little more than they do.
    ///
    /// The L2 is no larger than the L1, nor is the LLC, and predictors have few entries: to build those of a server takes
    /// longer than the tasks do, which touch few lines and branches. The LLC begins with the footprint, for the same
    /// reason. The cores run without slack.
    ///
    /// # Errors
    /// As [`Run::record`].
    pub fn outline(mut self) -> Result<Outline, Error> {
        let mut plan = self.plan()?;
        let machine = &mut plan.machine;
        let mut held = machine.l1.bytes;
        for cache in machine.l2.iter_mut().chain([&mut machine.llc]) {
            cache.bytes = cache.bytes.min(held.next_multiple_of(LINE_BYTES * cache.ways));
            held = cache.bytes;
        }
        machine.core.predictor_entries = machine.core.predictor_entries.min(FEW_PREDICTIONS);
        machine.simulation.slack.0 = 0;
        machine.simulation.warm = Warm::Footprint;
        let options = Options {
            journal: true,
            ..self.options(&plan)
        };
        let design = self.designed(&plan)?;
        let shared = Shared::alone(&*design);
        let ended = execute(self.spec, &plan, options, design, &shared, &self.progress)?;
        Ok(Outline {
            journal: ended.outcome.journal.unwrap_or_default(),
            initial: ended.initial.expect(KEPT),
            program: ended.program,
        })
    }

    /// Makes it, with a timeline.
    pub(crate) fn timeline(mut self, detail: Detail) -> Result<(Record, Timeline, Plan), Error> {
        let plan = self.plan()?;
        if self.spec.precision.is_some() {
            return Err(Error::Input(
                "--precision: a timeline has the whole run; leave the option out".to_owned(),
            ));
        }
        let options = Options {
            timeline: Some(Detail {
                heads: self.spec.why.then(|| why::hit(&plan.machine)),
                ..detail
            }),
            ..self.options(&plan)
        };
        let (record, ended) = self.recorded(&plan, options)?;
        Ok((record, ended.outcome.timeline.unwrap_or_default(), plan))
    }

    fn plan(&mut self) -> Result<Plan, Error> {
        Plan::edited(self.spec, std::mem::take(&mut self.edits))
    }

    /// What every way to make it has.
    fn options(&self, plan: &Plan) -> Options {
        let usual = Options::default();
        Options {
            seed: self.spec.seed,
            patience: self.patience.unwrap_or(usual.patience),
            // A recording may have no tasks, but it has an end: each of its instructions is progress.
            heartbeat: match plan.source {
                Source::Workload(_) => Heartbeat::Tasks,
                Source::Recording(_) => Heartbeat::Instructions,
            },
            code: plan.code,
            ..usual
        }
    }

    fn designed(&mut self, plan: &Plan) -> Result<Box<AnyDesign>, Error> {
        let given = self.design.take().map(Ok);
        given.unwrap_or_else(|| registered(self.spec, &plan.sets))
    }

    /// As [`execute`], with the record.
    fn recorded(mut self, plan: &Plan, options: Options) -> Result<(Record, Ended), Error> {
        let spec = self.spec;
        let design = self.designed(plan)?;
        let resolved = resolved::of(spec, plan, &*design)?;
        let sizes = plan.machine.sizes(plan.cores);
        let places = plan.machine.places(plan.cores, &*design);
        let (storage, drain_bytes) = (design.storage(&sizes), places.drain_bytes());
        let on_fail = plan.machine.hold_up_ns().map(|_| Written::of(&places, &plan.machine));
        let shared = Shared::of(self.starts, plan, &resolved, &*design);
        let ended = execute(spec, plan, options, design, &shared, &self.progress)?;
        let measured = Measured {
            resolved,
            storage,
            drain_bytes,
            on_fail,
            warm: ended.begun.clone(),
            host_seconds: ended.host_seconds,
        };
        let record = Record::of(spec, plan, &ended.about, &ended.outcome, &measured);
        Ok((record, ended))
    }
}

fn traces(plan: &Plan, trace: Traced) -> Result<Traces, Error> {
    Ok(match trace {
        Traced::Everything => Traces::Everything,
        Traced::Nothing => Traces::Nothing,
        Traced::Shared => {
            let mut lines = VolatileLines::default();
            if let Source::Recording(recorded) = &plan.source {
                recorded.shared()?.into_iter().for_each(|addr| lines.add(addr));
            }
            Traces::Shared(Arc::new(lines))
        }
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

/// The registered design that `spec` names, with the user's parameters.
pub(crate) fn registered(spec: &Spec, sets: &Sets) -> Result<Box<AnyDesign>, Error> {
    let mut design = design_named(&spec.design)?;
    design.configure(sets.of(Scope::Design))?;
    Ok(design)
}

/// The registered design that `spec` names, with all of its settings.
///
/// # Errors
/// Bad input.
pub fn configured(spec: &Spec) -> Result<Box<AnyDesign>, Error> {
    registered(spec, &Sets::read(spec.set.iter().cloned())?)
}

/// A run that has ended, and what it began with.
struct Ended {
    outcome: Outcome,
    /// Memory at its beginning, if it kept a journal.
    initial: Option<Memory>,
    program: Rc<dyn Recoverable>,
    about: About,
    /// How caches were warmed, for the record.
    begun: serde_json::Value,
    /// The host's time, without what went before the run.
    host_seconds: f64,
}

/// A run with a journal.
const KEPT: &str = "a run with a journal keeps its initial memory";

/// Runs the plan's program.
fn execute(
    spec: &Spec,
    plan: &Plan,
    options: Options,
    design: Box<AnyDesign>,
    shared: &Shared<'_>,
    progress: &Progress,
) -> Result<Ended, Error> {
    progress.begin(plan.tasks + plan.warm_tasks * plan.threads);
    let about = design.about();
    needs::check(&about, &plan.machine)?;
    needs::check_restart(&*design, plan)?;
    if options.journal {
        needs::check_promise(&about, &plan.sets)?;
    }
    let Prepared {
        fill,
        threads,
        warmth,
        program,
    } = prepare(spec, plan)?;
    let (memory, llc) = warm::begin(plan, fill, warmth, &*program, shared, progress)?;
    let begun = llc.described(plan);
    let initial = options.journal.then(|| memory.clone());
    let started = Instant::now();
    let playing = Play {
        cores: plan.cores as usize,
        memory,
        llc,
        threads,
        remote: progress.remote(),
    };
    let played = play(design, &plan.machine, playing, options);
    if let Source::Recording(recorded) = &plan.source {
        recorded.failure().map_or(Ok(()), Err)?;
    }
    let outcome = played?;
    assert!(
        !outcome.halted,
        "{}: a program was interrupted that does not poll for it",
        about.name
    );
    Ok(Ended {
        outcome,
        initial,
        program,
        about,
        begun,
        host_seconds: started.elapsed().as_secs_f64(),
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
