//! COSPlay: fences by context, so that tasks which share a core wait for their own persists only.
//!
//! What: tasks yield before every fence; `setctx` sets the context of younger stores and flushes; a `cfence` keeps younger
//! stores and flushes out of the store queue until its context's older ones are visible and acknowledged. With more tasks
//! than contexts, those that share one wait for each other.
//! Source: COSPlay (MICRO 2021), section 4; storage: Table 1.
//! Simplified: nothing; the store queue, the write-back buffer and the counting by context are the machine's.

use super::by_context::ByContext;
use strandline_design::{About, Needs};
use strandline_isa::Tasking;

const ABOUT: About = About {
    name: "cosplay",
    paper: "COSPlay 4",
    summary: "coroutines that yield before each fence; fences by context",
    needs: Needs { adr: true, tso: false },
    promises_recovery: true,
    model: "cfence",
    intents: Some("intents"),
    window: Some(8),
};

/// Coroutines that yield before each fence; fences by context.
#[must_use]
pub fn cosplay() -> ByContext {
    ByContext::new(ABOUT, Tasking::Own)
}
