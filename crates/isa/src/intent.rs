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
    /// A lock or another synchronisation variable was acquired.
    Acquire,
    /// A lock or another synchronisation variable is about to be released.
    Release,
    /// What follows need not be ordered after what came before (a new strand).
    NewStrand,
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
        }
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Primitive::Sfence => "sfence",
            Primitive::Mfence => "mfence",
            Primitive::Pcommit => "pcommit",
            Primitive::StoreBarrier => "store barrier",
        })
    }
}
