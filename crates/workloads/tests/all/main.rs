//! The workloads' tests, in one binary that links once.

mod applications;
mod atlas;
mod common;
mod crash;
mod filling;
mod incremental;
mod maps;
mod plain;
mod restart;
mod sites;
mod wal;
