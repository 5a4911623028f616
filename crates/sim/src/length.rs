//! How long a run takes, roughly, before it starts: for the order of many runs and for the time that they still take.

use crate::memory::records;
use crate::{Error, Plan, Scope, Source, Spec};
use serde::Serialize;
use strandline_isa::LINE_BYTES;

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Length {
    /// Timed tasks and warm-up tasks of all threads. A recording may have none.
    pub tasks: u64,
    /// Its time, in that of filling a line of memory. Only runs of one workload compare well.
    pub work: u64,
}

/// The time of a task for each of its log records, in that of filling a line: 20,000 instructions of the host and 600, in
/// measurements of sps, tatp, tpcc and hashmap.
const WORK_OF_RECORD: u64 = 32;

impl Length {
    /// The length of a run of `spec`. Runs of a recording are equally long.
    ///
    /// # Errors
    /// Bad input, as for the run itself.
    pub fn of(spec: &Spec) -> Result<Length, Error> {
        let plan = Plan::of(spec)?;
        let tasks = plan.tasks.saturating_add(plan.warm_tasks.saturating_mul(plan.threads));
        let Source::Workload(about) = &plan.source else {
            return Ok(Length { tasks, work: 1 });
        };
        let set = || plan.sets.of(Scope::Workload);
        let host = crate::programs::memory_bytes(&spec.workload, set(), plan.program(spec.seed))?;
        let touched = host.on_demand.min(tasks.saturating_mul(host.each_task));
        let of_tasks = tasks.saturating_mul(records(about, set()) * WORK_OF_RECORD);
        Ok(Length {
            tasks,
            work: of_tasks.saturating_add((host.at_once + touched) / LINE_BYTES),
        })
    }
}
