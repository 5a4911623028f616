//! What a recording says.

use strandline_capture::{Access, AccessKind};

/// The warning of a recording without an end.
pub(crate) const INCOMPLETE: &str = "the program was killed; the recording ends where the recorder was stopped";

/// Straight-line code that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The address of its first instruction.
    pub pc: u64,
    /// Its machine code.
    pub code: Vec<u8>,
    /// Instructions.
    pub instructions: u32,
    /// Its memory accesses, in program order.
    pub accesses: Vec<Access>,
    /// It is one iteration of a single string instruction with a `rep` prefix.
    pub repeats: bool,
    /// The indices of its instructions that are fences: `sfence` or `mfence`.
    pub fences: Vec<u16>,
}

/// A file that was mapped as code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The first address.
    pub base: u64,
    /// The address after the last.
    pub end: u64,
    /// The offset of the base in the file, in bytes.
    pub offset: u64,
    /// The file.
    pub path: String,
}

impl Module {
    /// Whether it is a shared library, not the program's own file.
    #[must_use]
    pub fn is_library(&self) -> bool {
        is_library(&self.path)
    }
}

/// Whether a file is a shared library, by its name.
pub(crate) fn is_library(path: &str) -> bool {
    path.ends_with(".so") || path.contains(".so.")
}

/// Persistent memory that was mapped during the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first address.
    pub start: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The offset of the start in the file, in bytes.
    pub offset: u64,
    /// The file; empty for a range of addresses.
    pub path: String,
}

/// A thread of the recorded program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Instructions that it executed.
    pub instructions: u64,
    /// Its steps.
    pub steps: u64,
}

/// The class of a recorded fence, by the collector's policy.
///
/// An ordering fence follows a flush or non-temporal store of persistent memory (since the thread's last such fence).
/// The last one before a task's end, a lock's release or the thread's end is a durability fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FenceClass {
    /// Nothing was flushed since the last fence.
    Idle = 0,
    /// An ordering point.
    Order = 1,
    /// A durability point.
    Durable = 2,
}

/// What a thread did next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStep<'s> {
    /// It executed a block.
    Block(Executed<'s>),
    /// Something that is no code.
    Event(Event),
}

/// A block's execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed<'s> {
    /// Which block.
    pub block: u32,
    /// Number of executed instructions; fewer than it has only if a fault cut it short.
    pub instructions: u32,
    /// The addresses of its accesses, in order; fewer than it has only if it was cut short.
    pub addresses: &'s [u64],
    /// The bytes that its writing accesses left, in order, each as [`Access::value_words`] words; zeros for volatile
    /// memory.
    pub values: &'s [u64],
    /// The classes of its fences, in order.
    pub fences: &'s [FenceClass],
    /// Accesses that keep their order with other threads' accesses, in order. Only in recordings of several threads.
    pub turns: &'s [Turn],
    /// What its accesses wait for before, and give behind, in order. Only in recordings of several threads.
    pub links: &'s [Link],
}

/// A wait before an access, or a signal behind it: it keeps its order with another thread's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The access, by its index in the block.
    pub access: u16,
    /// What it is.
    pub event: LinkEvent,
}

/// What happens at an access, with signals as those of [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Before it, the thread waits until the signal of this number was given this often.
    Wait {
        /// Which signal.
        number: u32,
        /// How often.
        times: u32,
    },
    /// Behind it, the signal of this number is given.
    Signal {
        /// Which signal.
        number: u32,
    },
}

/// An access to a synchronisation word, which waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The access, by its index in the block.
    pub access: u16,
    /// Number of earlier writes, by accesses with a turn, to this address ([`Turn::word`]).
    pub before: u32,
}

/// What is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A system call of this number.
    Syscall(u64),
    /// A system call made a range of bytes from `start` durable (`msync`, `fsync`, `sync`).
    Sync {
        /// The first address.
        start: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// A signal, for which others may wait: a thread started or ended, a futex was woken.
    Signal {
        /// Signals of one number have a common count.
        number: u32,
    },
    /// Waits until the signal of this number was given this often.
    Wait {
        /// Which signal.
        number: u32,
        /// How often.
        times: u32,
    },
}

impl Turn {
    /// The word whose writes have a common count: the aligned eight bytes of an address.
    #[must_use]
    pub fn word(address: u64) -> u64 {
        address & !7
    }
}

impl Block {
    /// Number of words in [`Executed::values`] of its first accesses.
    #[must_use]
    pub fn value_words(&self, accesses: usize) -> usize {
        self.accesses[..accesses]
            .iter()
            .map(|access| access.value_words())
            .sum()
    }
}

/// Counts of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is what it is called")]
pub struct Totals {
    pub instructions: u64,
    pub blocks: u64,
    pub loads: u64,
    pub stores: u64,
    pub atomics: u64,
    pub stores_nt: u64,
    pub clwbs: u64,
    pub clflushopts: u64,
    pub clflushes: u64,
    pub sfences: u64,
    pub mfences: u64,
    pub tasks: u64,
    /// Stores of all kinds to persistent memory.
    pub persistent_stores: u64,
}

impl Totals {
    /// Counts an access.
    pub fn count(&mut self, kind: AccessKind) {
        match kind {
            AccessKind::Load | AccessKind::LoadSeen => self.loads += 1,
            AccessKind::Store | AccessKind::StoreMasked => self.stores += 1,
            AccessKind::Update => {
                self.loads += 1;
                self.stores += 1;
            }
            AccessKind::Atomic => self.atomics += 1,
            AccessKind::StoreNt | AccessKind::StoreNtMasked => self.stores_nt += 1,
            AccessKind::Clwb => self.clwbs += 1,
            AccessKind::ClflushOpt => self.clflushopts += 1,
            AccessKind::Clflush => self.clflushes += 1,
        }
    }
}
