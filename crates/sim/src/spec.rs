//! What to run, as the user says it, and what that comes to.

use crate::recording::{self, Recorded, RECORDING_MACHINE};
use crate::Error;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::rc::Rc;
use strandline_machine::Machine;
use strandline_runtime::ThreadPlan;
use strandline_workloads::{describe, About};

/// A run as the user asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The workload's name, or the path of a recording.
    pub workload: String,
    /// The design's name.
    pub design: String,
    /// A preset's name or a file's path; the workload's paper's preset if `None`.
    #[serde(default)]
    pub machine: Option<String>,
    /// The language-level runtime; the workload's own if `None`.
    #[serde(default)]
    pub runtime: Option<String>,
    /// Threads, and cores unless the machine says how many. Of a recording zero, as many as it has.
    #[serde(default = "one")]
    pub threads: u64,
    /// Tasks of the timed region, all threads together; the workload's default if `None`.
    #[serde(default)]
    pub tasks: Option<u64>,
    /// Tasks in flight a thread.
    #[serde(default)]
    pub window: Option<u64>,
    /// Latency of backend memory operations, in cycles.
    #[serde(default)]
    pub bmo: Option<u64>,
    /// The seed of everything random.
    #[serde(default = "one")]
    pub seed: u64,
    /// `machine.KEY=VALUE` and `workload.KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
    /// The figure that the run is for, for its record.
    #[serde(default)]
    pub figure: Option<String>,
    /// Tasks of each thread before the timed region; a tenth of its tasks if `None`.
    #[serde(default)]
    pub warm: Option<u64>,
}

fn one() -> u64 {
    1
}

impl Spec {
    /// A run of a workload under a design, all else by default.
    #[must_use]
    pub fn new(workload: &str, design: &str) -> Spec {
        Spec {
            workload: workload.to_owned(),
            design: design.to_owned(),
            machine: None,
            runtime: None,
            threads: 1,
            tasks: None,
            window: None,
            bmo: None,
            seed: 1,
            set: Vec::new(),
            figure: None,
            warm: None,
        }
    }

    /// Whether its workload is a recording: what names no workload and looks like a path or names a file.
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
    pub machine: Machine,
    /// Hardware threads.
    pub threads: u64,
    /// Simulated cores.
    pub cores: u64,
    /// Tasks of the timed region, all threads together.
    pub tasks: u64,
    /// Tasks of each thread before it.
    pub warm_tasks: u64,
    /// The workload's parameters, as the user set them.
    pub workload_sets: Vec<(String, String)>,
}

/// What a run runs.
pub enum Source {
    /// A workload.
    Workload(&'static About),
    /// A recorded program.
    Recording(Rc<Recorded>),
}

/// The most cores that the directory tells apart.
const MAX_CORES: u64 = 64;

impl Plan {
    /// Makes every choice that the user has left open, and refuses what cannot be run.
    ///
    /// # Errors
    /// One line a mistake, the first one found.
    pub fn of(spec: &Spec) -> Result<Plan, Error> {
        refuse_what_is_missing(spec)?;
        let source = Source::of(spec)?;
        let mut machine = Machine::load(spec.machine.as_deref().unwrap_or(source.machine()))?;
        let workload_sets = apply_sets(&mut machine, &spec.set)?;
        if let Some(bmo) = spec.bmo {
            machine.set("controllers.bmo_latency", &bmo.to_string())?;
        }
        machine.validate()?;
        let (threads, tasks, warm_tasks) = match &source {
            Source::Workload(about) => {
                let threads = in_range("--threads", spec.threads, 1, MAX_CORES)?;
                let tasks = in_range("--tasks", spec.tasks.unwrap_or(about.tasks), 1, 1 << 40)?;
                let warm = spec.warm.unwrap_or(ThreadPlan::usual_warm_tasks(tasks, threads));
                (threads, tasks, warm)
            }
            Source::Recording(recorded) => (recorded.threads(), recorded.tasks(), 0),
        };
        let cores = cores_for(threads, machine.cores)?;
        Ok(Plan {
            source,
            machine,
            threads,
            cores,
            tasks,
            warm_tasks,
            workload_sets,
        })
    }

    /// How many of the tasks a thread runs.
    #[must_use]
    pub fn tasks_of(&self, thread: u64) -> u64 {
        ThreadPlan::share(self.tasks, thread, self.threads)
    }

    /// How the caches are warmed, for the record.
    #[must_use]
    pub fn warmup(&self) -> String {
        match self.source {
            Source::Workload(_) => format!("footprint in the shared cache, then {} tasks a thread", self.warm_tasks),
            Source::Recording(_) => "touched pages in the shared cache, no tasks".to_owned(),
        }
    }
}

impl Source {
    fn of(spec: &Spec) -> Result<Source, Error> {
        match spec.is_recording() {
            true => {
                recording::refuse_what_is_recorded(spec)?;
                let recorded = Recorded::open(&spec.workload, spec.threads, MAX_CORES)?;
                Ok(Source::Recording(Rc::new(recorded)))
            }
            false => Ok(Source::Workload(describe(&spec.workload)?)),
        }
    }

    /// What records call it.
    pub(crate) fn name(&self, spec: &Spec) -> String {
        match self {
            Source::Workload(_) => spec.workload.clone(),
            Source::Recording(recorded) => recorded.name(),
        }
    }

    /// Its language-level runtime.
    pub(crate) fn runtime(&self) -> &'static str {
        match self {
            Source::Workload(_) => "undo",
            Source::Recording(_) => "recorded",
        }
    }

    /// The machine where none is named.
    fn machine(&self) -> &'static str {
        match self {
            Source::Workload(about) => about.machine,
            Source::Recording(_) => RECORDING_MACHINE,
        }
    }
}

fn in_range(option: &str, value: u64, least: u64, most: u64) -> Result<u64, Error> {
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
            "--threads {threads}: the machine has {n} cores and a core runs one thread; ask for fewer threads or --set machine.cores={threads}"
        ))),
        n => Ok(n),
    }
}

fn refuse_what_is_missing(spec: &Spec) -> Result<(), Error> {
    match spec.runtime.as_deref() {
        None | Some("undo") => {}
        Some(other) => return Err(Error::Input(format!("--runtime {other}: there is only `undo`"))),
    }
    match spec.window {
        None | Some(1) => Ok(()),
        Some(n) => Err(Error::Input(format!(
            "--window {n}: tasks run one after the other here; leave --window out"
        ))),
    }
}

/// Applies the machine's settings and returns the workload's.
fn apply_sets(machine: &mut Machine, sets: &[String]) -> Result<Vec<(String, String)>, Error> {
    let mut workload = Vec::new();
    for set in sets {
        let wrong = |what: &str| Error::Input(format!("--set {set}: {what}"));
        let (key, value) = set.split_once('=').ok_or_else(|| wrong("must be KEY=VALUE"))?;
        match key.split_once('.') {
            Some(("machine", key)) => machine.set(key, value)?,
            Some(("workload", key)) => workload.push((key.to_owned(), value.to_owned())),
            Some(("design", _)) => return Err(wrong("this design has no parameters")),
            _ => return Err(wrong("the key must begin with machine., design. or workload.")),
        }
    }
    Ok(workload)
}
