//! Recorded programs: the file that holds one, what the recorder tells, replay, imports.

pub mod code;
mod recording;

pub use recording::{Block, Event, Executed, FenceClass, Module, Origin, Region, Step, Thread, Totals, Turn};
pub use strandline_capture::{Access, AccessKind, Marker};
