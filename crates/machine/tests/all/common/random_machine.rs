//! Random machines.

use strandline_kernel::{Cycles, Rng};
use strandline_machine::config::{Coherence, Consistency, DecodeEnd, Prediction};
use strandline_machine::MachineConfig;

/// A machine with small queues, other interconnects and orders, and now and then shaken.
pub fn random_machine(rng: &mut Rng) -> MachineConfig {
    let presets = ["cosplay", "strandweaver", "dpo", "asap"];
    let mut m = MachineConfig::preset(presets[rng.below(4) as usize]).expect("a preset");
    let small = |rng: &mut Rng, most: u64| 1 + rng.below(most);
    m.core.rob_entries = 4 + rng.below(60);
    m.core.load_queue_entries = small(rng, 16);
    m.core.store_queue_entries = small(rng, 12);
    m.core.writeback_buffer_entries = small(rng, 6);
    m.core.write_combining_buffers = small(rng, 3);
    m.core.consistency = [Consistency::Tso, Consistency::Weak][rng.below(2) as usize];
    m.core.lock_orders_flushes = rng.one_in(2);
    m.core.store_prefetch = rng.one_in(2);
    m.core.clwb_keeps_ownership = rng.one_in(2);
    m.interconnect.coherence = [Coherence::Directory, Coherence::Snoop][rng.below(2) as usize];
    m.controllers.count = small(rng, 3);
    m.controllers.interleave_bytes = 64;
    m.controllers.wpq_entries = small(rng, 4);
    m.controllers.bmo_latency = Cycles(rng.below(3) * 300);
    m.controllers.drain_high = rng.below(5);
    m.controllers.drain_low = rng.below(3);
    m.controllers.row_hits_first = rng.one_in(2);
    m.pm.banks = small(rng, 4);
    m.pm.exclusive_banks = rng.one_in(2);
    m.simulation.slack = Cycles([0, 64][rng.below(2) as usize]);
    m.simulation.jitter = Cycles([0, 500][rng.below(2) as usize]);
    m.simulation.evict_one_in = [0, 5][rng.below(2) as usize];
    // From a copy of the stream, so that the other values of a seed do not depend on these.
    let rng = &mut rng.clone();
    m.core.fetch_queue_entries = rng.below(3) * 8;
    m.core.issue_queue_entries = rng.below(3) * small(rng, 12);
    m.core.load_store_queue_entries = rng.below(3) * small(rng, 12);
    m.tlb.l1_ways = small(rng, 3);
    m.tlb.l1_entries = m.tlb.l1_ways * [0, 1, 4][rng.below(3) as usize];
    m.tlb.l2_ways = small(rng, 3);
    m.tlb.l2_entries = m.tlb.l2_ways * [0, 2, 8][rng.below(3) as usize];
    m.tlb.l2_latency = Cycles(rng.below(10));
    m.tlb.walk_cache_entries = rng.below(4);
    m.tlb.walkers = small(rng, 3);
    m.tlb.fault_latency = Cycles(rng.below(2) * 300);
    m.core.decode_queue_entries = rng.below(2) * small(rng, 12);
    m.core.alu_ports = rng.below(3);
    m.core.load_ports = rng.below(3);
    m.core.store_ports = rng.below(3);
    m.core.store_micro_ops = small(rng, 2);
    m.core.branch_ports = rng.below(3);
    m.core.store_drain_width = small(rng, 3);
    m.core.flush_interval = Cycles(rng.below(2) * 9);
    m.core.fences_retire = rng.one_in(2);
    m.core.locked_holds_loads = rng.one_in(2);
    m.core.flush_latency = Cycles(rng.below(2) * 30);
    m.core.memory_renaming = rng.one_in(2);
    m.core.decode_ends = if rng.one_in(2) {
        DecodeEnd::Block
    } else {
        DecodeEnd::Taken
    };
    m.core.prediction = if rng.one_in(2) {
        Prediction::Gshare
    } else {
        Prediction::Tage
    };
    if rng.one_in(4) && m.controllers.adr && m.pm.row_bytes + m.pm.combine_bytes == 0 {
        m.pm.exclusive_banks = false;
        (m.cxl.cache_ways, m.cxl.cache_page_bytes) = (small(rng, 2), 256);
        m.cxl.cache_bytes = m.cxl.cache_ways * 256 * small(rng, 2);
        m.cxl.cache_latency = Cycles(small(rng, 100));
    }
    m.core.loads_wait_for_addresses = rng.one_in(2);
    m.core.stores_retire_cached = rng.one_in(2);
    m
}
