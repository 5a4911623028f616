//! Runs given programs under a design; runs of workloads use it.

use crate::warm::Begin;
use crate::Error;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use strandline_design::AnyDesign;
use strandline_isa::{CoreId, Memory};
use strandline_machine::{latest, Factory, MachineConfig, Options, Outcome, Remote, Stuck, System};
use strandline_runtime::TooLarge;

/// What is run.
pub struct Play {
    /// Simulated cores; each thread has its own, others are idle.
    pub cores: usize,
    /// Memory at first.
    pub memory: Memory,
    /// Initial contents of the LLC.
    pub llc: Begin,
    /// The program of each thread.
    pub threads: Vec<Factory>,
    /// What other threads learn of the run, and tell it.
    pub remote: Remote,
}

/// Runs programs on a machine under a design.
///
/// # Errors
/// The run makes no progress.
pub fn play(design: Box<AnyDesign>, machine: &MachineConfig, play: Play, options: Options) -> Result<Outcome, Error> {
    let mut system = System::new(machine, design, play.cores, play.memory, options);
    system.follow(play.remote);
    match play.llc {
        Begin::Lines(footprint) => latest(footprint, &machine.llc)
            .into_iter()
            .for_each(|addresses| system.warm(addresses)),
        Begin::Steady(contents) => system.begin_with(*contents),
    }
    for (index, thread) in play.threads.into_iter().enumerate() {
        system.start(CoreId(index as u16), thread);
    }
    ended(|| system.run())?.map_err(|stuck: Stuck| Error::from(stuck))
}

/// Runs to the end, or to a region that exceeds its log. A region's size is not known beforehand if the structure
/// changes its shape, as a tree does.
pub(crate) fn ended<T>(run: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|cause| match cause.downcast::<TooLarge>() {
        Ok(excess) => Error::Input(format!(
            "--set workload.operations: {excess}; set it lower, or choose another --runtime"
        )),
        Err(cause) => resume_unwind(cause),
    })
}
