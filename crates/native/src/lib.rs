//! The workloads as native programs: the simulator's source, compiled for the host.
//!
//! Loads, stores, locked instructions, `clwb` and `sfence` are real, on a mapping of DRAM and one of persistent memory.
//! Threads are the operating system's. Markers delimit tasks and the timed region ([`strandline_capture::Marker`]), so
//! that a recording of the program can be compared with the simulator's own run of the same source.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
// Unit tests are compiled without the workloads, which would take longer than everything else here.
#![cfg_attr(test, allow(dead_code, unused_imports))]

mod args;
mod count;
mod cpu;
mod error;
mod judge;
mod modes;
mod real;
#[cfg(not(test))]
mod run;
mod source;

pub use args::{Args, USAGE};
pub use count::Counts;
pub use error::Error;
pub use modes::Mode;
#[cfg(not(test))]
pub use run::{run, Ran};
