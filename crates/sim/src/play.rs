//! Programs of one's own under a design: what a run of a workload is made of.

use crate::Error;
use std::ops::Range;
use strandline_design::Design;
use strandline_isa::{CoreId, Memory};
use strandline_machine::{Machine, Options, Outcome, Stuck, System};
use strandline_programs::Thread;

/// What is run.
pub struct Play {
    /// Simulated cores; each thread has its own, the others idle.
    pub cores: usize,
    /// Memory at first.
    pub memory: Memory,
    /// Addresses that the shared cache holds at first.
    pub footprint: Vec<Range<u64>>,
    /// The program of each thread.
    pub threads: Vec<Thread>,
}

/// Runs programs on a machine under a design.
///
/// # Errors
/// The run makes no progress.
pub fn play(design: Box<dyn Design>, machine: &Machine, play: Play, options: Options) -> Result<Outcome, Error> {
    let mut system = System::new(machine, design, play.cores, play.memory, options);
    for addresses in play.footprint {
        system.warm(addresses);
    }
    for (index, thread) in play.threads.into_iter().enumerate() {
        let core = CoreId(index as u16);
        let program = thread(system.cpu(core));
        system.start(core, program);
    }
    system.run().map_err(|stuck: Stuck| Error::from(stuck))
}
