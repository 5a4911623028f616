//! The hardware of fences by context: `setctx` and `cfence` (COSPlay, MICRO 2021, sections 4.1 and 4.3).

use crate::parts::per_core;
use strandline_design::{Admission, Never, Plain, Services, Sizes, Until};
use strandline_isa::{CoreId, Lowering, Primitive, Tasking};
use strandline_kernel::Param;

/// The contexts of each core: their number, and the current one.
#[derive(Clone, Debug)]
pub struct Contexts {
    count: u64,
    current: Vec<u8>,
}

/// `--set design.contexts=N`. The paper does not say how many it evaluates: as many as the tasks of its largest window
/// (Figure 9).
pub const CONTEXTS: Param = Param {
    name: "contexts",
    default: 32,
    min: 1,
    max: 256,
    help: "contexts that a core tells apart",
    source: "COSPlay, Figure 9: as many as the tasks of its largest window",
    words: &[],
};

impl Default for Contexts {
    fn default() -> Self {
        Contexts::of(CONTEXTS.default)
    }
}

impl Contexts {
    /// So many contexts a core, 1 to 256.
    #[must_use]
    pub fn of(count: u64) -> Contexts {
        Contexts {
            count,
            current: Vec::new(),
        }
    }

    /// The primitives of intents: clwb, and a fence for the task's own context (Figure 4(b)).
    #[must_use]
    pub fn lowering(tasking: Tasking) -> Lowering {
        Lowering {
            resumed: &[Primitive::Setctx(0)],
            tasking,
            ..Lowering::clwb_and(&[Primitive::Cfence(0)])
        }
    }

    /// The entry of the Store-Clwb Tracker for a context, which is direct-mapped: contexts that share one wait for each other
    /// (section 4.3, "Context (cid) collisions").
    fn entry(&self, context: u8) -> u8 {
        (u64::from(context) % self.count) as u8
    }

    /// Answers a primitive: `setctx` sets the context register, `cfence` blocks the allocation of store-queue entries
    /// until its context's counter in the Store-Clwb Tracker is zero.
    pub fn primitive(&mut self, hw: &mut dyn Services<Plain>, core: CoreId, primitive: Primitive) -> Admission<Never> {
        match primitive {
            Primitive::Setctx(context) => {
                let entry = self.entry(context);
                *per_core::state(&mut self.current, core, |_| 0) = entry;
                hw.set_context(core, entry);
                Admission::Pass
            }
            Primitive::Cfence(context) => Admission::Hold(Until::Drained(Some(self.entry(context)))),
            other => Admission::plain(other),
        }
    }

    /// What a locked instruction waits for on machines whose locked instructions order flushes: those of its own context.
    #[must_use]
    pub fn locked_waits_for(&self, core: CoreId) -> Until<Never> {
        Until::Drained(Some(self.current.get(core.index()).copied().unwrap_or(0)))
    }

    /// Bytes added to a machine: Table 1. A context number on every entry of store queue and write-back buffer, and for each
    /// context a counter of the entries of both.
    #[must_use]
    pub fn storage_bytes(&self, machine: &Sizes) -> u64 {
        let entries = machine.store_queue_entries + machine.writeback_buffer_entries;
        let number = u64::from(self.count.next_power_of_two().ilog2());
        let counter = u64::from(entries.ilog2()) + 1;
        let bits = entries * number + self.count * counter;
        machine.cores * bits.div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_that_of_table_1() {
        let machine = |cores| Sizes {
            cores,
            controllers: 1,
            store_queue_entries: 32,
            writeback_buffer_entries: 32,
            ..Sizes::default()
        };
        // COSPlay 4.3: 32 x 4 bits + 32 x 4 bits + 16 x 7 bits = 46 bytes.
        assert_eq!(Contexts::of(16).storage_bytes(&machine(1)), 46);
        assert_eq!(Contexts::of(16).storage_bytes(&machine(8)), 8 * 46);
        // One context needs no number, only its counter of up to 64.
        assert_eq!(Contexts::of(1).storage_bytes(&machine(1)), 1);
    }
}
