//! The back end that executes a program.

use crate::{Addr, CoreId, Flush, Intent, Line, Lowering, Primitive, Scope, Scoped, Site, W};

/// Arithmetic micro-ops, classified by latency.
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
    /// Replaces the bits of this mask by the operand's. A replay uses it for the recorded result of any instruction.
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

/// An annotation of the program for observers of the run. It costs no instruction and no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A task (one operation or transaction) starts.
    TaskBegin,
    /// A failure-atomic region starts; its updates follow.
    RegionBegin,
    /// The region writes these bytes; they are in memory once it has committed. The note accompanies the issue of the
    /// update's store.
    RegionWrite {
        /// Where.
        addr: Addr,
        /// Number of bytes (1, 2, 4 or 8).
        size: u8,
        /// The new value.
        value: u64,
    },
    /// The region writes this line, which nothing reaches unless the region has committed. What the line holds
    /// otherwise is not specified: its log does not keep it.
    RegionFresh {
        /// The line.
        line: Line,
    },
    /// The region has issued all its writes and is about to release its locks, but is not acknowledged yet. A crash
    /// keeps all of it or nothing. If it keeps nothing, it also drops every region that has seen it. Only runtimes that
    /// acknowledge later emit this note.
    RegionEnd,
    /// The oldest unacknowledged region of the task is acknowledged: a crash keeps it.
    RegionDurable,
    /// The task's newest region was aborted: a crash keeps nothing of it. Its task starts again.
    RegionAbort,
    /// An operation on a map starts: it gives the key this value, or removes the key. A program without regions
    /// announces its operations instead; they may take effect in any order that durable linearizability allows.
    OperationBegin {
        /// The key.
        key: u64,
        /// Its new value; `None` removes it.
        value: Option<u64>,
    },
    /// The oldest operation of the task, or of earlier tasks in its place, that has not returned does so now: a crash keeps
    /// it.
    OperationDurable {
        /// Whether it has changed the map.
        changed: bool,
    },
    /// A search for a key on such a map starts.
    SearchBegin {
        /// The key.
        key: u64,
    },
    /// The task's search has returned.
    SearchEnd {
        /// What it has found.
        value: Option<u64>,
    },
    /// A call on a shared structure starts. A program with regions announces its calls so that a run can be judged by
    /// linearizability. At a crash its regions are judged: a call that has returned may be of a region that is not
    /// acknowledged yet.
    CallBegin(Call),
    /// The task's call has returned.
    CallEnd {
        /// What it has returned, or `None`.
        answer: Option<u64>,
    },
    /// The outside world has seen this value: every crash state must account for it.
    Output {
        /// The location of the output, in the program's own numbering.
        location: u32,
        /// What it sees there.
        value: u64,
    },
    /// The task has ended.
    TaskEnd,
    /// Tasks share the core: this one executes from here on.
    Running(Running),
    /// The number of tasks that share the core from here on.
    Window(u32),
}

/// A call on a shared structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Adds a value at the end of a queue, and answers with it; with nothing if there is no room.
    Enqueue(u64),
    /// Removes the first value of a queue, and answers with it; with nothing if there is none.
    Dequeue,
    /// Adds a value to a priority queue, as [`Call::Enqueue`]. Its upper half is its priority.
    Insert(u64),
    /// Removes a value of least priority from a priority queue, as [`Call::Dequeue`].
    DeleteMin,
    /// Gives a key of a map this value, and answers with it; with nothing if there is no room.
    Put {
        /// The key.
        key: u64,
        /// Its new value.
        value: u64,
    },
    /// Removes a key from a map, and answers with the key; with nothing if the map did not hold it.
    Remove(u64),
    /// Answers with the value of a key of a map; with nothing if the map does not hold it.
    Get(u64),
}

/// What executes on a core that tasks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// The library that switches between tasks.
    Library,
    /// The task in this slot of the window, from 0.
    Task(u32),
}

/// A back end: simulated memory and time, plain memory, or real hardware.
///
/// Every operation that another core can observe or influence may suspend the program, which runs on a stack of its own
/// there. Addresses are naturally aligned; `size` is 1, 2, 4 or 8 bytes.
pub trait Cpu: Sized {
    /// What the back end tracks for a register value: in the simulator, the time at which it is ready.
    type Tag: Copy + Default;

    /// Which core this is.
    fn core(&self) -> CoreId;

    /// What intents become here.
    fn lowering(&self) -> &Lowering;

    /// An arithmetic micro-op on up to two register values; nothing on back ends that neither time nor count.
    #[inline(always)]
    fn alu(&self, op: Alu, a: Self::Tag, b: Self::Tag) -> Self::Tag {
        let _ = (op, a, b);
        Self::Tag::default()
    }

    /// A comparison of up to two register values, which sets the flags: a simple micro-op.
    #[inline(always)]
    fn compare(&self, a: Self::Tag, b: Self::Tag) -> Self::Tag {
        self.alu(Alu::Simple, a, b)
    }

    /// A conditional branch on a register value, likewise.
    #[inline(always)]
    fn branch(&self, condition: Self::Tag, taken: bool, site: Site) {
        let _ = (condition, taken, site);
    }

    /// A load.
    fn load(&self, addr: Addr, address: Self::Tag, size: u8) -> W<'_, Self>;

    /// A store.
    fn store(&self, addr: Addr, address: Self::Tag, size: u8, value: u64, data: Self::Tag);

    /// A non-temporal (cache-bypassing) store.
    fn store_nt(&self, addr: Addr, address: Self::Tag, size: u8, value: u64, data: Self::Tag);

    /// A locked instruction on the 8 bytes at `addr`; returns the old value.
    fn rmw(&self, addr: Addr, address: Self::Tag, op: Rmw, operand: u64, data: Self::Tag) -> W<'_, Self>;

    /// Writes the line of `addr` back by this instruction.
    fn flush(&self, addr: Addr, address: Self::Tag, flush: Flush);

    /// A persist primitive.
    fn primitive(&self, primitive: Primitive);

    /// Notifies observers; no instruction.
    fn note(&self, note: Note);

    /// The task cannot proceed before another one: yields to other tasks of its core, if there are any. It issues no
    /// instruction of its own.
    #[inline(always)]
    fn give_way(&self) {}

    /// The program has gone round a loop that does the same again until another core writes a word that it loads. A
    /// turn that stores, flushes or fences is none of these. It issues no instruction of its own.
    #[inline(always)]
    fn spins(&self) {}

    /// The thread sleeps in the kernel as long as the four bytes at `word` have this value and nothing wakes it: a futex.
    /// What the kernel executes is not the program's. Back ends without a kernel look at the word themselves.
    fn sleep<'c>(&'c self, word: W<'c, Self>, value: u64) {
        while word.load_sized(4).bits() == value {
            self.give_way();
            self.spins();
        }
    }

    /// Once the next locked instruction is visible, the kernel wakes the thread that has slept longest on its word.
    #[inline(always)]
    fn wakes(&self) {}

    /// Whether hardware has interrupted this core since this was last asked: it has misspeculated, and the open
    /// failure-atomic region must be aborted. Only designs whose lowering validates ([`Lowering::interrupts`]) do so.
    #[inline(always)]
    fn interrupted(&self) -> bool {
        false
    }

    /// Hosts whose cores share persistent memory, though nothing keeps their copies of it alike.
    #[inline(always)]
    fn hosts(&self) -> u64 {
        1
    }

    /// Whether the host of another core has failed, as far as this core has been told.
    #[inline(always)]
    fn has_failed(&self, core: CoreId) -> bool {
        let _ = core;
        false
    }

    /// Waits, at no cost in instructions, until all fences before it have retired, as a precise interrupt does: what
    /// comes then in program order has not been executed yet.
    #[inline(always)]
    fn fenced(&self) {}

    /// The program has opened its state, by the operations before this call. If the back end has created it anew, in
    /// place of itself: the registers that it saved at one of its resume points ([`Cpu::add_point`]), from which it
    /// goes on.
    #[inline(always)]
    fn resumed(&self) -> Option<Vec<W<'_, Self>>> {
        None
    }

    /// Whether the back end would have the program go on from here if it creates it anew ([`Cpu::add_point`]).
    #[inline(always)]
    fn wants_point(&self) -> bool {
        false
    }

    /// A point from which the program can go on if it is created anew, given these registers. They and memory are then
    /// its whole state.
    fn add_point<'c>(&'c self, state: Vec<W<'c, Self>>) {
        let _ = state;
    }

    /// A barrier of all threads of the program, without instructions: the timed region starts behind it.
    fn start_line(&self);

    /// A scope of the program begins. Optimized code has inlined functions, and executes no instruction for them. Called
    /// by [`Cpu::call`] and [`Cpu::library`].
    #[inline(always)]
    fn enter(&self, scope: Scope) {
        let _ = scope;
    }

    /// The scope ends that was entered last.
    #[inline(always)]
    fn leave(&self, scope: Scope) {
        let _ = scope;
    }

    /// The code of a function of the program, until the result is dropped, which is called here with this many arguments.
    #[inline(always)]
    fn call(&self, arguments: u32) -> Scoped<'_, Self> {
        Scoped::new(self, Scope::Function { arguments })
    }

    /// The code of a library, until the result is dropped. It is optimized whatever the program's is ([`crate::Code`]).
    /// Libraries may call libraries.
    #[inline(always)]
    fn library(&self) -> Scoped<'_, Self> {
        Scoped::new(self, Scope::Library)
    }

    /// An ordering intent. The design lowers it to primitives.
    fn intent(&self, intent: Intent) {
        for primitive in self.lowering().of(intent) {
            self.primitive(*primitive);
        }
    }

    /// An indirect jump to the code `to`, whose address is this register value. It is mispredicted if the target
    /// predictor errs. One micro-op. A scheduler of tasks resumes them so.
    #[inline(always)]
    fn jump(&self, target: Self::Tag, to: u64, site: Site) {
        let _ = (target, to, site);
    }

    /// The time-stamp counter, in cycles; zero on back ends without time. One micro-op.
    fn cycles(&self) -> W<'_, Self> {
        self.word(0)
    }

    /// Whether a program that warms caches is to begin another task. Asked before each task; other threads have their
    /// turns first.
    fn has_warm_task(&self) -> bool {
        false
    }

    /// A constant, which is in a register from the start.
    #[inline(always)]
    fn word(&self, bits: u64) -> W<'_, Self> {
        W::new(self, bits, Self::Tag::default())
    }
}

/// What a replay of recorded machine code needs from a back end beyond [`Cpu`].
pub trait Replay: Cpu {
    /// Ready when both values are: an instruction may depend on more than two values.
    fn both(&self, a: Self::Tag, b: Self::Tag) -> Self::Tag;

    /// Arithmetic in the last dispatched micro-op, as in a load with arithmetic: adds only its latency.
    fn fused(&self, op: Alu, a: Self::Tag, b: Self::Tag) -> Self::Tag;

    /// More bytes of the last dispatched store or non-temporal store, which exceeds eight bytes or is not aligned. They
    /// are no instruction and take no entry of the store queue. They leave it directly behind the store's first bytes,
    /// as separate memory operations, because a crash may tear them apart.
    fn store_rest(&self, addr: Addr, size: u8, value: u64, temporal: bool);

    /// Cycles so far in which a fence blocked dispatch on this core.
    fn fence_stalls(&self) -> u64;

    /// The next store or locked instruction counts as a write of its word ([`Replay::written`]).
    fn count_next(&self);

    /// Waits, without instructions, until `times` counted writes to the aligned word at `word` are visible.
    fn written(&self, word: Addr, times: u32);
}
