//! The benchmark programs, one file each: the structure, its operations, its invariant.
//!
//! Each runs on any [`strandline_isa::Cpu`]. [`with_workload`] is where a name becomes a type.

pub mod cq;
mod filler;
pub mod pc;
mod registry;
pub mod sps;
pub mod tatp;
pub mod tpcc;

pub use registry::{describe, names, with_workload, About, Alias, Error, Visitor};
