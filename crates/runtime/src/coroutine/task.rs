//! The back end of a task that shares its thread with others.

use crate::stacks::Stack;
use std::cell::Cell;
use strandline_isa::{
    Addr, Alu, CoreId, Cpu, Flush, Intent, Lowering, Note, Primitive, Rmw, Scope, Site, Tasking, Thread, W,
};
use strandline_kernel::forward;
use strandline_rules::{kept, Rule};

/// Why a task yields. It resumes behind that place: to the predictor of jumps each is a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has ended; it resumes with the next one.
    Ended {
        /// Whether its lane has acknowledged all its regions.
        settled: bool,
    },
    /// It is before a fence between log and update.
    Order,
    /// It is before a fence that commits, or makes durable.
    Durable,
    /// A lock is held.
    Locked,
}

impl Why {
    /// The code behind it.
    pub fn code(self) -> u64 {
        match self {
            Why::Ended { .. } => 1,
            Why::Order => 2,
            Why::Durable => 3,
            Why::Locked => 4,
        }
    }

    /// Whether it waits for a fence.
    pub fn is_fence(self) -> bool {
        matches!(self, Why::Order | Why::Durable)
    }
}

/// A back end for one task of several: the same, except that it yields before fences and at held
/// locks.
pub struct Task<'c> {
    inner: &'c Thread<'c>,
    /// The context of its stores, flushes and fences.
    context: u8,
    /// The stack of its lane, on which it runs.
    stack: &'c Stack<Turn, Why>,
    /// How deep in libraries' code it is.
    libraries: Cell<u32>,
}

/// How a lane resumes behind a task's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The next task.
    Task,
    /// Nothing follows for now: it closes its log, so that nothing waits for regions that it never
    /// acknowledges.
    Close,
}

impl<'c> Task<'c> {
    /// A task on `inner`, in this context, on this stack.
    pub fn new(inner: &'c Thread<'c>, context: u8, stack: &'c Stack<Turn, Why>) -> Self {
        Task {
            inner,
            context,
            stack,
            libraries: Cell::new(0),
        }
    }

    /// Yields to the others; then executes the design's first instructions of a resumed task. What the lane does then.
    pub fn give(&self, why: Why) -> Turn {
        // The others' code is not the library's in which this one waits.
        (0..self.libraries.get()).for_each(|_| self.inner.leave(Scope::Library));
        let turn = self.stack.suspend(why);
        (0..self.libraries.get()).for_each(|_| self.inner.enter(Scope::Library));
        if kept(Rule::ContextSetAgain, true, || matches!(why, Why::Ended { .. })) {
            for primitive in self.inner.lowering().resumed {
                self.inner.primitive(primitive.in_context(self.context));
            }
        }
        turn
    }

    fn own(&self, value: W<'_, Thread<'c>>) -> W<'_, Self> {
        W::new(self, value.bits(), value.tag())
    }
}

impl Cpu for Task<'_> {
    type Tag = u64;

    forward! { self.inner =>
        fn core(&self) -> CoreId;
        #[inline(always)]
        fn lowering(&self) -> &Lowering;
        #[inline(always)]
        fn alu(&self, op: Alu, a: u64, b: u64) -> u64;
        #[inline(always)]
        fn compare(&self, a: u64, b: u64) -> u64;
        #[inline(always)]
        fn branch(&self, condition: u64, taken: bool, site: Site);
        #[inline(always)]
        fn store(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
        fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64);
        fn flush(&self, addr: Addr, address: u64, flush: Flush);
        fn note(&self, note: Note);
        fn start_line(&self);
    }

    #[inline(always)]
    fn enter(&self, scope: Scope) {
        self.libraries
            .set(self.libraries.get() + u32::from(scope == Scope::Library));
        self.inner.enter(scope);
    }

    #[inline(always)]
    fn leave(&self, scope: Scope) {
        self.libraries
            .set(self.libraries.get() - u32::from(scope == Scope::Library));
        self.inner.leave(scope);
    }

    #[inline(always)]
    fn load(&self, addr: Addr, address: u64, size: u8) -> W<'_, Self> {
        self.own(self.inner.load(addr, address, size))
    }

    fn rmw(&self, addr: Addr, address: u64, op: Rmw, operand: u64, data: u64) -> W<'_, Self> {
        self.own(self.inner.rmw(addr, address, op, operand, data))
    }

    fn primitive(&self, primitive: Primitive) {
        self.inner.primitive(primitive.in_context(self.context))
    }

    /// Yields before each fence (COSPlay 4.2). Where one fence serves all tasks of the window, it
    /// has been executed when the task resumes.
    fn intent(&self, intent: Intent) {
        let lowering = self.inner.lowering();
        for primitive in lowering.of(intent) {
            if primitive.waits() {
                self.give(match intent {
                    Intent::LogBeforeUpdate | Intent::LastStep => Why::Order,
                    _ => Why::Durable,
                });
                if kept(Rule::FenceAfterYield, lowering.tasking == Tasking::Batched, || true) {
                    continue;
                }
            }
            self.primitive(*primitive);
        }
    }

    fn give_way(&self) {
        self.give(Why::Locked);
    }
}
