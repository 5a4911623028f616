//! A core's stores that are not yet visible and flushes that are not yet acknowledged.

use super::Core;
use std::cell::Cell;
use strandline_isa::CoreId;
use strandline_rules::{broken, Rule};

/// Contexts that a core distinguishes.
const CONTEXTS: usize = 256;

/// Stores not yet visible and flushes not yet acknowledged.
pub struct Pending {
    of: [Cell<u32>; CONTEXTS],
    all: Cell<u64>,
    /// The design has a message when a context is drained.
    pub awaited: Cell<bool>,
}

impl Default for Pending {
    fn default() -> Pending {
        Pending {
            of: [const { Cell::new(0) }; CONTEXTS],
            all: Cell::new(0),
            awaited: Cell::new(false),
        }
    }
}

impl Core {
    /// Stores not yet visible and flushes not yet acknowledged, of a context or of all.
    pub fn pending(&self, context: Option<u8>) -> u64 {
        match context {
            Some(context) => u64::from(self.pending.of[context as usize].get()),
            None => self.pending.all.get(),
        }
    }

    #[inline(always)]
    pub fn add_pending(&self, context: u8) {
        let count = &self.pending.of[context as usize];
        count.set(count.get() + 1);
        self.pending.all.set(self.pending.all.get() + 1);
    }

    /// Completes one store, flush or primitive of the context.
    #[inline(always)]
    pub fn complete(&self, context: u8) {
        let count = &self.pending.of[context as usize];
        count.set(
            count
                .get()
                .checked_sub(1)
                .unwrap_or_else(|| nothing_pending(self.id, context)),
        );
        self.pending.all.set(self.pending.all.get() - 1);
    }

    /// Whether this core's stores and flushes (of a context or all) have completed.
    pub fn is_drained(&self, context: Option<u8>) -> bool {
        let left = u64::from(broken(Rule::FenceWaitsForAll));
        self.pending(context) <= left
    }
}

/// A design has acknowledged too much: a fence would wait endlessly, or for nothing.
#[cold]
#[inline(never)]
fn nothing_pending(core: CoreId, context: u8) -> ! {
    panic!("{core}: an acknowledgement in context {context}, where nothing is pending");
}
