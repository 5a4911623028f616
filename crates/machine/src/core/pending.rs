//! A core's stores that are not yet visible and flushes that are not yet acknowledged.

use super::{Core, Usage};
use std::cell::Cell;
use strandline_isa::CoreId;
use strandline_rules::{broken, Rule};

/// Contexts that a core distinguishes.
const CONTEXTS: usize = 256;

/// Stores not yet visible and flushes not yet acknowledged.
pub struct Pending {
    of: [Cell<u32>; CONTEXTS],
    all: Cell<u64>,
    /// Contexts are told apart: how many have something pending is counted.
    told_apart: bool,
    /// Contexts with something pending.
    pub contexts: Cell<u64>,
    /// Those over time.
    pub usage: Usage,
    /// The design has a message when a context is drained.
    pub awaited: Cell<bool>,
}

impl Pending {
    /// Nothing pending on a core whose contexts are told apart or not.
    pub fn new(told_apart: bool) -> Pending {
        Pending {
            of: [const { Cell::new(0) }; CONTEXTS],
            all: Cell::new(0),
            told_apart,
            contexts: Cell::new(0),
            usage: Usage::default(),
            awaited: Cell::new(false),
        }
    }
}

impl Pending {
    /// The first store or flush of a context enters the store queue.
    fn context_enters(&self, at: u64) {
        self.contexts.set(self.contexts.get() + 1);
        self.usage.enters(at, self.contexts.get());
    }

    /// The last one of a context has completed.
    fn context_leaves(&self, at: u64) {
        self.contexts.set(self.contexts.get() - 1);
        self.usage.leaves(at);
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

    /// A store, flush or primitive of the context is pending from `at` on.
    #[inline(always)]
    pub fn add_pending(&self, context: u8, at: u64) {
        let count = &self.pending.of[context as usize];
        if self.pending.told_apart && count.get() == 0 {
            self.pending.context_enters(at);
        }
        count.set(count.get() + 1);
        self.pending.all.set(self.pending.all.get() + 1);
    }

    /// Completes one store, flush or primitive of the context at `at`.
    #[inline(always)]
    pub fn complete(&self, context: u8, at: u64) {
        let count = &self.pending.of[context as usize];
        count.set(
            count
                .get()
                .checked_sub(1)
                .unwrap_or_else(|| nothing_pending(self.id, context)),
        );
        self.pending.all.set(self.pending.all.get() - 1);
        if self.pending.told_apart && count.get() == 0 {
            self.pending.context_leaves(at);
        }
    }

    /// Whether all that has left the store queue has completed: what is older than its head.
    pub fn is_drained_ahead(&self) -> bool {
        let left = u64::from(broken(Rule::FenceWaitsForAll));
        self.pending(None) <= self.queue.borrow().len() as u64 + left
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
