//! Memory controllers and media.

mod controller;
mod device_cache;
mod dram;
mod media;
mod tails;
mod writes;

pub use controller::{Controller, Issued};
pub use dram::Dram;
pub use media::BankId;
pub use writes::{Origin, Waiting, Writes};
