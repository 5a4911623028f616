//! What the machine allows a core, and how long operations take.

use crate::config::MachineConfig;
use strandline_isa::Alu;

/// What the machine allows a core.
pub struct Limits {
    pub queue_entries: usize,
    /// Entries that loads and stores share; 0: no such limit.
    pub shared_entries: u64,
    pub prefetches_stores: bool,
    /// A store is two micro-ops, its address and its data.
    pub splits_stores: bool,
    /// Loads wait until the addresses of older stores are known.
    pub waits_for_addresses: bool,
    /// A store retires once the L1 has its line.
    pub retires_cached: bool,
    /// Loads behind a locked instruction wait for it.
    pub holds_behind_locked: bool,
    /// Neighbouring stores to one line that leave the store queue in one cycle.
    pub drain_width: u64,
    /// Non-temporal stores are ordinary ones.
    pub nt_cached: bool,
    /// Store barriers reach the design.
    pub barriers: bool,
    pub latencies: Latencies,
}

impl Limits {
    /// Those of a machine.
    pub fn new(machine: &MachineConfig, nt_cached: bool, barriers: bool) -> Limits {
        let core = &machine.core;
        Limits {
            queue_entries: core.store_queue_entries as usize,
            shared_entries: core.load_store_queue_entries,
            prefetches_stores: core.store_prefetch,
            splits_stores: core.store_micro_ops == 2,
            waits_for_addresses: core.loads_wait_for_addresses,
            retires_cached: core.stores_retire_cached,
            holds_behind_locked: core.locked_holds_loads,
            drain_width: core.store_drain_width,
            nt_cached,
            barriers,
            latencies: Latencies {
                mul: core.mul_latency.0,
                div: core.div_latency.0,
                mispredict: core.mispredict_penalty.0,
                l1: machine.l1.latency.0,
                forwarding: if core.memory_renaming { 0 } else { machine.l1.latency.0 },
                drain_interval: core.store_drain_interval.0,
            },
        }
    }
}

/// Cycles that operations take.
pub struct Latencies {
    pub mul: u64,
    pub div: u64,
    pub mispredict: u64,
    pub l1: u64,
    /// From a store that has executed to a load of its bytes.
    pub forwarding: u64,
    pub drain_interval: u64,
}

impl Latencies {
    /// Of an ALU operation.
    #[inline(always)]
    pub fn of(&self, op: Alu) -> u64 {
        match op {
            Alu::Simple => 1,
            Alu::Mul => self.mul,
            Alu::Div => self.div,
        }
    }
}
