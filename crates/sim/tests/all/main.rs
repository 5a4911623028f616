//! Tests of whole runs: one binary, which links once.

mod bbb;
mod hops;
mod native;
mod observe;
mod pace;
mod refused;
mod replay;
mod rooms;
mod strandweaver;
mod windows;
