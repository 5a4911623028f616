//! Designs whose programs are coroutines that share a core (COSPlay, MICRO 2021).

mod by_context;
mod contexts;
mod cosplay;
mod freeswitch;
mod sbatch;

pub use by_context::ByContext as Cosplay;
pub use cosplay::cosplay;
pub use freeswitch::freeswitch;
pub use sbatch::Sbatch;
