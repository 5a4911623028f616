//! The back end of a task that shares its thread with others.

use std::cell::Cell;
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::task::Poll;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Intent, Lowering, Note, Primitive, Rmw, Scope, Site, Tasking, W};
use strandline_rules::{broken, Rule};

/// Why a task yields. It resumes behind that place: to the predictor of jumps each is a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has ended; it resumes with the next one.
    Ended,
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
        self as u64 + 1
    }

    /// Whether it waits for a fence.
    pub fn is_fence(self) -> bool {
        matches!(self, Why::Order | Why::Durable)
    }
}

/// A back end for one task of several: the same, except that it yields before fences and at held
/// locks.
///
/// A task that yields suspends with a reason; the scheduler distinguishes that from a suspension of
/// the back end below.
pub struct Task<'c, C: Cpu> {
    inner: &'c C,
    /// The context of its stores, flushes and fences.
    context: u8,
    yields: Cell<Option<Why>>,
    /// The scheduler's next order to its lane, and the lane's reply.
    turn: Cell<Turn>,
    settled: Cell<bool>,
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

impl<'c, C: Cpu> Task<'c, C> {
    /// A task on `inner`, in this context.
    pub fn new(inner: &'c C, context: u8) -> Self {
        Task {
            inner,
            context,
            yields: Cell::new(None),
            turn: Cell::new(Turn::Task),
            settled: Cell::new(true),
            libraries: Cell::new(0),
        }
    }

    /// The lane's next order.
    pub fn turn(&self) -> Turn {
        self.turn.get()
    }

    /// Orders the lane's next action.
    pub fn goes_on_with(&self, turn: Turn) {
        self.turn.set(turn);
    }

    /// Whether its lane has acknowledged all its regions.
    pub fn is_settled(&self) -> bool {
        self.settled.get()
    }

    /// Reports that to the scheduler.
    pub fn leaves(&self, settled: bool) {
        self.settled.set(settled);
    }

    /// Runs the program of this task until it yields.
    pub fn run<'a>(&'a self, mut program: Pin<&'a mut impl Future<Output = ()>>) -> impl Future<Output = Why> + 'a {
        poll_fn(move |cx| match (program.as_mut().poll(cx), self.yields.take()) {
            (Poll::Ready(()), _) => unreachable!("a lane has no end"),
            (Poll::Pending, Some(why)) => Poll::Ready(why),
            (Poll::Pending, None) => Poll::Pending,
        })
    }

    /// Yields to the others; then executes the design's first instructions of a resumed task.
    pub async fn give(&self, why: Why) {
        // The others' code is not the library's in which this one waits.
        (0..self.libraries.get()).for_each(|_| self.inner.leave(Scope::Library));
        let mut given = false;
        poll_fn(move |_| {
            if given {
                return Poll::Ready(());
            }
            given = true;
            self.yields.set(Some(why));
            Poll::Pending
        })
        .await;
        (0..self.libraries.get()).for_each(|_| self.inner.enter(Scope::Library));
        if broken(Rule::ContextSetAgain) && why != Why::Ended {
            return;
        }
        for primitive in self.inner.lowering().resumed {
            self.inner.primitive(primitive.in_context(self.context)).await;
        }
    }

    fn own(&self, value: W<'_, C>) -> W<'_, Self> {
        W::new(self, value.bits(), value.tag())
    }
}

impl<C: Cpu> Cpu for Task<'_, C> {
    type Tag = C::Tag;

    fn core(&self) -> CoreId {
        self.inner.core()
    }

    #[inline(always)]
    fn lowering(&self) -> &Lowering {
        self.inner.lowering()
    }

    #[inline(always)]
    fn alu(&self, op: Alu, a: C::Tag, b: C::Tag) -> C::Tag {
        self.inner.alu(op, a, b)
    }

    #[inline(always)]
    fn compare(&self, a: C::Tag, b: C::Tag) -> C::Tag {
        self.inner.compare(a, b)
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
    fn branch(&self, condition: C::Tag, taken: bool, site: Site) {
        self.inner.branch(condition, taken, site);
    }

    #[inline(always)]
    async fn load(&self, addr: Addr, address: C::Tag, size: u8) -> W<'_, Self> {
        self.own(self.inner.load(addr, address, size).await)
    }

    #[inline(always)]
    fn store(&self, addr: Addr, address: C::Tag, size: u8, value: u64, data: C::Tag) -> impl Future<Output = ()> {
        self.inner.store(addr, address, size, value, data)
    }

    fn store_nt(&self, addr: Addr, address: C::Tag, size: u8, value: u64, data: C::Tag) -> impl Future<Output = ()> {
        self.inner.store_nt(addr, address, size, value, data)
    }

    async fn rmw(&self, addr: Addr, address: C::Tag, op: Rmw, operand: u64, data: C::Tag) -> W<'_, Self> {
        self.own(self.inner.rmw(addr, address, op, operand, data).await)
    }

    fn flush(&self, addr: Addr, address: C::Tag, flush: Flush) -> impl Future<Output = ()> {
        self.inner.flush(addr, address, flush)
    }

    fn primitive(&self, primitive: Primitive) -> impl Future<Output = ()> {
        self.inner.primitive(primitive.in_context(self.context))
    }

    fn note(&self, note: Note) {
        self.inner.note(note);
    }

    fn start_line(&self) -> impl Future<Output = ()> {
        self.inner.start_line()
    }

    /// Yields before each fence (COSPlay 4.2). Where one fence serves all tasks of the window, it
    /// has been executed when the task resumes.
    async fn intent(&self, intent: Intent) {
        let lowering = self.inner.lowering();
        for primitive in lowering.of(intent) {
            if primitive.waits() {
                self.give(match intent {
                    Intent::LogBeforeUpdate | Intent::LastStep => Why::Order,
                    _ => Why::Durable,
                })
                .await;
                if lowering.tasking == Tasking::Batched || broken(Rule::FenceAfterYield) {
                    continue;
                }
            }
            self.primitive(*primitive).await;
        }
    }

    async fn give_way(&self) {
        self.give(Why::Locked).await;
    }
}
