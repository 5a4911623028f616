//! The designs. A design's behaviour is in its family's folder; no family uses another, and what two of them use is in [`parts`].

mod battery;
mod coroutines;
mod epochs;
mod parts;
mod plain;
mod registry;
mod strands;

pub use battery::{Bbb, Eadr};
pub use coroutines::{cosplay, freeswitch, Cosplay, Sbatch};
pub use epochs::{asap_ep, asap_rp, asap_strand, hops_ep, hops_rp};
pub use plain::{NonAtomic, Unordered, Volatile, X86Pcommit, X86};
pub use registry::{abouts, design};
pub use strands::{NoPersistQueue, Operation, StrandWeaver};
