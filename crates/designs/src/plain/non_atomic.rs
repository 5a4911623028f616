//! Non-atomic: log records are not ordered before their updates. A bound; its crash states do not recover.
//!
//! What: `x86` without the fence between a log record and its update; commit and durability as in `x86`.
//! Source: StrandWeaver (ISCA 2020), section VI-A, "NON-ATOMIC".
//! Simplified: nothing.

use strandline_design::{About, Design, Drains, Hosts, Needs, Plain};
use strandline_isa::{Flush, Lowering, Primitive};

/// No order between a log record and its update.
#[derive(Clone, Debug, Default)]
pub struct NonAtomic;

impl Design for NonAtomic {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "non-atomic",
            paper: "StrandWeaver VI-A",
            summary: "bound: x86 without order between log and update; promises no recovery",
            needs: Needs {
                adr: true,
                stores: Drains::Any,
                hosts: Hosts::Any,
            },
            promises_recovery: false,
            model: "px86",
            intents: Some("intents-unordered"),
            window: None,
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            flush: Some(Flush::Clwb),
            commit: &[Primitive::Sfence],
            durable: &[Primitive::Sfence],
            ..Lowering::NOTHING
        }
    }
}
