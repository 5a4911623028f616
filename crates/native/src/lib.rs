//! The workloads as native programs: the simulator's code, compiled for real memory.
//!
//! Loads, stores, locked instructions, `clwb` and `sfence` are real, on a mapping of DRAM and one of persistent memory.
//! Threads are the operating system's. Markers delimit tasks and the timed region ([`strandline_capture::Marker`]), so
//! that a recording of the program can be compared with the simulator's own run of the same source.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod args;
mod count;
mod cpu;
mod error;
mod judge;
mod modes;
mod real;
mod run;

pub use args::{Args, USAGE};
pub use count::Counts;
pub use error::Error;
pub use modes::Mode;
pub use run::{run, Ran};
