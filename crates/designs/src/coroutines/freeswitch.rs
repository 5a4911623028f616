//! FreeSwitch: COSPlay with switches between tasks that cost nothing. An upper bound of performance.
//!
//! What: the `cosplay` program and hardware, without the library's instructions that switch from a task to the scheduler, select
//! the next task and switch to it. Those that start and end a task remain.
//! Source: COSPlay (MICRO 2021), section 5, "FreeSwitch".
//! Simplified: nothing.

use super::cosplay::{self, Cosplay};
use strandline_design::About;
use strandline_isa::Tasking;

const ABOUT: About = About {
    name: "freeswitch",
    paper: "COSPlay 5",
    summary: "bound: cosplay whose switches cost no instruction",
    ..cosplay::ABOUT
};

/// Bound: cosplay whose switches cost no instruction.
#[must_use]
pub fn freeswitch() -> Cosplay {
    Cosplay::new(ABOUT, Tasking::Free)
}
