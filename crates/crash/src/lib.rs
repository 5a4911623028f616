//! Crash states of simulated runs: power fails right after each event that changes what is durable, recovery runs on
//! what is left, and the result is judged.
//!
//! A recovered state is right if the structure's invariant holds, if every acknowledged failure-atomic region is there,
//! and if of each region under way all or nothing is. What fails is shrunk to a small case that can be replayed.

mod corners;
mod explore;
mod fault;
mod image;
pub mod litmus;
mod order;
mod points;
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

pub use explore::{explore, explore_until, explore_with, first_failure, recovers, replay};
pub use fault::Kind;
pub use points::Points;
pub use replay::command;
pub use report::{Failure, Report};
pub use request::{run, Request};
pub use run::Observe;
pub use until::{Stop, Until};
