//! The records of a `drmemtrace` trace: twelve bytes each.
//!
//! Numbers are those of DynamoRIO's `clients/drcachesim/common/trace_entry.h` (`trace_type_t`, `trace_marker_type_t`,
//! `offline_file_type_t`, trace versions 4 to 7).

/// Bytes of a record.
pub const ENTRY_BYTES: usize = 12;

/// A record: its kind, a small number and a large one whose meanings the kind says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number among the kinds ([`Kind::of`]).
    pub kind: u16,
    /// Bytes of an access, an instruction or an encoding; the kind of a marker.
    pub size: u16,
    /// An address, an encoding's bytes or a marker's value.
    pub value: u64,
}

impl Entry {
    /// From its bytes.
    pub fn parse(bytes: &[u8; ENTRY_BYTES]) -> Entry {
        let [k0, k1, s0, s1, value @ ..] = *bytes;
        Entry {
            kind: u16::from_le_bytes([k0, k1]),
            size: u16::from_le_bytes([s0, s1]),
            value: u64::from_le_bytes(value),
        }
    }
}

/// What a record is about, as far as an import tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A load of data.
    Read,
    /// A store of data.
    Write,
    /// A hint that does nothing to memory: prefetches of all sorts.
    Hint,
    /// A line of data is flushed.
    Flush,
    /// An instruction that goes on to the next one.
    Plain,
    /// A jump, call or return.
    Branch,
    /// Another iteration of a string instruction.
    Again,
    /// An instruction of either of these, told apart by its address.
    MaybeAgain,
    /// Bytes of the next instruction's encoding.
    Encoding,
    /// Metadata ([`Marker`]).
    Marker,
    /// From here on this thread.
    Thread,
    /// The thread has ended.
    ThreadExit,
    /// From here on this process.
    Process,
    /// The file begins: the version.
    Header,
    /// The file ends.
    Footer,
}

/// The number of [`Kind::Header`], by which a file is known.
pub const HEADER: u16 = 25;

impl Kind {
    /// The kind of this number; `None` if a final trace of a single thread on x86 has none such.
    pub fn of(number: u16) -> Option<Kind> {
        Some(match number {
            0 => Kind::Read,
            1 => Kind::Write,
            2..=9 | 27 | 32..=46 => Kind::Hint,
            10 => Kind::Plain,
            11..=16 | 31 | 48 | 49 => Kind::Branch,
            20 => Kind::Flush,
            22 => Kind::Thread,
            23 => Kind::ThreadExit,
            24 => Kind::Process,
            HEADER => Kind::Header,
            26 => Kind::Footer,
            28 => Kind::Marker,
            29 => Kind::Again,
            30 => Kind::MaybeAgain,
            47 => Kind::Encoding,
            _ => return None,
        })
    }
}

/// What a marker says, as far as an import needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A signal's handler begins or ends, or a restartable sequence is aborted: what follows is elsewhere.
    Transfer,
    /// The time, in microseconds.
    Time,
    /// What the trace holds ([`holds`]).
    FileType,
    /// The version.
    Version,
    /// Another window of the trace begins.
    Window,
    /// The system call of this number is about to be made.
    Syscall,
    /// Code of the kernel follows.
    KernelBegins,
    /// It has ended.
    KernelEnds,
    /// Anything else.
    Other,
}

impl Marker {
    /// The marker of this number.
    pub fn of(number: u16) -> Marker {
        match number {
            0 | 1 | 13 => Marker::Transfer,
            2 => Marker::Time,
            9 => Marker::FileType,
            12 => Marker::Version,
            14 => Marker::Window,
            25 => Marker::Syscall,
            27 | 34 => Marker::KernelBegins,
            28 | 35 => Marker::KernelEnds,
            _ => Marker::Other,
        }
    }
}

/// Bits of the value of [`Marker::FileType`].
pub mod holds {
    /// Only some of the accesses: the others hit in a simulated cache while the program was traced.
    pub const FILTERED: u64 = 0x1 | 0x80 | 0x100;
    /// No accesses at all.
    pub const INSTRUCTIONS_ONLY: u64 = 0x4;
    /// A program of 64-bit ARM.
    pub const AARCH64: u64 = 0x8;
    /// A program of 32-bit ARM.
    pub const ARM32: u64 = 0x10;
    /// A program of 32-bit x86.
    pub const X86_32: u64 = 0x20;
    /// A program of x86-64.
    pub const X86_64: u64 = 0x40;
    /// The machine code of the instructions.
    pub const ENCODINGS: u64 = 0x200;
}

/// The first version that may have encodings.
pub const VERSION_ENCODINGS: u64 = 4;

/// The last version whose records are known.
pub const VERSION_KNOWN: u64 = 7;
