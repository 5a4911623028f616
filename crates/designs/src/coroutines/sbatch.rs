//! Software batching: coroutines on plain x86, one fence for all tasks of a window.
//!
//! What: tasks yield where they would fence; after each round of the window one `sfence` serves
//! them all.
//! Source: COSPlay (MICRO 2021), section 5, "SBatch", and Figure 7(b).
//! Simplified: nothing.

use strandline_design::{About, Design, Drains, Hosts, Needs, Plain};
use strandline_isa::{Lowering, Primitive, Tasking};

/// One fence a round of the window.
#[derive(Clone, Debug, Default)]
pub struct Sbatch;

impl Design for Sbatch {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "sbatch",
            paper: "COSPlay 5",
            summary: "coroutines in software alone; one sfence each time the window has gone round",
            needs: Needs {
                adr: true,
                stores: Drains::Any,
                hosts: Hosts::Any,
            },
            promises_recovery: true,
            model: "px86",
            intents: Some("intents"),
            window: Some(8),
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            tasking: Tasking::Batched,
            ..Lowering::clwb_and(&[Primitive::Sfence])
        }
    }
}
