//! The designs. A design's behaviour is in its family's folder; no family uses another, and shared
//! code is in `parts`.

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
mod switch;

/// The rules of each family that tests break.
pub mod rules {
    pub use crate::dpo::rules::Rule as Dpo;
    pub use crate::epochs::rules::Rule as Epochs;
    pub use crate::lb_pp::rules::Rule as LbPp;
    pub use crate::parts::rules::Rule as Parts;
    pub use crate::plain::rules::Rule as Plain;
    pub use crate::pmem_spec::rules::Rule as PmemSpec;
    pub use crate::speculative::rules::Rule as Speculative;
    pub use crate::strands::rules::Rule as Strands;
    pub use crate::switch::rules::Rule as Switch;
    use strandline_rules::Breakable;

    /// Those of all families.
    pub const ALL: [&[Breakable]; 9] = [
        Dpo::ALL,
        Epochs::ALL,
        LbPp::ALL,
        Parts::ALL,
        Plain::ALL,
        PmemSpec::ALL,
        Speculative::ALL,
        Strands::ALL,
        Switch::ALL,
    ];
}

pub use battery::Bbb;
pub use coroutines::{cosplay, Cosplay};
pub use epochs::hops_ep;
pub use plain::X86;
pub use registry::{abouts, design, own_counters_of_all};
pub use strands::{NoPersistQueue, Operation, StrandWeaver};
