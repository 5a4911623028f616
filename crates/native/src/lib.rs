//! The workloads as native programs: the source that the simulator runs, compiled for the machine at hand.
//!
//! Loads, stores, locked instructions, `clwb` and `sfence` are real, on a mapping of DRAM and one of persistent memory; threads
//! are the operating system's. Tasks and the timed region are marked ([`strandline_capture::Marker`]), so that a recording of
//! such a program can be held against the simulator's own run of the same source.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod args;
mod count;
mod cpu;
mod modes;
mod real;
mod run;
mod source;

pub use args::{Args, USAGE};
pub use count::Counts;
pub use modes::Mode;
pub use run::{run, Error, Ran};
