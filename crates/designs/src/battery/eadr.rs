//! eADR: the caches are in the persistence domain.
//!
//! What: a store is durable once it is visible, so under TSO durable order is program order and neither flushes nor
//! fences are needed; the log is still written, since a region of several stores is not atomic. A region is acknowledged
//! when its last store is visible.
//! Source: ASAP (HPCA 2022), section II-C.
//! Simplified: the battery that drains the caches never fails.

use strandline_design::{About, Design, Hosts, Needs, Place, Plain, Wants};
use strandline_isa::{Lowering, Primitive};

/// Caches flushed by the platform on power failure.
#[derive(Clone, Debug, Default)]
pub struct Eadr;

impl Design for Eadr {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "eadr",
            paper: "ASAP II-C",
            summary: "the caches are in the persistence domain; no flushes, fences only to acknowledge",
            needs: Needs {
                hosts: Hosts::Saved(
                    "a line in a host's caches is durable, and newer than what the device answers to other hosts",
                ),
                ..Needs::ADR_IN_ORDER
            },
            promises_recovery: true,
            model: "eadr",
            intents: Some("intents"),
            window: None,
        }
    }

    fn wants(&self) -> Wants {
        Wants {
            saves: Some(Place::Private),
            ..Wants::default()
        }
    }

    /// A store that has retired may still wait in the store queue, which is not in the persistence domain: an
    /// operation is acknowledged when the queue has drained.
    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            durable: &[Primitive::Sfence],
            ..Lowering::NOTHING
        }
    }
}
