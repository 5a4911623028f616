//! The user's specification of a run, and the plan that follows from it.

use crate::recording::{self, Recorded, RECORDING_MACHINE};
use crate::settings::{Scope, Sets};
use crate::{needs, request, resolved, sharing, Error};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::rc::Rc;
use strandline_isa::Code;
use strandline_kernel::{did_you_mean, Params, TypeName};
use strandline_machine::config::Warm;
use strandline_machine::{MachineConfig, Precision};
use strandline_record::Edits;
use strandline_runtime::{code_of, runtimes, Logging, Runtime, Sharing, ThreadPlan, RUNTIME_PARAMS};
use strandline_workloads::{describe, About};

request! {
    /// The user's specification of a run. Its keys are the options of the command line and the settings of figures.
    #[derive(Serialize)]
    pub struct Spec {
        /// The workload's name, or the path of a recording.
        workload: String,
        /// The design's name.
        design: String,
    }
    defaults {
        /// A preset's name or a file's path; the preset of the workload's paper if `None`.
        machine: Option<String> = None,
        /// The language-level runtime; the workload's own if `None`.
        runtime: Option<String> = None,
        /// Number of threads, and of cores unless the machine defines it; 1 if `None`, or the recording's number.
        threads: Option<u64> = None,
        /// Tasks of the timed region, all threads together; the workload's default if `None`.
        tasks: Option<u64> = None,
        /// Tasks that share a thread, or `auto` for the fastest number; the design's default if `None`.
        window: Option<Window> = None,
        /// The coroutine library, `paper` or `lean`, if tasks share a thread; `paper` if `None`.
        coroutines: Option<String> = None,
        /// Latency of backend memory operations, in cycles; the machine's if `None`.
        bmo: Option<u64> = None,
        /// The seed of everything random.
        seed: u64 = 1,
        /// Settings `SCOPE.KEY=VALUE` (`Scope`).
        set: Vec<String> = Vec::new(),
        /// The figure of the run, for its record.
        figure: Option<String> = None,
        /// Warm-up tasks of each thread; a tenth of its tasks if `None`.
        warm: Option<u64> = None,
        /// Whether crash states are visited too, for the record.
        recovers: bool = false,
        /// Whether each cycle of the cores is classified, for the record (`machine::timeline::Class`).
        why: bool = false,
        /// Ends the run once half the 95 % interval of the cycles of a task is at most this share of them, if its program
        /// is stationary and its tasks do not drift; `tasks` is then the most. The run has all its tasks if `None`.
        precision: Option<f64> = None,
        /// Values by `SCOPE.KEY` that replace the defaults and the machine's file: all of them, as in a record, or
        /// none.
        parameters: BTreeMap<String, String> = BTreeMap::new(),
        /// The required checksum of the recording's file; any if `None`.
        checksum: Option<String> = None,
    }
}

/// The number of tasks that share a thread, as the user gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Window {
    /// So many.
    Tasks(u64),
    /// As many as do best.
    Found(FoundBy),
}

/// What finds the fastest number, during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// The program itself.
    Auto,
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Window::Tasks(tasks) => tasks.fmt(f),
            Window::Found(FoundBy::Auto) => f.write_str("auto"),
        }
    }
}

impl TypeName for Spec {
    fn type_name() -> String {
        "RunSpec".to_owned()
    }
}

impl TypeName for Window {
    fn type_name() -> String {
        "int | str".to_owned()
    }
}

impl Spec {
    /// The number of threads of a workload: one unless the user sets it.
    #[must_use]
    pub fn threads_of_workload(&self) -> u64 {
        self.threads.unwrap_or(1)
    }

    /// Whether its workload is a recording: it is not a workload's name, and looks like a path or names a file.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        let path = Path::new(&self.workload);
        let looks = self.workload.contains('/') || path.extension().is_some_and(|e| e == "strand");
        describe(&self.workload).is_err() && (looks || path.is_file())
    }
}

/// A run, every choice made.
pub struct Plan {
    /// What is run.
    pub source: Source,
    /// The machine, settings applied.
    pub machine: MachineConfig,
    /// Hardware threads.
    pub threads: u64,
    /// Simulated cores.
    pub cores: u64,
    /// Tasks of the timed region, all threads together.
    pub tasks: u64,
    /// Warm-up tasks of each thread.
    pub warm_tasks: u64,
    /// The precision at which the run ends, if it may end early.
    pub precision: Option<Precision>,
    /// How tasks share a thread, if they do.
    pub sharing: Option<Sharing>,
    /// How regions are made failure-atomic.
    pub logging: Logging,
    /// How the program was compiled.
    pub code: Code,
    /// The user's parameters.
    pub sets: Sets,
}

/// What a run runs.
pub enum Source {
    /// A workload.
    Workload(&'static About),
    /// A recorded program.
    Recording(Rc<Recorded>),
}

/// Maximum number of cores that the directory supports.
const MAX_CORES: u64 = 64;

impl Plan {
    /// Chooses every setting that the user left open, and refuses what cannot run.
    ///
    /// # Errors
    /// One line for the first mistake.
    pub fn of(spec: &Spec) -> Result<Plan, Error> {
        Plan::edited(spec, Edits::default())
    }

    /// As [`Plan::of`], with these changes of a recording.
    ///
    /// # Errors
    /// One line for the first mistake.
    pub fn edited(spec: &Spec, edits: Edits) -> Result<Plan, Error> {
        let usual = Source::usual_machine(spec)?;
        let (sets, mut machine) = resolved::settings(spec, usual)?;
        let source = Source::of(spec, &sets, edits)?;
        if let Some(bmo) = spec.bmo {
            machine.set("controllers.bmo_latency", &bmo.to_string())?;
        }
        machine.validate()?;
        let sharing = sharing::of(spec, &source)?;
        let (logging, code) = runtime(spec, &source, &sets)?;
        let (threads, tasks, warm_tasks) = match &source {
            Source::Workload(about) => {
                let threads = in_range("--threads", spec.threads_of_workload(), 1, MAX_CORES)?;
                let tasks = in_range("--tasks", spec.tasks.unwrap_or(about.tasks), 1, 1 << 40)?;
                let usual = ThreadPlan::usual_warm_tasks(tasks, threads) + sharing::search_tasks(sharing.as_ref());
                let warm = spec.warm.unwrap_or(usual);
                (threads, tasks, warm)
            }
            Source::Recording(recorded) => (recorded.threads(), recorded.tasks(), 0),
        };
        let cores = cores_for(threads, machine.cores)?.next_multiple_of(machine.hosts);
        needs::check_hosts(&source, &machine)?;
        Ok(Plan {
            machine,
            threads,
            cores,
            tasks,
            warm_tasks,
            precision: precision(spec, &source, threads)?,
            source,
            sharing,
            logging,
            code,
            sets,
        })
    }

    /// The part that the workload's program needs.
    pub(crate) fn program(&self, seed: u64) -> crate::programs::ProgramPlan {
        crate::programs::ProgramPlan {
            threads: self.threads,
            tasks: self.tasks,
            warm_tasks: self.warm_tasks,
            sharing: self.sharing,
            logging: self.logging,
            seed,
        }
    }

    /// The warm-up of the caches, for the record. `steady`: what a steady start has reached.
    pub(crate) fn warmup_to(&self, steady: &str) -> String {
        let recorded = matches!(self.source, Source::Recording(_));
        let llc = match self.machine.simulation.warm {
            _ if self.machine.hosts > 1 => "empty shared caches",
            Warm::Cold => "empty shared cache",
            Warm::Steady | Warm::Footprint if recorded => "touched pages in the shared cache",
            Warm::Steady => steady,
            Warm::Footprint => "footprint in the shared cache",
        };
        let tasks = self.warm_tasks;
        if recorded {
            format!("{llc}, no tasks")
        } else if sharing::search_tasks(self.sharing.as_ref()) > 0 && tasks > 0 {
            format!("{llc}, then at most {tasks} tasks a thread, until all have found their windows")
        } else {
            format!("{llc}, then {tasks} tasks a thread")
        }
    }
}

impl Source {
    fn of(spec: &Spec, sets: &Sets, edits: Edits) -> Result<Source, Error> {
        match spec.is_recording() {
            true => {
                let fences = recording::fences(sets)?;
                let recorded = Recorded::open(&spec.workload, spec.threads, MAX_CORES, fences, edits)?;
                recorded.demand(spec.checksum.as_deref())?;
                Ok(Source::Recording(Rc::new(recorded)))
            }
            false => {
                recording::refuse_for_workloads(spec, sets)?;
                Ok(Source::Workload(describe(&spec.workload)?))
            }
        }
    }

    /// Whether a task's time depends on how many have ended before it.
    pub(crate) fn is_known_to_drift(&self) -> bool {
        matches!(self, Source::Workload(about) if about.drift.is_some())
    }

    /// What records call it.
    pub(crate) fn name(&self, spec: &Spec) -> String {
        match self {
            Source::Workload(_) => spec.workload.clone(),
            Source::Recording(recorded) => recorded.name(),
        }
    }

    /// The name of its language-level runtime in records.
    pub(crate) fn runtime(&self, spec: &Spec) -> String {
        match self {
            Source::Workload(about) => spec.runtime.clone().unwrap_or_else(|| about.runtime.to_owned()),
            Source::Recording(_) => "recorded".to_owned(),
        }
    }

    /// The default machine; it refuses what a recording determines, and unknown workloads.
    fn usual_machine(spec: &Spec) -> Result<&'static str, Error> {
        if spec.is_recording() {
            recording::refuse_what_is_recorded(spec)?;
            return Ok(RECORDING_MACHINE);
        }
        Ok(describe(&spec.workload)?.machine)
    }
}

/// Tasks of each thread, and of all, before which no run ends early: fewer have few and short batches.
const LEAST_TASKS: (u64, u64) = (100, 1_000);

/// The largest precision: an interval of half the mean says nothing.
const COARSEST: f64 = 0.5;

/// When the run ends early; never if its program is not stationary.
fn precision(spec: &Spec, source: &Source, threads: u64) -> Result<Option<Precision>, Error> {
    let Some(share) = spec.precision else {
        return Ok(None);
    };
    if !(share > 0.0 && share <= COARSEST) {
        return Err(Error::Input(format!(
            "--precision {}%: must be more than 0% and at most {}%",
            100.0 * share,
            100.0 * COARSEST
        )));
    }
    let (each, all) = LEAST_TASKS;
    let least_tasks = all.max(each * threads);
    let may_end = matches!(source, Source::Workload(_)) && !source.is_known_to_drift();
    Ok(may_end.then_some(Precision { share, least_tasks }))
}

pub(crate) fn in_range(option: &str, value: u64, least: u64, most: u64) -> Result<u64, Error> {
    if (least..=most).contains(&value) {
        Ok(value)
    } else {
        Err(Error::Input(format!(
            "{option} {value}: must be from {least} to {most}"
        )))
    }
}

fn cores_for(threads: u64, cores: u64) -> Result<u64, Error> {
    match cores {
        0 => Ok(threads),
        n if n > MAX_CORES => Err(Error::Input(format!("machine.cores {n}: must be at most {MAX_CORES}"))),
        n if n < threads => Err(Error::Input(format!(
            "--threads {threads}: machine.cores is {n} and a core runs one thread; give fewer --threads or --set machine.cores={threads}"
        ))),
        n => Ok(n),
    }
}

/// The runtime of the user or the workload, with its settings, and the code.
fn runtime(spec: &Spec, source: &Source, sets: &Sets) -> Result<(Logging, Code), Error> {
    let Source::Workload(about) = source else {
        return Ok((Logging::UNDO, Code::Optimized));
    };
    let name = spec.runtime.as_deref().unwrap_or(about.runtime);
    let runtime = Runtime::named(name).ok_or_else(|| unknown_runtime(name))?;
    let params = Params::parse(Scope::Runtime.name(), RUNTIME_PARAMS, sets.of(Scope::Runtime))
        .map_err(|error| Error::Input(error.to_string()))?;
    Ok((Logging::of(runtime, &params, about.lock), code_of(&params)))
}

/// Error for an unknown runtime; suggests the closest name.
fn unknown_runtime(name: &str) -> Error {
    let names: Vec<&str> = runtimes().iter().map(|about| about.name).collect();
    Error::Input(format!(
        "--runtime {name}: unknown name{}; there are {} (`strandline list runtimes` shows them)",
        did_you_mean(name, names.iter().copied()),
        names.join(", ")
    ))
}
