//! The designs, one file each. No design uses another; what two need lives in `strandline-design`.

mod asap;
mod bbb;
mod cosplay;
mod eadr;
mod freeswitch;
mod hops;
mod no_persist_queue;
mod non_atomic;
mod registry;
mod sbatch;
mod strandweaver;
mod unordered;
mod volatile;
mod x86;
mod x86_pcommit;

pub use asap::{asap_ep, asap_rp, asap_strand};
pub use bbb::Bbb;
pub use cosplay::cosplay;
pub use eadr::Eadr;
pub use freeswitch::freeswitch;
pub use hops::{hops_ep, hops_rp};
pub use no_persist_queue::NoPersistQueue;
pub use non_atomic::NonAtomic;
pub use registry::{abouts, design};
pub use sbatch::Sbatch;
pub use strandweaver::StrandWeaver;
pub use unordered::Unordered;
pub use volatile::Volatile;
pub use x86::X86;
pub use x86_pcommit::X86Pcommit;
