//! Memory controllers and media.

mod controller;
mod dram;
mod media;
mod writes;

pub use controller::Controller;
pub use dram::Dram;
pub use writes::{Origin, Waiting, Writes};
