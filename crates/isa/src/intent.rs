//! The ordering intents of programs, and their lowering to the [`Primitive`]s of an ISA.

use crate::Primitive;

/// An ordering requirement of a program, independent of the ISA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// Earlier log records persist before later updates.
    LogBeforeUpdate,
    /// Earlier writes of this thread persist before later ones, in a program without a log: [`Intent::LogBeforeUpdate`].
    Order,
    /// The updates of a failure-atomic region persist before the record that commits it.
    Commit,
    /// All earlier writes of this thread are durable when the intent returns.
    Durable,
    /// What the failure-atomic region has read is confirmed when the intent returns, or the core is interrupted
    /// ([`crate::Cpu::interrupted`]); and what it reads from then on is right, until the next [`Intent::Durable`].
    Validate,
    /// A lock or another synchronisation variable was acquired: by the last load or locked instruction.
    Acquire,
    /// A lock or another synchronisation variable is about to be released: by the next store or locked instruction.
    Release,
    /// Later persists need not be ordered after earlier ones (a new strand).
    NewStrand,
    /// A step of a failure-atomic region has been written, and more follow. Without strands, it persists before them:
    /// [`Intent::Commit`].
    Step,
    /// [`Intent::LogBeforeUpdate`] for the last of several steps. Its updates commit the region, so the earlier steps
    /// persist first, too.
    LastStep,
    /// The operating system is about to move or replace this thread, or a device is about to access memory. The
    /// thread's writes must leave its core first (ASAP V).
    HandOver,
}

/// An instruction that writes a cache line back to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flush {
    /// x86 `clwb`: write back and keep a clean copy.
    Clwb,
    /// x86 `clflushopt`: write back and invalidate.
    ClflushOpt,
    /// x86 `clflush`: as `clflushopt`, but ordered with stores and other flushes. The store queue waits for it.
    Clflush,
}

/// How a design's programs share a core among their tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tasking {
    /// Each task waits at its own fences.
    #[default]
    Own,
    /// One fence for all tasks of a window, after each round of the window (COSPlay 5, "SBatch").
    Batched,
    /// Each task waits at its own fences, and switching costs no instruction (COSPlay 5, "FreeSwitch").
    Free,
}

/// The primitives of a design's ISA that implement the intents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lowering {
    /// Whether failure-atomic regions write an undo log at all.
    pub log: bool,
    /// The instruction that flushes written lines, if the design needs one.
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
    /// The first primitive of a task after it starts or resumes, where tasks share a core.
    pub resumed: &'static [Primitive],
    /// How tasks share a core, if they do.
    pub tasking: Tasking,
}

impl Lowering {
    /// No log, no flush, no fence: a program that ignores persistence.
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

    /// The log, `clwb`, and the same primitives wherever an intent orders persists.
    #[must_use]
    pub const fn clwb_and(order: &'static [Primitive]) -> Lowering {
        Lowering {
            log: true,
            flush: Some(Flush::Clwb),
            log_before_update: order,
            commit: order,
            durable: order,
            ..Lowering::NOTHING
        }
    }

    /// Whether hardware speculates and may interrupt a program, whose open region must then be aborted.
    #[inline(always)]
    #[must_use]
    pub fn interrupts(&self) -> bool {
        !self.validate.is_empty()
    }

    /// This lowering where primitives do nothing, as on cores without time: what of it decides which loads, stores,
    /// locked instructions and flushes a program executes. Programs ask whether a step opens a strand, and whether they
    /// may be interrupted, so one primitive stands for any there.
    #[must_use]
    pub fn of_accesses(&self) -> Lowering {
        let any = |primitives: &[Primitive], one| if primitives.is_empty() { &[][..] } else { one };
        Lowering {
            log: self.log,
            flush: self.flush,
            validate: any(self.validate, &[Primitive::Mfence]),
            new_strand: any(self.new_strand, &[Primitive::NewStrand]),
            ..Lowering::NOTHING
        }
    }

    /// The primitives of `intent`, in program order.
    #[inline]
    #[must_use]
    pub fn of(&self, intent: Intent) -> &'static [Primitive] {
        match intent {
            Intent::LogBeforeUpdate | Intent::Order => self.log_before_update,
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
