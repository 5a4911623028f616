//! The protocol between the recorder in a program and the collector outside: packets through a pipe.
//!
//! All numbers are little-endian and all payloads are multiples of 8 bytes. A packet is a [`Header`] and its payload.
//! The recorder writes each packet under one lock, so packets do not interleave. A block is defined before the first
//! trace that names it. The packets of a thread are in the thread's order.
//!
//! # Traces
//! A packet of [`PacketKind::Trace`] is a run of 64-bit words of one thread. A word with its highest bit set is a control
//! word ([`Control`]). The others are parts of the accesses in the last block's definition. After [`Control::Block`]
//! come, for each access of the block in order:
//! - its address (one word);
//! - if it writes ([`AccessKind::writes`]) at most [`VALUE_BYTES`] bytes: the new bytes, as `ceil(size / 8)` words,
//!   padded with zeros; behind those of a masked store ([`AccessKind::is_masked`]) the bytes that it wrote (one word, one
//!   bit for each byte, the lowest for the first);
//! - if it is [`AccessKind::Atomic`]: between the address and the new bytes the old bytes, as many words; after the new
//!   bytes a ticket (one word). Tickets of one address grow in the order in which the instructions performed;
//! - if it is [`AccessKind::LoadSeen`]: the bytes that were there after it (one word), and a later ticket (one word).
//!
//! Once the program has several threads, a packet of [`PacketKind::Passed`] may precede that of a trace, with a word
//! ([`Passed`]) for each of the trace's accesses to persistent memory.
//!
//! If a block's execution ends early (a fault), [`Control::Cut`] follows. Accesses of incomplete instructions are
//! missing; the last one may be present in part.

/// The protocol's version: a collector refuses any other.
pub const VERSION: u32 = 4;

/// The first bytes of a stream. Between packets they begin it anew: the program has become another one, and all before
/// is void.
pub const MAGIC: [u8; 8] = *b"strandcp";

/// Words behind the address of an [`AccessKind::LoadSeen`]: bytes and a ticket.
pub const SEEN_WORDS: usize = 2;

/// Maximum number of bytes of an access whose value is recorded.
pub const VALUE_BYTES: u16 = 64;

/// The bit that distinguishes control words from addresses.
pub const CONTROL: u64 = 1 << 63;

/// Bytes of a line of memory.
pub const LINE_BYTES: u64 = 64;

/// Bytes of a page of a snapshot.
pub const PAGE_BYTES: u64 = 4096;

/// What a packet is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PacketKind {
    /// Start of the stream: version (u32), process id (u32), then a text: the program and its arguments, separated by
    /// NUL.
    Start = 1,
    /// A module was mapped: base (u64), end (u64), offset of the base in the file (u64), then its path.
    Module = 2,
    /// New blocks, one after the other, each as in [`BlockHead`].
    Blocks = 3,
    /// What a thread executed: words.
    Trace = 4,
    /// The thread of the header started: the operating system's thread id (u64); the parent thread (u64), [`NOBODY`]
    /// for the first; and the address that the kernel clears when the thread ends (u64, zero if none).
    ThreadStart = 5,
    /// The thread of the header ended: a ticket (u64).
    ThreadEnd = 6,
    /// Persistent memory was mapped: start (u64), bytes (u64), offset in the file (u64), then the file's path (empty
    /// for an address range of the user). Its contents follow as [`PacketKind::PmPage`].
    PmMap = 7,
    /// A page of persistent memory at the time of mapping or at the start of recording: its address (u64) and
    /// [`PAGE_BYTES`] bytes. Pages of zeros are left out.
    PmPage = 8,
    /// Persistent memory was unmapped: start (u64), bytes (u64).
    PmUnmap = 9,
    /// The program did something that cannot be recorded, or could not be started: a text for the user. Only the
    /// collector prints it. Nothing is kept.
    Refused = 10,
    /// Recording ended with the program: its exit status as the shell reports it (u64; 128 + signal).
    End = 11,
    /// A warning for the user that does not stop the recording: a text.
    Warning = 12,
    /// How the accesses to persistent memory of the thread's next packet of a trace passed the gate: a word for each
    /// ([`Passed`]), in order.
    Passed = 13,
}

/// Stands for no thread.
pub const NOBODY: u64 = u64::MAX;

/// The 16 bytes before each payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// A [`PacketKind`].
    pub kind: u32,
    /// The thread, counted from 0 in the order of thread starts; 0 for a packet without a thread.
    pub thread: u32,
    /// Bytes of the payload, without the padding to a multiple of 8.
    pub bytes: u64,
}

/// Bytes of a [`Header`].
pub const HEADER_BYTES: usize = 16;

/// The first 32 bytes of a block's definition. The block's code follows, padded to a multiple of 8 bytes, then its
/// accesses, 8 bytes each ([`Access::pack`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHead {
    /// The block's number. Blocks are numbered from 0 in the order of definition.
    pub id: u64,
    /// The address of its first instruction.
    pub pc: u64,
    /// Bytes of code.
    pub code_bytes: u32,
    /// Instructions.
    pub instructions: u32,
    /// Accesses.
    pub accesses: u32,
    /// [`REPEATS`] or zero.
    pub flags: u32,
}

/// Bytes of a [`BlockHead`].
pub const BLOCK_HEAD_BYTES: usize = 32;

/// A block's flag: the block is one iteration of a string instruction with a `rep` prefix.
pub const REPEATS: u32 = 1;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AccessKind {
    /// Reads.
    Load = 0,
    /// Writes.
    Store = 1,
    /// Reads and then writes the same bytes, not atomically (`add [m], r`).
    Update = 2,
    /// A locked instruction, or `xchg` with memory.
    Atomic = 3,
    /// A non-temporal store.
    StoreNt = 4,
    /// `clwb`.
    Clwb = 5,
    /// `clflushopt`.
    ClflushOpt = 6,
    /// `clflush`.
    Clflush = 7,
    /// Writes some of its bytes: those that its mask selects.
    StoreMasked = 8,
    /// A non-temporal store of this kind.
    StoreNtMasked = 9,
    /// Reads at most eight bytes, by which the program may wait for another thread. Only streams have it: in a recording it
    /// is a [`AccessKind::Load`].
    LoadSeen = 10,
}

impl AccessKind {
    /// All kinds of a recording, in the order of their numbers.
    pub const ALL: [AccessKind; 10] = [
        AccessKind::Load,
        AccessKind::Store,
        AccessKind::Update,
        AccessKind::Atomic,
        AccessKind::StoreNt,
        AccessKind::Clwb,
        AccessKind::ClflushOpt,
        AccessKind::Clflush,
        AccessKind::StoreMasked,
        AccessKind::StoreNtMasked,
    ];

    /// Whether it changes memory.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            AccessKind::Store | AccessKind::Update | AccessKind::Atomic | AccessKind::StoreNt
        ) || self.is_masked()
    }

    /// Whether a mask, one bit for each byte, follows the words of its new bytes.
    #[must_use]
    pub fn is_masked(self) -> bool {
        matches!(self, AccessKind::StoreMasked | AccessKind::StoreNtMasked)
    }

    /// Whether it is a non-temporal store.
    #[must_use]
    pub fn is_nt(self) -> bool {
        matches!(self, AccessKind::StoreNt | AccessKind::StoreNtMasked)
    }

    /// Whether it writes a line back.
    #[must_use]
    pub fn flushes(self) -> bool {
        matches!(self, AccessKind::Clwb | AccessKind::ClflushOpt | AccessKind::Clflush)
    }
}

/// A memory access of a block's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The index of its instruction in the block.
    pub instruction: u16,
    /// What it does.
    pub kind: AccessKind,
    /// Number of bytes; 64 for a flush.
    pub size: u16,
}

impl Access {
    /// Packs the access into a word: instruction, kind, size, 16 bits each, and zeros.
    #[must_use]
    pub fn pack(self) -> u64 {
        u64::from(self.instruction) | (self.kind as u64) << 16 | u64::from(self.size) << 32
    }

    /// Unpacks a word of a block's definition; `None` if it is invalid.
    #[must_use]
    pub fn unpack(word: u64) -> Option<Access> {
        let kind = match (word >> 16 & 0xffff) as usize {
            number if number == AccessKind::LoadSeen as usize => AccessKind::LoadSeen,
            number => *AccessKind::ALL.get(number)?,
        };
        (word >> 48 == 0).then_some(Access {
            instruction: word as u16,
            kind,
            size: (word >> 32) as u16,
        })
    }

    /// Number of its words in a trace, with the address.
    #[must_use]
    pub fn words(self) -> usize {
        let values = self.value_words();
        match self.kind {
            AccessKind::Atomic => 1 + 2 * values + 1,
            AccessKind::LoadSeen => 1 + SEEN_WORDS,
            _ => 1 + values,
        }
    }

    /// Number of words of its recorded new bytes, with the mask of a masked store.
    #[must_use]
    pub fn value_words(self) -> usize {
        match self.kind.writes() && self.size <= VALUE_BYTES {
            true => usize::from(self.size.div_ceil(8)) + usize::from(self.kind.is_masked()),
            false => 0,
        }
    }
}

/// An access to persistent memory that only one thread at a time could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The position of its address among the words of the trace; for a collector that has found it, the access of its block.
    pub at: u16,
    /// A ticket, later than those of all earlier accesses to its lines; zero while no other thread has accessed them.
    pub ticket: u64,
    /// Whether no other thread can have come in between.
    pub is_sure: bool,
}

impl Passed {
    /// Packs it into a word: position, 16 bits; whether it is not sure; ticket.
    #[must_use]
    pub fn pack(self) -> u64 {
        u64::from(self.at) | u64::from(!self.is_sure) << 16 | self.ticket << 17
    }

    /// Unpacks a word.
    #[must_use]
    pub fn unpack(word: u64) -> Passed {
        Passed {
            at: word as u16,
            is_sure: word >> 16 & 1 == 0,
            ticket: word >> 17,
        }
    }
}

/// A control word of a trace: a kind (bits 56 to 62) and a payload (bits 0 to 55).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Control {
    /// The block of this number executes.
    Block = 0,
    /// Only this many instructions of the previous block executed.
    Cut = 1,
    /// A system call of this number starts. One word follows: a ticket.
    Syscall = 2,
    /// The system call has returned (the payload is its number). Two words follow: its result and a ticket.
    Returned = 3,
    /// `futex` (system call) is about to wait or to wake. It follows [`Control::Syscall`]. One word follows: the
    /// address. The payload is 0 for a wait, 1 for a wake.
    Futex = 4,
    /// A system call (`msync`, `fsync`, `sync`) made persistent memory durable. Two words follow: start and bytes.
    Sync = 5,
}

impl Control {
    /// As a word.
    #[must_use]
    pub const fn word(self, payload: u64) -> u64 {
        CONTROL | (self as u64) << 56 | payload & ((1 << 56) - 1)
    }

    /// Decodes a control word; `None` for any other word.
    #[must_use]
    pub fn of(word: u64) -> Option<(Control, u64)> {
        if word & CONTROL == 0 {
            return None;
        }
        let kind = match word >> 56 & 0x7f {
            0 => Control::Block,
            1 => Control::Cut,
            2 => Control::Syscall,
            3 => Control::Returned,
            4 => Control::Futex,
            5 => Control::Sync,
            _ => return None,
        };
        Some((kind, word & ((1 << 56) - 1)))
    }
}

/// Markers: `nop DWORD PTR [rax + MARKER + code]` (`0f 1f 80` and 32 bits of displacement), an instruction without
/// effect. A program uses them to mark its structure. Any other multi-byte `nop` is no marker.
pub const MARKER: u32 = 0x5354_5200;

/// The displacement of the `nop` at which the heap library asks the recorder, by `rax`, whether it is to give persistent
/// memory. No program has it.
pub const HEAP_ASKS: u32 = MARKER + 0x80;

/// The meaning of a marker; its number is added to [`MARKER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Marker {
    /// A task begins.
    TaskBegin = 1,
    /// The task has ended.
    TaskEnd = 2,
    /// All earlier writes of this thread are durable (replaces the fence before it).
    Durable = 3,
    /// Earlier writes of this thread persist before its later writes.
    Order = 4,
    /// A new strand begins.
    NewStrand = 5,
    /// A lock or another synchronisation variable was acquired: by the thread's last load or locked instruction.
    Acquire = 6,
    /// A lock or another synchronisation variable is about to be released: by the thread's next store or locked instruction.
    Release = 7,
    /// The region to record begins (`--from marker`).
    RegionBegin = 8,
    /// The region to record has ended.
    RegionEnd = 9,
    /// The operating system is about to move or replace this thread.
    ContextSwitch = 10,
    /// A device is about to read or write memory.
    Dma = 11,
    /// A hardware transaction (`xbegin`) that commits begins. The recorder writes it.
    TransactionBegin = 12,
    /// It commits: its stores become visible at once. The recorder writes it.
    TransactionEnd = 13,
}

impl Marker {
    /// All markers.
    pub const ALL: [Marker; 13] = [
        Marker::TaskBegin,
        Marker::TaskEnd,
        Marker::Durable,
        Marker::Order,
        Marker::NewStrand,
        Marker::Acquire,
        Marker::Release,
        Marker::RegionBegin,
        Marker::RegionEnd,
        Marker::ContextSwitch,
        Marker::Dma,
        Marker::TransactionBegin,
        Marker::TransactionEnd,
    ];

    /// The marker with this displacement of a `nop`, if any.
    #[must_use]
    pub fn of(displacement: u32) -> Option<Marker> {
        let code = displacement.checked_sub(MARKER)?;
        Marker::ALL.into_iter().find(|marker| *marker as u32 == code)
    }

    /// Whether programs write it, not the recorder alone.
    #[must_use]
    pub fn is_of_programs(self) -> bool {
        !matches!(self, Marker::TransactionBegin | Marker::TransactionEnd)
    }

    /// The displacement of its `nop`.
    #[must_use]
    pub const fn displacement(self) -> u32 {
        MARKER + self as u32
    }
}
