//! The whole machine with a design in it, running programs.

mod access;
mod drain;
mod events;
mod flush;
mod hardware;
mod look;
mod requests;
mod run;
mod services;
mod stuck;

pub use look::{CoreView, Flushing, Joined, Queued};
pub use run::{Heartbeat, Options, Outcome, Program, System};
pub use stuck::Stuck;
