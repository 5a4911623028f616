//! Unordered: log and flushes, no fence at all. An upper bound of performance; its crash states do not recover.
//!
//! What: the `x86` program with every `sfence` removed; persist latency is never waited for.
//! Source: COSPlay (MICRO 2021), section 5, "Unordered".
//! Simplified: nothing. Locked instructions wait for no flush, whatever the machine's setting: that
//! too would order persists.

use strandline_design::{About, Design, Hosts, Needs, Never, Plain, Until};
use strandline_isa::{CoreId, Flush, Lowering};

/// No ordering of persists whatever.
#[derive(Clone, Debug, Default)]
pub struct Unordered;

impl Design for Unordered {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "unordered",
            paper: "COSPlay 5",
            summary: "bound: log and flushes without any fence; promises no recovery",
            needs: Needs {
                hosts: Hosts::Any,
                ..Needs::default()
            },
            promises_recovery: false,
            model: "none",
            intents: None,
            window: None,
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            flush: Some(Flush::Clwb),
            ..Lowering::NOTHING
        }
    }

    fn locked_waits_for(&mut self, _: CoreId) -> Option<Until<Never>> {
        None
    }
}
