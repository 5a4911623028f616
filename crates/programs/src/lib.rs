//! Programs for simulated cores: the workloads and the replay of recordings, on the machine's back end.
//!
//! The futures of all workloads are the largest code of the repository. This crate knows no design, so that an edit of
//! a design does not recompile them.

mod recorded;
mod workload;

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use strandline_isa::{Addr, Image, Memory};
use strandline_machine::Factory;

pub use recorded::{recorded, Recorded};
pub use workload::{memory_bytes, workload, Plan};

/// What crash exploration needs from a program.
pub trait Recoverable {
    /// Makes each failure-atomic region of a crash image complete or absent.
    fn recover(&self, image: &dyn Image);

    /// Continues what the crash has interrupted between two regions: the invariant holds from then on.
    fn repair(&self, _image: &dyn Image) {}

    /// Starts a new process on a recovered image: fills volatile memory, which is zero.
    fn start(&self, _image: &dyn Image) {}

    /// Checks the invariant on a recovered image.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn check(&self, image: &dyn Image) -> Result<(), String>;

    /// What a map holds on a recovered image, if the program announces operations.
    fn contents(&self, _image: &dyn Image) -> BTreeMap<u64, u64> {
        BTreeMap::new()
    }
}

/// What warms caches.
pub struct Warmth {
    /// The lines that a program uses repeatedly, most useful last.
    pub footprint: Vec<Range<u64>>,
    /// Its threads, for as long as they are to go on; none of a recording, which has an end.
    pub threads: Vec<Factory>,
    /// What is in memory before they begin, so that random numbers which they share are not those of the run.
    pub seeded: Vec<(Addr, u64)>,
}

/// A program that can run on any machine under any design.
pub struct Prepared {
    /// Filled memory.
    pub memory: Memory,
    /// One program a thread.
    pub threads: Vec<Factory>,
    /// What is in caches before it begins.
    pub warmth: Warmth,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
}
