//! COSPlay: fences by context, so that tasks which share a core wait for their own persists only.
//!
//! What: tasks yield before every fence; `setctx` sets the context of younger stores and flushes; a `cfence` keeps younger
//! stores and flushes out of the store queue until its context's older ones are visible and acknowledged. With more tasks
//! than contexts, those that share one wait for each other.
//! Source: COSPlay (MICRO 2021), section 4; storage: Table 1.
//! Simplified: nothing; the store queue, the write-back buffer and the counting by context are the machine's.

use super::contexts::{Contexts, CONTEXTS};
use strandline_design::{About, Admission, Design, Drains, Hosts, Needs, Never, Plain, Services, Sizes, Until, Wants};
use strandline_isa::{CoreId, Lowering, Primitive, Tasking};
use strandline_kernel::{Param, Params};

/// Fences by context, and programs whose tasks share a core.
#[derive(Clone, Debug)]
pub struct Cosplay {
    about: About,
    tasking: Tasking,
    contexts: Contexts,
}

pub(super) const ABOUT: About = About {
    name: "cosplay",
    paper: "COSPlay 4",
    summary: "coroutines that yield before each fence; fences by context",
    needs: Needs {
        adr: true,
        stores: Drains::Any,
        hosts: Hosts::Any,
    },
    promises_recovery: true,
    model: "cfence",
    intents: Some("intents"),
    window: Some(8),
};

/// Coroutines that yield before each fence; fences by context.
#[must_use]
pub fn cosplay() -> Cosplay {
    Cosplay::new(ABOUT, Tasking::Own)
}

impl Cosplay {
    /// COSPlay's hardware under programs whose tasks share a core so.
    #[must_use]
    pub fn new(about: About, tasking: Tasking) -> Cosplay {
        Cosplay {
            about,
            tasking,
            contexts: Contexts::default(),
        }
    }
}

impl Design for Cosplay {
    type Own = Plain;

    fn about(&self) -> About {
        self.about
    }

    fn wants(&self) -> Wants {
        Wants {
            contexts: true,
            ..Wants::default()
        }
    }

    fn params(&self) -> &'static [Param] {
        &[CONTEXTS]
    }

    fn set(&mut self, params: &Params) {
        self.contexts = Contexts::of(params.get(CONTEXTS.name));
    }

    fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        vec![("contexts", self.contexts.storage_bytes(machine))]
    }

    fn lowering(&self) -> Lowering {
        Contexts::lowering(self.tasking)
    }

    fn primitive(&mut self, hw: &mut dyn Services<Plain>, core: CoreId, primitive: Primitive) -> Admission<Never> {
        self.contexts.primitive(hw, core, primitive)
    }

    fn locked_waits_for(&mut self, core: CoreId) -> Option<Until<Never>> {
        Some(self.contexts.locked_waits_for(core))
    }
}
