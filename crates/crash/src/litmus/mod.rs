//! Conformance: what a design shows of litmus tests and random programs, on many machines, against its model.

mod conform;
mod layout;
#[cfg(test)]
mod marked;
mod observe;
mod owners;
mod program;
mod random;
mod subject;
mod timing;

pub use conform::{conform, Conformance, Violation};
pub use random::{random, RandomReport, RandomViolation};
pub use subject::{Registered, Sets, Subject};
