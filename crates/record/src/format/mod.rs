//! The file that holds a recording: blocks with checksums, compressed, one after the other; the last one is the index.
//!
//! docs/recordings.md describes it to the byte.

mod bytes;
mod decode;
mod encode;
mod finish;
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

use crate::recording::{FenceClass, Turn};

/// How a recording begins.
pub(crate) const MAGIC: [u8; 8] = *b"strandrc";

/// How it ends.
pub(crate) const END: [u8; 8] = *b"strandED";

/// The version of the file that is written, and the only one that is read.
pub const FILE_VERSION: u32 = 1;

/// Bytes before the first block: magic, version, zeros.
pub(crate) const PREFIX_BYTES: u64 = 16;

/// Bytes after the last block: the place of the index, and [`END`].
pub(crate) const SUFFIX_BYTES: u64 = 16;

/// The most bytes of a block's content, before compression.
pub(crate) const MAX_RAW: usize = 32 << 20;

/// The most accesses of a block of code.
pub(crate) const MAX_ACCESSES: usize = 1 << 12;

/// The most threads of a recording.
pub(crate) const MAX_THREADS: u32 = 1 << 16;

/// What is known of a recording only when it ends.
///
/// Each list has an entry a thread; threads after its end have none of it (their fences are idle).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The program's exit status as the shell counts it.
    pub status: u64,
    /// What the user should know of the recording, each in a line.
    pub warnings: Vec<String>,
    /// Turns, in the order of steps and accesses.
    pub turns: Vec<Vec<TurnAt>>,
    /// Waits that were not known when their step was written, in the order of steps.
    pub waits: Vec<Vec<WaitAt>>,
    /// What the executed fences are, in order.
    pub fences: Vec<Vec<FenceClass>>,
}

/// A turn and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnAt {
    /// The step: how many steps were written for the thread before ([`Writer::steps`]).
    pub step: u64,
    /// The turn.
    pub turn: Turn,
}

/// A wait ([`crate::Event::Wait`]) and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitAt {
    /// Before this step: how many steps were written for the thread before ([`Writer::steps`]).
    pub step: u64,
    /// For which signal.
    pub number: u32,
    /// How often it must have been given.
    pub times: u32,
}
