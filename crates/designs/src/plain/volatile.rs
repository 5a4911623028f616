//! Volatile: no log, no flush, no fence. The program as if memory were not persistent; its crash states do not recover.
//!
//! Source: Delegated Persist Ordering (MICRO 2016), section II-B, "Volatile".
//! Simplified: nothing.

use strandline_design::{About, Design, Hosts, Needs, Never, Plain, Until};
use strandline_isa::{CoreId, Lowering};

/// No support for persistence.
#[derive(Clone, Debug, Default)]
pub struct Volatile;

impl Design for Volatile {
    type Own = Plain;

    fn about(&self) -> About {
        About {
            name: "volatile",
            paper: "Delegated Persist Ordering II-B",
            summary: "bound: no log, no flush, no fence; promises no recovery",
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
        Lowering::NOTHING
    }

    fn locked_waits_for(&mut self, _: CoreId) -> Option<Until<Never>> {
        None
    }
}
