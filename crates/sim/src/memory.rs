//! Estimates, before a run, of the host memory that it takes.

use crate::run::registered;
use crate::warm::most_tasks;
use crate::{Error, Plan, Scope, Source, Spec};
use serde::Serialize;
use strandline_isa::{Memory, LINE_BYTES};
use strandline_machine::config::Cache;
use strandline_machine::{MachineConfig, LEAST_ACCESSES};
use strandline_runtime::HostBytes;
use strandline_workloads::About;

/// Host memory of a run in bytes, by part. It includes pages that the run never touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryNeed {
    /// The program's memory and its copies; none for a recording, whose file gives its size.
    pub program: u64,
    /// Tags of the caches, of all cores.
    pub caches: u64,
    /// Queues and predictors of cores, controllers and media.
    pub queues: u64,
    /// Journal and trace of an observed run, or the timeline of one whose cycles are classified.
    pub journal: u64,
}

/// Bytes of an LLC line: tag and sharers.
const LAST_LINE: u64 = 16;
/// Bytes of a private cache's line: its tag.
const PRIVATE_LINE: u64 = 8;
/// Bytes of an entry of a queue, a bank or a buffer: at most a line and its state.
const QUEUE_ENTRY: u64 = 2 * LINE_BYTES;
/// Other memory of the process: code, the interpreter, the design.
const PROCESS: u64 = 64 << 20;
/// Copies of memory during crash exploration: the run's, the initial one, the crash image, and the recovered one. The
/// check of the recovered one touches all that it takes on demand.
const OBSERVED_COPIES: u64 = 4;
/// Bytes of journal, trace and the model's evaluation for each log record of a task: 4 to 9 KiB in measurements.
const JOURNAL_OF_RECORD: u64 = 6 << 10;
/// Times the LLC's lines that a steady start touches, at most: those that it begins with, and twice as many until it has
/// turned over.
const TOUCHED_LLCS: u64 = 3;
/// Log records assumed for a task without a log.
const UNLOGGED: u64 = 64;

impl MemoryNeed {
    /// The memory of a run of `spec`. With `observed`, of a run for crash exploration.
    ///
    /// # Errors
    /// Bad input, as for the run itself.
    pub fn of(spec: &Spec, observed: bool) -> Result<MemoryNeed, Error> {
        let plan = Plan::of(spec)?;
        let design = registered(spec, &plan.sets)?;
        crate::check_needs(&design.about(), &plan.machine)?;
        crate::check_restart(&*design, &plan)?;
        let tasks = plan.tasks.saturating_add(plan.warm_tasks.saturating_mul(plan.threads));
        let (program, records) = match &plan.source {
            Source::Workload(about) => {
                let set = || plan.sets.of(Scope::Workload);
                let host = crate::programs::memory_bytes(&spec.workload, set(), plan.program(spec.seed))?;
                let of_run = tasks.saturating_mul(host.each_task);
                let touched = host
                    .on_demand
                    .min(of_run.saturating_add(touched_by_warming(&plan, &host)));
                let used = host.at_once + touched;
                let program = if observed {
                    used.saturating_mul(OBSERVED_COPIES)
                        .saturating_add(host.on_demand - touched)
                } else {
                    used
                };
                (program, records(about, set()))
            }
            Source::Recording(_) => (0, 0),
        };
        let journal = tasks.saturating_mul(records * JOURNAL_OF_RECORD);
        Ok(MemoryNeed {
            program,
            caches: caches(&plan.machine, plan.cores),
            queues: queues(&plan.machine, plan.cores),
            journal: match (observed, spec.why) {
                (true, _) => journal,
                (false, true) => journal.min(crate::why::MOST_BYTES),
                (false, false) => 0,
            },
        })
    }

    /// Total bytes, including the process itself.
    #[must_use]
    pub fn total(&self) -> u64 {
        let parts = [self.program, self.caches, self.queues, self.journal];
        parts.into_iter().fold(PROCESS, u64::saturating_add)
    }
}

/// Bytes that the tasks of a steady start touch, at most.
fn touched_by_warming(plan: &Plan, host: &HostBytes) -> u64 {
    let lines = TOUCHED_LLCS.saturating_mul(plan.machine.llc.bytes) / LINE_BYTES;
    let Some(tasks) = most_tasks(plan) else {
        return 0;
    };
    // Few tasks are followed by others until the caches and predictors may have settled.
    let least = plan.threads.saturating_mul(LEAST_ACCESSES * LINE_BYTES);
    tasks
        .saturating_mul(host.each_task)
        .max(least)
        .min(lines.saturating_mul(Memory::BLOCK_BYTES))
}

/// Maximum number of log records of a task: a ring holds at least two regions.
pub(crate) fn records<'a>(about: &About, set: impl Iterator<Item = (&'a str, &'a str)>) -> u64 {
    let ring = about.params.iter().find(|param| param.name == "log_records");
    let of_one = ring.map_or(UNLOGGED, |ring| ring.min / 2 + 1);
    let operations = set.filter(|(key, _)| *key == "operations");
    of_one
        * operations
            .filter_map(|(_, value)| value.parse().ok())
            .last()
            .unwrap_or(1)
}

fn caches(machine: &MachineConfig, cores: u64) -> u64 {
    let lines = |cache: &Cache| cache.bytes / LINE_BYTES;
    let private = lines(&machine.l1) + machine.l2.as_ref().map_or(0, lines);
    LAST_LINE * lines(&machine.llc) + PRIVATE_LINE * private * cores
}

/// Bytes of the tags, queues and predictors of a machine.
pub(crate) fn of_machine(machine: &MachineConfig, cores: u64) -> u64 {
    caches(machine, cores) + queues(machine, cores)
}

fn queues(machine: &MachineConfig, cores: u64) -> u64 {
    let (core, controllers) = (&machine.core, &machine.controllers);
    let scheduling = core.issue_queue_entries + core.load_store_queue_entries;
    let entries = core.rob_entries + core.load_queue_entries + core.store_queue_entries + scheduling;
    let of_core = core.predictor_entries + QUEUE_ENTRY * (entries + core.writeback_buffer_entries);
    let behind = controllers.wpq_entries + controllers.read_queue_entries + machine.pm.banks;
    cores * of_core + controllers.count * behind * QUEUE_ENTRY
}
