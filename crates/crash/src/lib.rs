//! Crash states of simulated runs. Power fails directly after each event that changes what is durable. Recovery runs on
//! the durable memory, and the result is judged.
//!
//! A recovered state is right if the structure's invariant holds, every acknowledged failure-atomic region is present,
//! and each other started region is present completely or not at all. A failure is shrunk to a small case that can be
//! reproduced.

mod corners;
mod explore;
mod fault;
mod image;
pub mod litmus;
mod order;
mod points;
mod quick;
pub mod recorded;
mod regions;
mod replay;
mod report;
mod request;
mod run;
mod shake;
mod shrink;
mod sizes;
mod until;
mod verdict;
mod walk;

pub use explore::{explore, explore_until, explore_with, first_failure, replay};
pub use fault::Kind;
pub use points::Points;
pub use replay::command;
pub use report::{Failure, Report};
pub use request::{run, Request};
pub use run::Observe;
pub use until::{Stop, Until};
