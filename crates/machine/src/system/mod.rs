//! The whole machine with a design in it, running programs.

mod access;
mod channel;
mod clock;
mod combining;
mod directory;
mod doze;
mod drain;
mod events;
mod flush;
mod hardware;
mod hosts;
mod look;
mod mutants;
mod precision;
mod program;
mod queue;
mod region;
mod requests;
mod reserve;
mod rollback;
mod run;
mod running;
mod services;
mod stop;
mod stuck;
mod turns;
mod waiters;
mod waiting;
mod walk;
mod writes;

pub use hosts::HostId;
pub use look::{CoreView, Flushing, Joined, Queued, What};
pub use precision::Precision;
pub use program::{factory, Body, Factory, Program};
pub use run::{Heartbeat, Options, Outcome, Remote, System};
pub use stuck::{Standstill, Stuck};
