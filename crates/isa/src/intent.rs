//! What a program means (intents), what an ISA offers (primitives), and the table between them (lowering).

use std::fmt;

/// What a program asks of persist order, whatever the ISA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intent {
    /// The log records written so far persist before the updates that follow.
    LogBeforeUpdate,
    /// The updates of a failure-atomic region persist before the record that commits it.
    Commit,
    /// Everything written so far in this thread is durable when the intent returns.
    Durable,
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

/// An instruction that orders or completes persists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// x86 `sfence`: no younger store or flush enters the store queue until older stores are visible and older
    /// flushes and non-temporal stores are acknowledged.
    Sfence,
    /// x86 `mfence`: an `sfence` that younger loads wait for too.
    Mfence,
    /// x86 `pcommit` (withdrawn): done when every write that the controllers have accepted has reached the media.
    Pcommit,
    /// A barrier between older and younger stores of one core, for machines whose store queue drains out of order
    /// (Arm `dmb st`); it waits for no flush. Free where stores drain in order.
    StoreBarrier,
    /// `setctx`: stores and flushes from here on belong to this context, until the next one (COSPlay 4.1).
    Setctx(u8),
    /// `cfence`: an [`Primitive::Sfence`] for the stores and flushes of this context alone (COSPlay 4.1).
    Cfence(u8),
    /// A persist barrier: what its strand persisted before it persists before what its strand persists after it (StrandWeaver III).
    PersistBarrier,
    /// A new strand begins: what follows is ordered after what came before by nothing but a [`Primitive::JoinStrand`]
    /// (StrandWeaver III).
    NewStrand,
    /// Everything that all strands of the thread persisted is durable before anything that follows persists (StrandWeaver III).
    JoinStrand,
    /// HOPS's `ofence`: what came before persists before what follows; the thread does not wait.
    Ofence,
    /// HOPS's `dfence`: what came before is durable when it is done.
    Dfence,
    /// An annotation: the next store or locked instruction of this core in program order releases (ASAP V). It waits for nothing.
    Release,
    /// An annotation: the last load or locked instruction of this core in program order acquires (ASAP V). It waits for nothing.
    Acquire,
}

impl Primitive {
    /// The same, where it names a context, for `context`: lowerings are written for context 0.
    #[must_use]
    pub fn in_context(self, context: u8) -> Primitive {
        match self {
            Primitive::Setctx(_) => Primitive::Setctx(context),
            Primitive::Cfence(_) => Primitive::Cfence(context),
            other => other,
        }
    }

    /// Whether it orders persists by strands.
    #[must_use]
    pub fn is_of_strands(self) -> bool {
        matches!(
            self,
            Primitive::PersistBarrier | Primitive::NewStrand | Primitive::JoinStrand
        )
    }

    /// Whether it says of the store behind it or of the load before it what that is.
    #[must_use]
    pub fn is_mark(self) -> bool {
        matches!(self, Primitive::Release | Primitive::Acquire)
    }

    /// Whether it keeps anything in order: a change of context or strand does not, and what a mark says is its access's.
    #[must_use]
    pub fn is_fence(self) -> bool {
        !matches!(self, Primitive::Setctx(_) | Primitive::NewStrand) && !self.is_mark()
    }

    /// Whether it waits for flushes: worth letting another task go on first.
    #[must_use]
    pub fn waits(self) -> bool {
        match self {
            Primitive::Sfence
            | Primitive::Mfence
            | Primitive::Cfence(_)
            | Primitive::JoinStrand
            | Primitive::Dfence => true,
            Primitive::Pcommit
            | Primitive::StoreBarrier
            | Primitive::Setctx(_)
            | Primitive::PersistBarrier
            | Primitive::NewStrand
            | Primitive::Ofence
            | Primitive::Release
            | Primitive::Acquire => false,
        }
    }
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
        acquire: &[],
        release: &[],
        new_strand: &[],
        hand_over: &[],
        resumed: &[],
        tasking: Tasking::Own,
    };

    /// The primitives that `intent` becomes, in program order.
    #[inline]
    #[must_use]
    pub fn of(&self, intent: Intent) -> &'static [Primitive] {
        match intent {
            Intent::LogBeforeUpdate => self.log_before_update,
            Intent::Commit => self.commit,
            Intent::Durable => self.durable,
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

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Primitive::Sfence => f.write_str("sfence"),
            Primitive::Mfence => f.write_str("mfence"),
            Primitive::Pcommit => f.write_str("pcommit"),
            Primitive::StoreBarrier => f.write_str("store barrier"),
            Primitive::Setctx(context) => write!(f, "setctx {context}"),
            Primitive::Cfence(context) => write!(f, "cfence {context}"),
            Primitive::PersistBarrier => f.write_str("persist barrier"),
            Primitive::NewStrand => f.write_str("new strand"),
            Primitive::JoinStrand => f.write_str("join strand"),
            Primitive::Ofence => f.write_str("ofence"),
            Primitive::Dfence => f.write_str("dfence"),
            Primitive::Release => f.write_str("release"),
            Primitive::Acquire => f.write_str("acquire"),
        }
    }
}
