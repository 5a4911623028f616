//! Programs for simulated cores: the workloads and the replay of recordings, on the machine's back end.

mod recorded;
mod workload;

use std::ops::Range;
use std::rc::Rc;
use strandline_isa::{Addr, Memory};
use strandline_machine::{Body, Factory};
use strandline_runtime::Recoverable;

pub use recorded::{recorded, Recorded};
pub use workload::{memory_bytes, workload, ProgramPlan};

/// What warms caches.
pub struct Warmth {
    /// The lines that a program uses repeatedly, most useful last.
    pub footprint: Vec<Range<u64>>,
    /// Its threads, for as long as they are to go on; none of a recording, which has an end.
    pub threads: Vec<Body>,
    /// What is in memory before they begin, so that random numbers which they share are not those of the run.
    pub seeded: Vec<(Addr, u64)>,
}

/// What fills a program's memory, which may be shared with others that fill theirs alike.
pub type Fill = Box<dyn FnOnce() -> Memory>;

/// A program that can run on any machine under any design.
pub struct Prepared {
    /// Fills its memory.
    pub fill: Fill,
    /// One program a thread.
    pub threads: Vec<Factory>,
    /// What is in caches before it begins.
    pub warmth: Warmth,
    /// Recovery and invariant.
    pub program: Rc<dyn Recoverable>,
}
