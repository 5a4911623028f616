//! One-instruction latencies and bandwidths, derived by hand from each preset.
//!
//! The arithmetic behind the expectations: an op dispatched in cycle `d` issues in `d + 1`; a store or flush has retired in
//! `d + 2` and may leave the store queue then, one a drain interval.

use crate::common::{preset, put, run_one, system, Plain};
use strandline_isa::{Cpu, Primitive, PM_BASE};
use strandline_machine::config::Coherence;
use strandline_machine::MachineConfig;

const PRESETS: [&str; 5] = ["cosplay", "strandweaver", "dpo", "asap", "sp"];

/// Cycles a round of `rounds` equal rounds after the start line, before which the lines are stored to and flushed.
fn cycles_a_round(machine: &MachineConfig, lines: u64, rounds: u64, flushes_a_round: u64) -> u64 {
    let outcome = run_one(machine, 1 << 17, move |cpu| {
        for line in 0..lines {
            let address = cpu.word(PM_BASE + line * 64);
            address.store(cpu.word(1));
            address.flush();
        }
        cpu.primitive(Primitive::Mfence);
        cpu.start_line();
        let mut line = 0;
        for _ in 0..rounds {
            for _ in 0..flushes_a_round {
                let address = cpu.word(PM_BASE + line % lines * 64);
                address.store(cpu.word(2));
                address.flush();
                line += 1;
            }
            cpu.primitive(Primitive::Sfence);
        }
    });
    outcome.stats.cycles.0 / rounds
}

/// From the store's dispatch to the acknowledgement of its flush, when the next round's store is
/// dispatched.
fn round_trip(m: &MachineConfig) -> u64 {
    // A broadcast clwb looks up the shared cache too, and the flushed line's next store requests ownership there.
    let shared = 2 * m.interconnect.hop_latency.0 + m.llc.latency.0;
    let broadcast = match m.interconnect.coherence {
        Coherence::Snoop => shared,
        Coherence::Directory => 0,
    };
    let request = if m.core.clwb_keeps_ownership {
        0
    } else {
        m.l1.latency.0 + shared
    };
    let to_controller = m.pm.write_to_controller.0 + m.controllers.bmo_latency.0;
    // The data of a store of two micro-ops waits for the address; a store that waits for its line retires an access later.
    let second = m.core.store_micro_ops - 1;
    let retires = u64::from(m.core.stores_retire_cached) * m.l1.latency.0;
    2 + second + retires + request + m.core.store_drain_interval.0 + m.l1.latency.0 + broadcast + to_controller
}

#[test]
fn a_flush_and_a_fence_of_a_dirty_line_cost_the_way_to_the_controller() {
    for name in PRESETS {
        for bmo in [0, 700] {
            let mut machine = preset(name);
            machine.controllers.bmo_latency.0 = bmo;
            assert_eq!(
                cycles_a_round(&machine, 32, 200, 1),
                round_trip(&machine),
                "{name}, BMO {bmo}"
            );
        }
    }
}

#[test]
fn flushes_before_one_fence_overlap() {
    for name in PRESETS {
        let machine = preset(name);
        for n in [2u64, 4, 8] {
            // Each further store and flush leave the store queue one drain interval later each.
            let more = 2 * (n - 1) * machine.core.store_drain_interval.0;
            // The misses of stores that request ownership again.
            let requests = if machine.core.clwb_keeps_ownership {
                n
            } else {
                machine.l1.mshrs
            };
            let limits = [
                machine.core.writeback_buffer_entries,
                machine.core.store_queue_entries / 2,
                requests,
            ];
            if limits.iter().any(|l| n > *l) {
                continue;
            }
            assert_eq!(
                cycles_a_round(&machine, 32, 200, n),
                round_trip(&machine) + more,
                "{name}, {n} flushes"
            );
        }
    }
}

/// Cycles a load of a chain of dependent loads over `lines` lines, `stride` lines apart.
fn chase(machine: &MachineConfig, warm: bool, loads: u64, lines: u64) -> u64 {
    let outcome = run_one(machine, if warm { 1 << 20 } else { 0 }, move |cpu| {
        let mut address = cpu.word(PM_BASE);
        cpu.start_line();
        for i in 0..loads {
            // Every word holds zero, so the sum is the next address; the chain is in the dependence. The constant is
            // part of the address, which costs nothing.
            let loaded = address.load();
            let next = (i + 1) % lines * 64;
            let base = cpu.word(PM_BASE + next);
            address = base + loaded;
        }
    });
    outcome.stats.cycles.0 / loads
}

#[test]
fn a_pointer_chase_pays_each_levels_latency_in_turn() {
    for name in PRESETS {
        let m = preset(name);
        // The addition that makes the next address takes one cycle.
        let l1 = m.l1.latency.0 + 1;
        assert_eq!(chase(&m, true, 40_000, 4), l1, "{name}: L1");
        let private = m.l1.latency.0 + m.l2.as_ref().map_or(0, |l2| l2.latency.0);
        let shared = private + 2 * m.interconnect.hop_latency.0 + m.llc.latency.0 + 1;
        assert_eq!(chase(&m, true, 8_000, 8_000), shared, "{name}: shared cache");
    }
}

/// Cycles of a chase over `lines` lines which loads two words of a line; the second has the next address.
fn chase_by_second_words(machine: &MachineConfig, loads: u64, lines: u64) -> u64 {
    let outcome = run_one(machine, 1 << 20, move |cpu| {
        let mut address = cpu.word(PM_BASE);
        cpu.start_line();
        for i in 0..loads {
            address.load();
            let loaded = address.at(8).load();
            address = cpu.word(PM_BASE + (i + 1) % lines * 64) + loaded;
        }
    });
    outcome.stats.cycles.0
}

#[test]
fn a_second_load_waits_until_the_l1_has_the_line_from_the_l2() {
    for m in PRESETS.map(preset) {
        let Some(l2) = &m.l2 else { continue };
        // In a circle of twice as many lines as it holds, the L1 has always lost the next one.
        let lines = 2 * m.l1.bytes / 64;
        assert!(lines * 64 < l2.bytes);
        let circles = |n| chase_by_second_words(&m, n * lines, lines);
        let step = (circles(5) - circles(3)) / (2 * lines);
        // The line comes to the L1; the second word is read there; the addition takes a cycle.
        assert_eq!(step, m.l1.latency.0 + l2.latency.0 + m.l1.latency.0 + 1);
    }
}

#[test]
fn a_pointer_chase_through_memory_pays_the_read_latency() {
    for name in PRESETS {
        let mut m = preset(name);
        m.pm.row_bytes = 0;
        let private = m.l1.latency.0 + m.l2.as_ref().map_or(0, |l2| l2.latency.0);
        let shared = private + 2 * m.interconnect.hop_latency.0 + m.llc.latency.0 + 1;
        assert_eq!(chase(&m, false, 4_000, 8_000), shared + m.pm.read_latency.0, "{name}");
    }
}

#[test]
fn a_full_write_queue_passes_the_write_bandwidth_on_to_the_core() {
    for name in PRESETS {
        let mut m = preset(name);
        m.pm.row_bytes = 0;
        m.pm.combine_bytes = 0;
        m.pm.banks = 4096;
        m.controllers.count = 1;
        m.pm.write_gbps = 0.5;
        let lines = 8_000u64;
        let outcome = run_one(&m, 1 << 20, move |cpu| {
            for line in 0..lines {
                let address = cpu.word(PM_BASE + line * 64);
                address.store(cpu.word(2));
                address.flush();
            }
            cpu.primitive(Primitive::Sfence);
        });
        let port = m.pm.write_line_cycles(&m.core).0;
        // All but what the write queue still holds has passed the port when the last flush is acknowledged.
        let passed = lines - m.controllers.wpq_entries;
        let ratio = outcome.stats.cycles.0 as f64 / (passed * port) as f64;
        assert!((0.98..1.05).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn a_core_takes_another_cores_line_through_the_directory() {
    for name in PRESETS {
        let m = preset(name);
        let lines = 128u64;
        let mut system = system(&m, Plain, 2);
        put(&mut system, 0, move |cpu| {
            for line in 0..lines {
                cpu.word(PM_BASE + line * 64).store(cpu.word(0));
            }
            cpu.primitive(Primitive::Mfence);
            cpu.start_line();
        });
        put(&mut system, 1, move |cpu| {
            cpu.start_line();
            let mut address = cpu.word(PM_BASE);
            for line in 1..=lines {
                let loaded = address.load();
                let base = cpu.word(PM_BASE + line % lines * 64);
                address = base + loaded;
            }
        });
        let outcome = system.run().expect("both end");
        let hop = m.interconnect.hop_latency.0;
        let private = m.l1.latency.0 + m.l2.as_ref().map_or(0, |l2| l2.latency.0);
        let shared = private + 2 * hop + m.llc.latency.0 + 1;
        // The owner's caches are reached by the directory (two hops more) or have been snooped
        // meanwhile.
        let owner = private + if name == "dpo" { 0 } else { 2 * hop };
        assert_eq!(outcome.stats.cycles.0 / lines, shared + owner, "{name}");
    }
}

#[test]
fn atomics_of_two_cores_lose_no_increment() {
    for name in PRESETS {
        let m = preset(name);
        let mut system = system(&m, Plain, 2);
        for core in 0..2 {
            put(&mut system, core, move |cpu| {
                for _ in 0..500 {
                    cpu.word(64).fetch_add(cpu.word(1));
                }
            });
        }
        system.run().expect("both end");
        assert_eq!(system.memory().read(strandline_isa::Addr(64), 8), 1000, "{name}");
    }
}

#[test]
fn cores_that_write_different_words_of_one_line_all_get_on() {
    for name in PRESETS {
        let m = preset(name);
        let mut system = system(&m, Plain, 4);
        for core in 0..4 {
            put(&mut system, core, move |cpu| {
                for i in 1..=200 {
                    cpu.word(PM_BASE + 8 * u64::from(core)).store(cpu.word(i));
                    cpu.word(64).load();
                }
            });
        }
        system.run().expect("nobody takes the line away before it was used");
        for core in 0..4 {
            assert_eq!(
                system.memory().read(strandline_isa::Addr(PM_BASE + 8 * core), 8),
                200,
                "{name}"
            );
        }
    }
}

#[test]
fn a_clwb_that_keeps_ownership_spares_the_next_store_a_request() {
    let mut machine = preset("dpo");
    let relinquishes = cycles_a_round(&machine, 32, 200, 1);
    machine.core.clwb_keeps_ownership = true;
    // The L1, and the way to the shared cache and back.
    let request = machine.l1.latency.0 + 2 * machine.interconnect.hop_latency.0 + machine.llc.latency.0;
    assert_eq!(relinquishes - cycles_a_round(&machine, 32, 200, 1), request);
}

#[test]
fn a_clwb_is_broadcast_to_the_other_cores_where_misses_are() {
    for name in PRESETS {
        let m = preset(name);
        let mut system = system(&m, Plain, 2);
        put(&mut system, 0, |cpu| {
            let address = cpu.word(PM_BASE);
            address.store(cpu.word(1));
            cpu.primitive(Primitive::Mfence);
            cpu.start_line();
            address.flush();
            cpu.primitive(Primitive::Sfence);
        });
        put(&mut system, 1, |cpu| cpu.start_line());
        let outcome = system.run().expect("both end");
        // The other core's caches are looked up together with the shared cache, and answer after their own latency.
        let private = m.l1.latency.0 + m.l2.as_ref().map_or(0, |l2| l2.latency.0);
        let broadcast = match m.interconnect.coherence {
            Coherence::Snoop => 2 * m.interconnect.hop_latency.0 + m.llc.latency.0 + private,
            Coherence::Directory => 0,
        };
        // The flush leaves its queue two cycles behind its dispatch, which follows the store's way out.
        let waits = m.core.store_drain_interval.0.saturating_sub(2);
        let flushed = 2 + waits + m.l1.latency.0 + broadcast + m.pm.write_to_controller.0;
        assert_eq!(outcome.stats.cycles.0, flushed, "{name}");
    }
}

/// Two cores write and flush one line by turns, and each reads what the other wrote.
#[test]
fn a_line_whose_ownership_a_clwb_gave_up_is_handed_on() {
    for coherence in [Coherence::Directory, Coherence::Snoop] {
        let mut m = preset("dpo");
        m.interconnect.coherence = coherence;
        let mut system = system(&m, Plain, 2);
        for core in 0..2u64 {
            put(&mut system, core as u16, move |cpu| {
                for _ in 0..300 {
                    let counter = cpu.word(PM_BASE);
                    counter.fetch_add(cpu.word(1));
                    counter.flush();
                }
            });
        }
        system.run().expect("both end");
        assert_eq!(system.memory().read(strandline_isa::Addr(PM_BASE), 8), 600);
    }
}

/// A load behind a miss takes a store's bytes before the store retires, so that the miss of the address that it loads
/// overlaps the older one.
#[test]
fn a_store_that_has_executed_forwards_before_it_retires() {
    for name in PRESETS {
        let machine = preset(name);
        let cycles = |forwards: bool| {
            let outcome = run_one(&machine, 0, move |cpu| {
                let pointer = cpu.word(PM_BASE);
                pointer.store(cpu.word(PM_BASE + 8192));
                cpu.primitive(Primitive::Mfence);
                cpu.start_line();
                cpu.word(PM_BASE + 4096).load();
                let target = cpu.word(PM_BASE + 8192);
                pointer.store(target);
                let address = if forwards { pointer.load() } else { target };
                address.load();
                cpu.primitive(Primitive::Mfence);
            });
            outcome.stats.cycles.0
        };
        // The forwarded address is a store, an L1 look-up and a dispatch later than the known one.
        let later = machine.l1.latency.0 + 4;
        assert!(cycles(true) <= cycles(false) + later, "{name}");
    }
}
