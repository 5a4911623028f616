//! The workloads' tests: one binary, which links once.

mod common;
mod crash;
mod plain;
mod restart;
mod sites;
