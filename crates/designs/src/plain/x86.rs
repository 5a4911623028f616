//! x86 with ADR: `clwb` and `sfence`.
//!
//! What: a flush is acknowledged when the controller's write queue has accepted it; an `sfence` keeps younger stores and
//! flushes out of the store queue until older ones are visible and acknowledged.
//! Source: COSPlay (MICRO 2021), sections 2.1 and 4.3; StrandWeaver (ISCA 2020), section II-B.
//! Simplified: nothing; the store queue, the write-back buffer and the fence itself are the machine's.

use strandline_design::{About, Design, Drains, Hosts, Needs, Plain};
use strandline_isa::{Flush, Lowering, Primitive};

/// Synchronous ordering on machines with ADR.
#[derive(Clone, Debug, Default)]
pub struct X86;

/// The primitive of every intent that orders persists.
const FENCE: &[Primitive] = &[Primitive::Sfence];

impl Design for X86 {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "x86",
            paper: "COSPlay 2.1",
            summary: "clwb and sfence; the write queue is in the persistence domain (ADR)",
            needs: Needs {
                adr: true,
                stores: Drains::Any,
                hosts: Hosts::Any,
            },
            promises_recovery: true,
            model: "px86",
            intents: Some("intents"),
            window: None,
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            flush: Some(Flush::Clwb),
            log_before_update: FENCE,
            commit: FENCE,
            durable: FENCE,
            ..Lowering::NOTHING
        }
    }
}
