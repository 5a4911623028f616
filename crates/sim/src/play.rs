//! Runs given programs under a design; runs of workloads use it.

use crate::warm::{latest, Begin};
use crate::Error;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use strandline_design::AnyDesign;
use strandline_isa::{CoreId, Memory};
use strandline_machine::{Factory, MachineConfig, Options, Outcome, Remote, Stuck, System};
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_that_is_too_large_is_bad_input_and_a_panic_stays_one() {
        let excess = TooLarge {
            what: "words",
            needed: None,
        };
        let error = ended::<()>(|| resume_unwind(Box::new(excess))).unwrap_err();
        assert_eq!(
            error,
            Error::input(
                "--set workload.operations: a region writes more words than the 512 that the runtime's set holds; \
                 set it lower, or choose another --runtime"
            )
        );
        let planted = catch_unwind(|| ended::<()>(|| resume_unwind(Box::new("planted"))));
        assert_eq!(planted.unwrap_err().downcast_ref(), Some(&"planted"));
    }
}
