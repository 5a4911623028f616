//! The designs. A design's behaviour is in its family's folder; no family uses another, and shared
//! code is in [`parts`].

mod battery;
mod coroutines;
mod dpo;
mod epochs;
mod lb_pp;
#[cfg(test)]
mod mock;
mod parts;
mod plain;
mod pmem_spec;
mod registry;
mod speculative;
mod strands;

pub use battery::Bbb;
pub use coroutines::{cosplay, Cosplay};
pub use epochs::hops_ep;
pub use plain::X86;
pub use registry::{abouts, design, own_counters_of_all};
pub use strands::{NoPersistQueue, Operation, StrandWeaver};
