//! The back end that a program runs on.

use crate::{Addr, CoreId, Flush, Intent, Lowering, Primitive, Site, W};
use std::future::Future;

/// Arithmetic micro-ops, told apart by their latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alu {
    /// Addition, logic, shifts, comparisons, moves.
    Simple,
    /// Integer multiplication.
    Mul,
    /// Integer division.
    Div,
}

/// What a locked (atomic) instruction does to its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rmw {
    /// Stores the operand.
    Swap,
    /// Adds the operand.
    Add,
    /// Stores the operand if the word holds this value.
    CompareSwap(u64),
    /// Replaces the bits of this mask by the operand's: what a recorded instruction left, whatever it computed.
    Merge(u64),
}

impl Rmw {
    /// The word after the instruction, from its `old` value and the `operand`.
    #[must_use]
    pub fn apply(self, old: u64, operand: u64) -> u64 {
        match self {
            Rmw::Swap => operand,
            Rmw::Add => old.wrapping_add(operand),
            Rmw::CompareSwap(expected) if old == expected => operand,
            Rmw::CompareSwap(_) => old,
            Rmw::Merge(mask) => (old & !mask) | (operand & mask),
        }
    }
}

/// What a program tells whoever watches it. Notes cost no instruction and no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A task (one operation or transaction) begins.
    TaskBegin,
    /// A failure-atomic region begins; its updates follow.
    RegionBegin,
    /// The region will have written these bytes once it has committed; said when the update's store is issued.
    RegionWrite {
        /// Where.
        addr: Addr,
        /// How many bytes (1, 2, 4 or 8).
        size: u8,
        /// The new value.
        value: u64,
    },
    /// The region has written all that it writes and is about to release its locks, though it is not acknowledged yet: a crash
    /// leaves all of it or nothing, and nothing of it only without all that has seen it. Said only where the two are apart.
    RegionEnd,
    /// The oldest of the task's regions that was not acknowledged is now: a crash leaves it.
    RegionDurable,
    /// The task's newest region was aborted: nothing of it is left, and a crash leaves nothing of it. Its task starts again.
    RegionAbort,
    /// The world outside has seen this value: whatever a crash leaves must account for it.
    Output {
        /// Where the world sees it, by the program's own numbering.
        location: u32,
        /// What it sees there.
        value: u64,
    },
    /// The task has ended.
    TaskEnd,
    /// Tasks share the core: from here on this runs.
    Running(Running),
    /// So many tasks share the core from here on.
    Window(u32),
}

/// What runs on a core whose tasks share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// The library that switches between tasks.
    Library,
    /// The task in this slot of the window, from 0.
    Task(u32),
}

/// A back end: simulated memory and time, plain memory, or real hardware.
///
/// Every operation that another core can see or influence may suspend; on other back ends it is ready at once. The futures
/// are best written by hand and small: a program moves them about.
/// Addresses are naturally aligned; `size` is 1, 2, 4 or 8 bytes.
pub trait Cpu: Sized {
    /// What the back end remembers of a register value: in the simulator, when it is ready.
    type Tag: Copy + Default;

    /// Which core this is.
    fn core(&self) -> CoreId;

    /// What intents become here.
    fn lowering(&self) -> &Lowering;

    /// An arithmetic micro-op on up to two register values.
    fn alu(&self, op: Alu, a: Self::Tag, b: Self::Tag) -> Self::Tag;

    /// A conditional branch on a register value.
    fn branch(&self, condition: Self::Tag, taken: bool, site: Site);

    /// A load.
    fn load(&self, addr: Addr, address: Self::Tag, size: u8) -> impl Future<Output = W<'_, Self>>;

    /// A store.
    fn store(&self, addr: Addr, address: Self::Tag, size: u8, value: u64, data: Self::Tag) -> impl Future<Output = ()>;

    /// A non-temporal (cache-bypassing) store.
    fn store_nt(
        &self,
        addr: Addr,
        address: Self::Tag,
        size: u8,
        value: u64,
        data: Self::Tag,
    ) -> impl Future<Output = ()>;

    /// A locked instruction on the 8 bytes at `addr`: the old value.
    fn rmw(
        &self,
        addr: Addr,
        address: Self::Tag,
        op: Rmw,
        operand: u64,
        data: Self::Tag,
    ) -> impl Future<Output = W<'_, Self>>;

    /// Writes the line of `addr` back, by this instruction.
    fn flush(&self, addr: Addr, address: Self::Tag, flush: Flush) -> impl Future<Output = ()>;

    /// A persist primitive.
    fn primitive(&self, primitive: Primitive) -> impl Future<Output = ()>;

    /// Tells the watcher something; no instruction.
    fn note(&self, note: Note);

    /// The task cannot go on before another one has: lets others of its core go on, where tasks share it. No instruction
    /// of its own.
    #[inline(always)]
    fn give_way(&self) -> impl Future<Output = ()> {
        async move {}
    }

    /// Whether hardware has interrupted this core since this was last asked: it has misspeculated, and the open
    /// failure-atomic region must be aborted. Only designs whose lowering validates ([`Lowering::speculates`]) do so.
    #[inline(always)]
    fn interrupted(&self) -> bool {
        false
    }

    /// Waits, at no cost in instructions, until all fences before it have retired, as a precise interrupt does: what comes
    /// then in program order has not been executed yet.
    #[inline(always)]
    fn fenced(&self) -> impl Future<Output = ()> {
        async move {}
    }

    /// Waits, at no cost in instructions, until every thread of the program has come here: the timed region begins.
    fn start_line(&self) -> impl Future<Output = ()>;

    /// An ordering intent, as the design lowers it.
    fn intent(&self, intent: Intent) -> impl Future<Output = ()> {
        async move {
            for primitive in self.lowering().of(intent) {
                self.primitive(*primitive).await;
            }
        }
    }

    /// A constant, in a register from the start.
    #[inline(always)]
    fn word(&self, bits: u64) -> W<'_, Self> {
        W::new(self, bits, Self::Tag::default())
    }
}

/// What a scheduler of tasks asks of a back end beyond [`Cpu`].
pub trait Scheduling: Cpu {
    /// An indirect jump to the code `to`, whose address is this register value; mispredicted where the predictor of
    /// targets errs. One micro-op.
    fn jump(&self, target: Self::Tag, to: u64, site: Site);

    /// The time-stamp counter, in cycles; zero where there is no time. One micro-op.
    fn cycles(&self) -> W<'_, Self>;
}

/// What replaying recorded machine code asks of a back end beyond [`Cpu`].
pub trait Replay: Cpu {
    /// When both are ready: an instruction may wait for more than two values.
    fn both(&self, a: Self::Tag, b: Self::Tag) -> Self::Tag;

    /// Arithmetic that is part of the micro-op dispatched last (a load with arithmetic is one): its latency alone.
    fn fused(&self, op: Alu, a: Self::Tag, b: Self::Tag) -> Self::Tag;

    /// More bytes of the store or non-temporal store dispatched last, which has more than eight or is not aligned: no instruction and no entry of
    /// the store queue. They leave it right behind the store's first bytes, as memory operations of their own, since a
    /// crash may tear them apart.
    fn store_rest(&self, addr: Addr, size: u8, value: u64, temporal: bool);

    /// Cycles in which this core could dispatch nothing behind a fence, so far.
    fn fence_stalls(&self) -> u64;

    /// The next store or locked instruction counts as a write of its word ([`Replay::written`]).
    fn count_next(&self);

    /// Waits, at no cost in instructions, until so many counted writes to the aligned word at `word` are visible.
    fn written(&self, word: Addr, times: u32) -> impl Future<Output = ()>;
}
