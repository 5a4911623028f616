//! The registry: one line a design.

use crate::battery::{Bbb, Eadr};
use crate::coroutines::{cosplay, freeswitch, Sbatch};
use crate::dpo::Dpo;
use crate::epochs::{
    asap_ep, asap_frontier_ep, asap_frontier_rp, asap_frontier_strand, asap_rp, asap_strand, hops_ep, hops_rp,
};
use crate::lb_pp::LbPp;
use crate::plain::{Dccvap, NonAtomic, Unordered, Volatile, X86Pcommit, X86};
use crate::pmem_spec::PmemSpec;
use crate::speculative::Speculative;
use crate::strands::{NoPersistQueue, StrandWeaver};
use crate::switch::{device_buffer, dpd, pcs};
use std::collections::BTreeSet;
use strandline_design::{boxed, About, AnyDesign, Counter, Design};

macro_rules! registry {
    ($($name:literal => $design:expr,)*) => {
        /// The description of each registered design, in the order of the registry.
        #[must_use]
        pub fn abouts() -> Vec<About> {
            vec![$($design.about()),*]
        }

        /// The counters that single designs have ([`Design::own_counters`]), in the order of the registry. Each
        /// is there once, although designs of a family share them.
        #[must_use]
        pub fn own_counters_of_all() -> Vec<Counter> {
            let mut names = BTreeSet::new();
            let mut counters = [$($design.own_counters()),*].concat();
            counters.retain(|counter| names.insert(counter.name));
            counters
        }

        /// The design of this name; `None` if there is none.
        #[must_use]
        pub fn design(name: &str) -> Option<Box<AnyDesign>> {
            match name {
                $($name => Some(boxed($design)),)*
                _ => None,
            }
        }
    };
}

registry! {
    "x86" => X86,
    "x86-pcommit" => X86Pcommit::default(),
    "dccvap" => Dccvap::default(),
    "eadr" => Eadr,
    "bbb" => Bbb::default(),
    "cosplay" => cosplay(),
    "sbatch" => Sbatch,
    "freeswitch" => freeswitch(),
    "dpo" => Dpo::default(),
    "lb-pp" => LbPp::default(),
    "hops-ep" => hops_ep(),
    "hops-rp" => hops_rp(),
    "asap-ep" => asap_ep(),
    "asap-rp" => asap_rp(),
    "asap-strand" => asap_strand(),
    "asap-frontier-ep" => asap_frontier_ep(),
    "asap-frontier-rp" => asap_frontier_rp(),
    "asap-frontier-strand" => asap_frontier_strand(),
    "strandweaver" => StrandWeaver::default(),
    "no-persist-queue" => NoPersistQueue::default(),
    "pcs" => pcs(),
    "dpd" => dpd(),
    "device-buffer" => device_buffer(),
    "pmem-spec" => PmemSpec::default(),
    "sp" => Speculative::sp(),
    "sp-adr" => Speculative::sp_adr(),
    "unordered" => Unordered,
    "non-atomic" => NonAtomic,
    "volatile" => Volatile,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_is_found_under_its_own_name() {
        for about in abouts() {
            assert_eq!(design(about.name).map(|found| found.about().name), Some(about.name));
        }
        assert!(design("none-such").is_none());
    }
}
