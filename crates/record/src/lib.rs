//! Recorded programs: the file format, the collector, replay.

mod brief;
mod code;
mod collect;
mod edits;
mod error;
mod format;
pub mod hosts;
mod lines;
pub mod micro;
pub mod order;
mod ranges;
mod recording;
pub mod replay;
mod shared;
mod source;
mod stack;
pub mod states;
mod symbols;
mod texts;

pub use collect::{collect, collect_to, Collected};
pub use edits::{Edit, Edits, Execution};
pub use error::RecordError;
pub use format::{Ending, LinkAt, Recording, Stream, TurnAt, WaitAt, Writer, FILE_VERSION};
pub use lines::{Lines, Place};
pub use recording::{
    Block, Event, Executed, FenceClass, Link, LinkEvent, Module, Region, Thread, ThreadStep, Totals, Turn,
};
pub use shared::SharedLines;
pub use source::{Site, Source};
pub use stack::At;
pub use strandline_capture::{Access, AccessKind, Marker, PAGE_BYTES};
pub use symbols::functions;
