//! Programs for simulated cores: each workload and the replay of recordings, on the back end of the machine.
//!
//! The futures of all workloads are the largest code of the house. They know no design, so that an edit of a design
//! compiles none of them again.

mod recorded;
mod workload;

use std::ops::Range;
use std::rc::Rc;
use strandline_isa::{Image, Memory};
use strandline_machine::Factory;

pub use recorded::{recorded, Recorded};
pub use workload::{memory_bytes, workload, Plan};

/// What crash exploration asks of a program.
pub trait Recoverable {
    /// Makes a crash image consistent.
    fn recover(&self, image: &dyn Image);

    /// The invariant, on a recovered image.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn check(&self, image: &dyn Image) -> Result<(), String>;
}

/// A program ready to run on any machine under any design.
pub struct Prepared {
    /// Filled memory.
    pub memory: Memory,
    /// One program a thread.
    pub threads: Vec<Factory>,
    /// What a warm shared cache holds.
    pub footprint: Vec<Range<u64>>,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
}
