//! The presets against the papers' tables, converted to cycles by hand.

use strandline_kernel::Cycles;
use strandline_machine::config::{Coherence, Consistency};
use strandline_machine::{paper_preset_names, preset_names, MachineConfig};

/// Memory behind CXL, on the machine of all designs.
const CXL: &[&str] = &["cxl-asic", "cxl-fpga", "cxl-switch", "cmm-h"];

fn preset(name: &str) -> MachineConfig {
    MachineConfig::preset(name).unwrap_or_else(|| panic!("{name} is a preset"))
}

#[test]
fn every_preset_is_valid_and_says_where_each_value_is_from() {
    let papers = ["cosplay", "strandweaver", "dpo", "asap", "sp"];
    assert_eq!(paper_preset_names(), papers);
    assert_eq!(preset_names(), [&papers[..], &["common", "zen4"], CXL].concat());
    for name in preset_names() {
        let machine = preset(name);
        assert_eq!(machine.name, name);
        assert_eq!(machine.validate(), Ok(()), "{name}");
        assert!(!machine.paper.is_empty() && !machine.summary.is_empty(), "{name}");
        for parameter in machine.describe() {
            let known = ["Table", "section", "not in the paper: "]
                .iter()
                .any(|start| parameter.source.starts_with(start));
            assert!(known, "{name}: {} is from \"{}\"", parameter.key, parameter.source);
        }
    }
}

#[test]
fn only_a_presets_name_is_a_preset() {
    assert_eq!(MachineConfig::preset("cosplays"), None);
}

#[test]
fn cosplay_is_table_2() {
    let machine = preset("cosplay");
    let core = &machine.core;
    assert_eq!((core.clock_ghz, core.dispatch_width, core.retire_width), (2.2, 4, 4));
    assert_eq!(
        (
            core.rob_entries,
            core.store_queue_entries,
            core.writeback_buffer_entries
        ),
        (224, 56, 32)
    );
    assert_eq!((core.consistency, core.lock_orders_flushes), (Consistency::Tso, false));
    assert_eq!(
        (machine.l1.bytes, machine.l1.ways, machine.l1.latency),
        (32_768, 8, Cycles(4))
    );
    let l2 = machine.l2.as_ref().expect("Table 2 has an L2");
    assert_eq!((l2.bytes, l2.ways, l2.latency), (1_048_576, 16, Cycles(10)));
    assert_eq!(
        (machine.llc.bytes, machine.llc.ways, machine.llc.latency),
        (16_777_216, 16, Cycles(30))
    );
    assert_eq!(machine.interconnect.hop_latency, Cycles(8));
    assert!(machine.controllers.adr);
    assert_eq!(
        (machine.pm.read_latency, machine.pm.write_to_controller),
        (Cycles(600), Cycles(200))
    );
    // 500 ns at 2.2 GHz.
    assert_eq!(machine.pm.write_latency, Cycles(1100));
    // 64 bytes at 4 GB/s are 16 ns = 35.2 cycles, at 2 GB/s 32 ns = 70.4 cycles.
    assert_eq!(machine.pm.read_line_cycles(core), Cycles(35));
    assert_eq!(machine.pm.write_line_cycles(core), Cycles(70));
    assert_eq!((machine.cores, machine.simulation.slack), (0, Cycles(64)));
}

#[test]
fn strandweaver_is_table_i() {
    let machine = preset("strandweaver");
    let core = &machine.core;
    assert_eq!((core.clock_ghz, core.dispatch_width, core.retire_width), (2.0, 6, 8));
    assert_eq!(
        (core.rob_entries, core.load_queue_entries, core.store_queue_entries),
        (224, 72, 64)
    );
    assert!(core.lock_orders_flushes);
    assert_eq!(
        (machine.l1.bytes, machine.l1.ways, machine.l1.mshrs, machine.l1.latency),
        (32_768, 2, 6, Cycles(4))
    );
    assert_eq!(machine.l2, None);
    assert_eq!(
        (machine.llc.bytes, machine.llc.mshrs, machine.llc.latency),
        (29_360_128, 16, Cycles(32))
    );
    assert_eq!(
        (machine.controllers.wpq_entries, machine.controllers.read_queue_entries),
        (64, 32)
    );
    // 346, 96 and 500 ns at 2 GHz.
    assert_eq!(machine.pm.read_latency, Cycles(692));
    assert_eq!(machine.pm.write_to_controller, Cycles(192));
    assert_eq!(machine.pm.write_latency, Cycles(1000));
    assert_eq!(machine.pm.row_bytes, 1024);
}

#[test]
fn dpo_is_table_ii_with_pcm() {
    let machine = preset("dpo");
    let core = &machine.core;
    // Of the 6 that are dispatched a cycle 3 are renamed.
    assert_eq!((core.dispatch_width, core.retire_width), (3, 8));
    assert_eq!(
        (core.rob_entries, core.load_queue_entries, core.store_queue_entries),
        (40, 16, 16)
    );
    assert_eq!(core.consistency, Consistency::Weak);
    assert_eq!(machine.interconnect.coherence, Coherence::Snoop);
    assert_eq!(
        (machine.l1.bytes, machine.l1.ways, machine.l1.mshrs, machine.l1.latency),
        (65_536, 4, 6, Cycles(4))
    );
    assert_eq!(
        (machine.llc.bytes, machine.llc.latency, &machine.l2),
        (8_388_608, Cycles(32), &None)
    );
    assert!(!machine.controllers.adr);
    // DDR3 at 800 MHz moves 64 bytes in 5 ns.
    assert_eq!(machine.dram.line_cycles(core), Cycles(10));
}

#[test]
fn dpos_memories_are_pcm_dram_and_a_persistent_write_queue() {
    let timings = |media: &str| {
        let mut machine = preset("dpo");
        machine.set("media", media).expect("one of its memories");
        machine.validate().expect("they go together");
        let pm = &machine.pm;
        let line = pm.write_line_cycles(&machine.core);
        let rows = [
            pm.read_latency,
            pm.row_hit_latency,
            pm.write_latency,
            pm.row_hit_write_latency,
        ];
        (machine.controllers.adr, rows.map(|cycles| cycles.0), line.0)
    };
    // At 2 GHz: reads 55 + 12.5 + 7.5 + 20 ns, and 40 ns of an open row; writes 55 + 10 + 7.5 + 150 ns, and 17.5 ns;
    // 64 bytes at 8.5 GB/s.
    assert_eq!(timings("pcm"), (false, [190, 80, 445, 35], 15));
    assert_eq!(timings("pwq"), (true, [190, 80, 445, 35], 15));
    // Reads 13.75 * 2 + 5 + 20 ns, and 39 ns; writes 13.75 * 3 + 5 + 15 ns, and 18.75 ns; 64 bytes at 12.8 GB/s.
    assert_eq!(timings("dram"), (false, [106, 78, 123, 38], 10));
}

#[test]
fn reads_go_first_at_dpos_controller_alone() {
    for name in preset_names() {
        let machine = preset(name);
        let gem5s = name == "dpo";
        assert_eq!(machine.pm.exclusive_banks, gem5s || name == "sp", "{name}");
        assert_eq!(machine.controllers.row_hits_first, gem5s, "{name}");
        assert_eq!(machine.core.clwb_keeps_ownership, !gem5s, "{name}");
    }
    let controllers = preset("dpo").controllers;
    // 85 % and 50 % of 64.
    assert_eq!((controllers.drain_high, controllers.drain_low), (54, 32));
}

/// The core's queues in front, its ports, and what it does with stores, of each machine that is another's: a paper's simulator, or a processor.
#[test]
fn cores_have_the_limits_of_what_they_stand_for() {
    let of_a_kind = |name: &&str| *name != "common" && !CXL.contains(name);
    for name in preset_names().into_iter().filter(of_a_kind) {
        let core = preset(name).core;
        let queues = [
            core.fetch_queue_entries,
            core.decode_queue_entries,
            core.issue_queue_entries,
            core.load_store_queue_entries,
        ];
        let ports = [core.alu_ports, core.load_ports, core.store_ports];
        let stores = (
            core.store_micro_ops,
            core.loads_wait_for_addresses,
            core.stores_retire_cached,
        );
        // What a processor was found to have, and no paper's simulator has.
        let measured = [core.fences_retire, core.memory_renaming, !core.locked_holds_loads];
        assert_eq!(measured, [name == "zen4"; 3], "{name}");
        let known = match name {
            "cosplay" => ([0, 28, 36, 0], [3, 1, 1], (2, true, true)),
            "strandweaver" | "asap" => ([32, 0, 64, 0], [6, 4, 4], (1, false, false)),
            "dpo" => ([0, 0, 32, 0], [0; 3], (1, false, false)),
            "sp" => ([48, 0, 48, 0], [0; 3], (1, false, false)),
            _ => ([0, 63, 96, 0], [4, 3, 2], (1, false, false)),
        };
        assert_eq!((queues, ports, stores), known, "{name}");
    }
}

/// The core is that of AMD's optimization guide for Zen 4, as LLVM's model quotes it: sections 2.6.2 (the L1's
/// latency), 2.8 (mispredictions), 2.9.8 (dispatch), 2.10 (reorder buffer), 2.12 (stores). Caches and TLBs are those of
/// public articles, which the preset names.
#[test]
fn zen4_is_its_sources() {
    let machine = preset("zen4");
    let core = &machine.core;
    assert_eq!(
        (core.dispatch_width, core.rob_entries, core.store_queue_entries),
        (6, 320, 64)
    );
    assert_eq!((core.mispredict_penalty, core.mul_latency), (Cycles(13), Cycles(3)));
    assert_eq!(
        (machine.l1.bytes, machine.l1.ways, machine.l1.latency),
        (32_768, 8, Cycles(4))
    );
    let l2 = machine.l2.as_ref().expect("it has an L2");
    // Load-to-use 14 cycles.
    assert_eq!(
        (l2.bytes, l2.ways, machine.l1.latency + l2.latency),
        (1_048_576, 8, Cycles(14))
    );
    // Load-to-use 50 cycles, with two traversals.
    let hops = machine.interconnect.hop_latency + machine.interconnect.hop_latency;
    assert_eq!(machine.l1.latency + l2.latency + machine.llc.latency + hops, Cycles(50));
    assert_eq!((machine.tlb.l1_entries, machine.tlb.l2_entries), (72, 3072));
}

#[test]
fn asap_is_table_ii() {
    let machine = preset("asap");
    assert_eq!((machine.core.dispatch_width, machine.core.clock_ghz), (8, 2.0));
    assert_eq!(
        (machine.l1.bytes, machine.l1.ways, machine.l1.latency),
        (32_768, 8, Cycles(2))
    );
    let l2 = machine.l2.as_ref().expect("Table II has an L2");
    assert_eq!((l2.bytes, l2.ways, l2.latency), (2_097_152, 8, Cycles(20)));
    assert_eq!((machine.llc.bytes, machine.llc.ways), (16_777_216, 16));
    let controllers = &machine.controllers;
    assert_eq!(
        (controllers.count, controllers.interleave_bytes, controllers.wpq_entries),
        (2, 4096, 16)
    );
    // 175, 90 and 60 ns at 2 GHz.
    assert_eq!(machine.pm.read_latency, Cycles(350));
    assert_eq!(machine.pm.write_latency, Cycles(180));
    assert_eq!(machine.pm.write_to_controller, Cycles(120));
    assert_eq!(machine.pm.combine_bytes, 64);
}

#[test]
fn sp_is_table_2() {
    let machine = preset("sp");
    let core = &machine.core;
    assert_eq!((core.clock_ghz, core.dispatch_width, core.rob_entries), (2.1, 4, 128));
    let (fetch, issue) = (core.fetch_queue_entries, core.issue_queue_entries);
    assert_eq!((fetch, issue), (48, 48));
    // MARSSx86 reads the 48 of the table as those of each.
    assert_eq!((core.load_queue_entries, core.store_queue_entries), (48, 48));
    assert_eq!(
        (machine.l1.bytes, machine.l1.ways, machine.l1.latency),
        (32_768, 8, Cycles(2))
    );
    let l2 = machine.l2.as_ref().expect("Table 2 has an L2");
    assert_eq!((l2.bytes, l2.ways, l2.latency), (262_144, 8, Cycles(11)));
    assert_eq!(
        (machine.llc.bytes, machine.llc.ways, machine.llc.latency),
        (2_097_152, 16, Cycles(20))
    );
    assert!(!machine.controllers.adr);
    // 50 and 150 ns at 2.1 GHz.
    assert_eq!(
        (machine.pm.read_latency, machine.pm.write_latency),
        (Cycles(105), Cycles(315))
    );
}
