//! Recorded programs: the file that holds one, what the recorder tells, replay, imports.

mod code;
mod collect;
mod error;
mod format;
mod import;
pub mod micro;
pub mod order;
mod ranges;
mod recording;
pub mod replay;
mod source;
pub mod states;

pub use collect::{collect, collect_to, Collected};
pub use error::RecordError;
pub use format::{Ending, Meta, Recording, Stream, TurnAt, WaitAt, Writer, FILE_VERSION};
pub use import::{drmemtrace, range_of, ImportOptions, Imported};
pub use recording::{Block, Event, Executed, FenceClass, Module, Origin, Region, Step, Thread, Totals, Turn};
pub use source::{Site, Source};
pub use strandline_capture::{Access, AccessKind, Marker, PAGE_BYTES};
