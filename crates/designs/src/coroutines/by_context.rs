//! Designs that are fences by context and no more, but for how their programs share a core.

use super::contexts::{Contexts, CONTEXTS};
use strandline_design::{About, Admission, Design, Places, Services, Sizes, Until};
use strandline_isa::{CoreId, Lowering, Primitive, Tasking};
use strandline_kernel::{Param, Params};

/// A design whose hardware is [`Contexts`].
#[derive(Clone, Debug)]
pub struct ByContext {
    about: About,
    tasking: Tasking,
    contexts: Contexts,
}

impl ByContext {
    /// The design that is called so, whose programs share a core so.
    #[must_use]
    pub fn new(about: About, tasking: Tasking) -> ByContext {
        ByContext {
            about,
            tasking,
            contexts: Contexts::default(),
        }
    }
}

impl Design for ByContext {
    fn about(&self) -> About {
        self.about
    }

    fn places(&self) -> Places {
        Places {
            primitives: true,
            ..Places::default()
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

    fn primitive(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        self.contexts.primitive(hw, core, primitive)
    }

    fn locked_waits_for(&self, core: CoreId) -> Option<Until> {
        Some(self.contexts.locked_waits_for(core))
    }
}
