//! The file of a recording: compressed blocks with checksums; the last one is the index.
//!
//! docs/recording-format.md describes it to the byte.

mod bytes;
mod decode;
mod encode;
mod finish;
mod lines;
mod model;
mod output;
mod pages;
mod reader;
mod seal;
mod shapes;
mod source;
mod stream;
mod summary;
mod sync;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::Recording;
pub(crate) use shapes::check;
pub use stream::Stream;
pub use writer::Writer;

use crate::lines::Lines;
use crate::recording::{FenceClass, Link, Turn};

/// How a recording begins.
pub(crate) const MAGIC: [u8; 8] = *b"strandrc";

/// How it ends.
pub(crate) const END: [u8; 8] = *b"strandED";

/// The version of written files.
pub const FILE_VERSION: u32 = 2;

/// The versions that can be read. The first has no links.
pub(crate) const READ_VERSIONS: std::ops::RangeInclusive<u32> = 1..=FILE_VERSION;

/// Bytes before the first block: magic, version, zeros.
pub(crate) const PREFIX_BYTES: u64 = 16;

/// Bytes after the last block: the offset of the index, and [`END`].
pub(crate) const SUFFIX_BYTES: u64 = 16;

/// Maximum number of bytes of a block's content, before compression.
pub(crate) const MAX_RAW: usize = 32 << 20;

/// Maximum number of accesses of a block of code.
pub(crate) const MAX_ACCESSES: usize = 1 << 12;

/// Maximum number of threads of a recording.
pub(crate) const MAX_THREADS: u32 = 1 << 16;

/// Data that is known only at the end of a recording.
///
/// Each list has an entry per thread. Threads beyond its end have no items (and idle fences).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The program's exit status as the shell reports it.
    pub status: u64,
    /// Warnings for the user, one line each.
    pub warnings: Vec<String>,
    /// Turns, in the order of steps and accesses.
    pub turns: Vec<Vec<TurnAt>>,
    /// Links, in the order of steps and accesses.
    pub links: Vec<Vec<LinkAt>>,
    /// Waits that were unknown when their step was written, in the order of steps.
    pub waits: Vec<Vec<WaitAt>>,
    /// The classes of the executed fences, in order.
    pub fences: Vec<Vec<FenceClass>>,
    /// The places in the source of instructions.
    pub lines: Lines,
}

/// A turn and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnAt {
    /// The step: the number of earlier steps of the thread ([`Writer::steps`]).
    pub step: u64,
    /// The turn.
    pub turn: Turn,
}

/// A link and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkAt {
    /// The step: the number of earlier steps of the thread ([`Writer::steps`]).
    pub step: u64,
    /// The link.
    pub link: Link,
}

/// A wait ([`crate::Event::Wait`]) and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitAt {
    /// Before this step: the number of earlier steps of the thread ([`Writer::steps`]).
    pub step: u64,
    /// For which signal.
    pub number: u32,
    /// How often the signal must have been given.
    pub times: u32,
}
