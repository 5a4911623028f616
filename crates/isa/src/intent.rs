//! What a program means (intents), and the table from that to what an ISA offers ([`Primitive`]s): lowering.

use crate::Primitive;

/// What a program asks of persist order, whatever the ISA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// The log records written so far persist before the updates that follow.
    LogBeforeUpdate,
    /// The updates of a failure-atomic region persist before the record that commits it.
    Commit,
    /// Everything written so far in this thread is durable when the intent returns.
    Durable,
    /// What the failure-atomic region has read is confirmed when the intent returns, or the core is interrupted
    /// ([`crate::Cpu::interrupted`]); and what it reads from then on is right, until the next [`Intent::Durable`].
    Validate,
    /// A lock or another synchronisation variable was acquired: by the last load or locked instruction.
    Acquire,
    /// A lock or another synchronisation variable is about to be released: by the next store or locked instruction.
    Release,
    /// What follows need not be ordered after what came before (a new strand).
    NewStrand,
    /// A step of a failure-atomic region has been written, and others follow. Without strands it persists before them: [`Intent::Commit`].
    Step,
    /// [`Intent::LogBeforeUpdate`] of the last of several steps, whose updates commit the region: the steps before it persist
    /// first, too.
    LastStep,
    /// The operating system is about to move or replace this thread, or a device is about to read or write memory: what the thread has
    /// written must not wait in its core any longer (ASAP V).
    HandOver,
}

/// An instruction that writes a cache line back to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// x86 `clwb`: write back and keep a clean copy.
    Clwb,
    /// x86 `clflushopt`: write back and invalidate.
    ClflushOpt,
    /// x86 `clflush`: as `clflushopt`, but ordered with stores and other flushes: the store queue waits for it.
    Clflush,
}

/// How a design's programs share a core among their tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tasking {
    /// Each task waits at its own fences.
    #[default]
    Own,
    /// One fence for all tasks of a window, whenever the window has gone round (COSPlay 5, "SBatch").
    Batched,
    /// Each task waits at its own fences, and switching costs no instruction (COSPlay 5, "FreeSwitch").
    Free,
}

/// What intents become in a design's ISA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowering {
    /// Whether failure-atomic regions write an undo log at all.
    pub log: bool,
    /// The instruction that flushes what was written, if the design needs one.
    pub flush: Option<Flush>,
    /// [`Intent::LogBeforeUpdate`].
    pub log_before_update: &'static [Primitive],
    /// [`Intent::Commit`].
    pub commit: &'static [Primitive],
    /// [`Intent::Durable`].
    pub durable: &'static [Primitive],
    /// [`Intent::Validate`].
    pub validate: &'static [Primitive],
    /// [`Intent::Acquire`].
    pub acquire: &'static [Primitive],
    /// [`Intent::Release`].
    pub release: &'static [Primitive],
    /// [`Intent::NewStrand`].
    pub new_strand: &'static [Primitive],
    /// [`Intent::HandOver`].
    pub hand_over: &'static [Primitive],
    /// What a task does first whenever it begins or goes on after another one, where tasks share a core.
    pub resumed: &'static [Primitive],
    /// How tasks share a core, where they do.
    pub tasking: Tasking,
}

impl Lowering {
    /// No log, no flush, no fence: a program that does not care for persistence.
    pub const NOTHING: Lowering = Lowering {
        log: false,
        flush: None,
        log_before_update: &[],
        commit: &[],
        durable: &[],
        validate: &[],
        acquire: &[],
        release: &[],
        new_strand: &[],
        hand_over: &[],
        resumed: &[],
        tasking: Tasking::Own,
    };

    /// Whether hardware speculates and may interrupt a program, whose open region must then be aborted.
    #[inline(always)]
    #[must_use]
    pub fn speculates(&self) -> bool {
        !self.validate.is_empty()
    }

    /// The primitives that `intent` becomes, in program order.
    #[inline]
    #[must_use]
    pub fn of(&self, intent: Intent) -> &'static [Primitive] {
        match intent {
            Intent::LogBeforeUpdate => self.log_before_update,
            Intent::Commit => self.commit,
            Intent::Durable => self.durable,
            Intent::Validate => self.validate,
            Intent::Acquire => self.acquire,
            Intent::Release => self.release,
            Intent::NewStrand => self.new_strand,
            Intent::HandOver => self.hand_over,
            Intent::Step if self.new_strand.is_empty() => self.commit,
            Intent::Step => self.new_strand,
            Intent::LastStep if self.new_strand.is_empty() => self.log_before_update,
            Intent::LastStep => self.commit,
        }
    }
}
