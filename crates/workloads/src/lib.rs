//! The benchmark programs, one file each: the structure, its operations, its invariant.
//!
//! Each runs on any [`strandline_isa::Cpu`]. [`with_workload`] is where a name becomes a type.

mod registry;
pub mod sps;

pub use registry::{describe, names, with_workload, About, Error, Visitor};
