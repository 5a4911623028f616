//! Conformance: the states of litmus tests and random programs that a design reaches on many machines, judged by its
//! model.

mod conform;
mod describe;
mod layout;
#[cfg(test)]
mod marked;
mod moving;
mod observe;
mod owners;
mod program;
mod random;
mod registers;
mod subject;
mod timeline;
mod timing;
mod varied;

pub use conform::{conform, Conformance, StuckRun, UnderModel, Violation};
pub use observe::{HOST_SEEDS, MOVING_SEEDS, PLAIN_SEEDS};
pub use random::{aimed, first_failure, random, RandomReport, RandomViolation};
pub use subject::{Registered, Sets, Subject};
pub use timeline::{timeline, Drawn, Ran};
