//! FreeSwitch: COSPlay with a coroutine library that costs nothing. An upper bound of performance.
//!
//! What: the `cosplay` program and hardware, without the library's instructions: those that start,
//! end and switch tasks.
//! Source: COSPlay (MICRO 2021), section 5, "FreeSwitch".
//! Simplified: nothing.

use super::Cosplay;
use strandline_design::{About, Drains, Needs};
use strandline_isa::Tasking;

const ABOUT: About = About {
    name: "freeswitch",
    paper: "COSPlay 5",
    summary: "bound: cosplay whose coroutine library costs no instruction",
    needs: Needs {
        adr: true,
        stores: Drains::Any,
    },
    promises_recovery: true,
    model: "cfence",
    intents: Some("intents"),
    window: Some(8),
};

/// Bound: cosplay whose coroutine library costs no instruction.
#[must_use]
pub fn freeswitch() -> Cosplay {
    Cosplay::new(ABOUT, Tasking::Free)
}
