//! Designs whose programs are coroutines that share a core (COSPlay, MICRO 2021).

mod contexts;
mod cosplay;
mod freeswitch;
mod sbatch;

pub use cosplay::{cosplay, Cosplay};
pub use freeswitch::freeswitch;
pub use sbatch::Sbatch;
