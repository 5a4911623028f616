//! Crash states of simulated runs. Power fails directly after each event that changes what is durable. Recovery runs on
//! the durable memory, and the result is judged.
//!
//! A recovered state is right if the structure's invariant holds, every acknowledged failure-atomic region is present,
//! and each other started region is present completely or not at all. A failure is shrunk to a small case that can be
//! reproduced.

mod case;
mod explore;
mod judge;
pub mod litmus;
pub mod recorded;

pub use case::{Case, Edge, Event, Order, Reading};
pub use explore::points::Points;
pub use explore::replay::command;
pub use explore::report::{Failure, Report};
pub use explore::request::{run, Request};
pub use explore::run::Observe;
pub use explore::until::{Stop, Until};
pub use explore::{explore, explore_until, explore_with, first_failure, replay};
pub use judge::fault::FaultKind;
pub use judge::reads::PostCrashStep;
