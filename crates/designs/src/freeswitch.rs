//! FreeSwitch: COSPlay with a coroutine library that costs nothing. An upper bound of performance.
//!
//! What: the `cosplay` program and hardware, with the library's instructions left out: those that start, end and switch tasks.
//! Source: COSPlay (MICRO 2021), section 5, "FreeSwitch".
//! Simplified: nothing.

use strandline_design::{About, Admission, Contexts, Design, Needs, Places, Services, Sizes, Until, CONTEXTS};
use strandline_isa::{CoreId, Lowering, Primitive, Tasking};
use strandline_kernel::{Param, Params};

/// Bound: cosplay whose coroutine library costs no instruction.
#[derive(Clone, Debug, Default)]
pub struct FreeSwitch {
    contexts: Contexts,
}

impl Design for FreeSwitch {
    fn about(&self) -> About {
        About {
            name: "freeswitch",
            paper: "COSPlay 5",
            summary: "bound: cosplay whose coroutine library costs no instruction",
            needs: Needs { adr: true, tso: false },
            promises_recovery: true,
            model: "cfence",
            intents: Some("intents"),
            window: Some(8),
        }
    }

    fn places(&self) -> Places {
        Places {
            primitives: true,
            ..Places::default()
        }
    }

    fn params() -> &'static [Param] {
        &[CONTEXTS]
    }

    fn set(&mut self, params: &Params) {
        self.contexts = Contexts::of(params.get(CONTEXTS.name));
    }

    fn storage_bytes(&self, machine: &Sizes) -> u64 {
        self.contexts.storage_bytes(machine)
    }

    fn lowering(&self) -> Lowering {
        Contexts::lowering(Tasking::Free)
    }

    fn primitive(&mut self, hw: &mut dyn Services, core: CoreId, primitive: Primitive) -> Admission {
        self.contexts.primitive(hw, core, primitive)
    }

    fn locked_waits_for(&self, core: CoreId) -> Option<Until> {
        Some(self.contexts.locked_waits_for(core))
    }
}
