//! Tests of whole runs, in one binary that links once.

mod bbb;
mod contributing;
mod cosplay;
mod error;
mod hops;
mod keys;
mod laws;
mod native;
mod observe;
mod pace;
mod pmem_spec;
mod precision;
mod refused;
mod replay;
mod resolved;
mod rooms;
mod speculative;
mod start;
mod starts;
mod starving;
mod strandweaver;
mod think;
mod warm;
mod windows;
