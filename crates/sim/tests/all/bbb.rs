//! BBB's buffers on their machine: their contents, when they send a line, and which stores wait.

use crate::common::{preset, start};
use strandline_design::boxed;
use strandline_designs::Bbb;
use strandline_isa::{Cpu, Memory, PM_BASE};
use strandline_machine::{Options, SimCpu, Stats, System};

fn store_to_lines(cpu: &SimCpu<'_>, lines: Vec<u64>) {
    for line in lines {
        cpu.word(PM_BASE + 64 * line).store(cpu.word(1));
    }
}

/// Counts of a run in which each core stores to its list of lines.
fn run(entries: u64, cores: &[&[u64]]) -> Stats {
    let mut design = boxed(Bbb::default());
    let entries = entries.to_string();
    design
        .configure([("entries", entries.as_str())])
        .expect("a right number");
    let memory = Memory::new(1 << 16, 1 << 20);
    let mut system = System::new(&preset("asap"), design, cores.len(), memory, Options::default());
    system.warm(PM_BASE..PM_BASE + (1 << 19));
    for (core, lines) in cores.iter().enumerate() {
        start(&mut system, core as u16, {
            let lines = lines.to_vec();
            move |cpu| store_to_lines(cpu, lines.clone())
        });
    }
    system.run().expect("the programs end").stats
}

#[test]
fn a_store_that_finds_no_room_waits_until_a_write_is_acknowledged() {
    let lines: Vec<u64> = (0..8).collect();
    // With one entry, each of the eight stores but the first waits for the previous acknowledgement.
    let (small, large) = (run(1, &[&lines]), run(32, &[&lines]));
    let round_trip = preset("asap").pm.write_to_controller.0;
    assert!(small.cycles.0 >= 7 * round_trip, "{}", small.cycles);
    assert!(large.cycles.0 < 7 * round_trip, "{}", large.cycles);
}

#[test]
fn a_larger_buffer_is_not_slower() {
    let lines: Vec<u64> = (0..2000).map(|n| n * 7 % 600).collect();
    let cycles: Vec<u64> = [1, 2, 4, 8, 16, 32, 64, 128]
        .iter()
        .map(|n| run(*n, &[&lines]).cycles.0)
        .collect();
    assert!(cycles.windows(2).all(|pair| pair[1] <= pair[0]), "{cycles:?}");
    assert!(cycles[0] > cycles[7]);
}

#[test]
fn stores_to_a_line_share_an_entry() {
    // Four lines stay below three quarters of eight entries, so nothing is sent.
    let again: Vec<u64> = (0..100).map(|n| n % 4).collect();
    assert_eq!(run(8, &[&again]).pm_writes, 0);
    // All of 100 lines are sent, except six.
    let apart: Vec<u64> = (0..100).collect();
    assert_eq!(run(8, &[&apart]).pm_writes + run(8, &[&apart]).coalesced, 94);
}

#[test]
fn a_line_that_another_core_writes_moves_to_its_buffer() {
    // Both cores write six lines, which fit in one buffer. So no line is ever sent to make room.
    let lines: Vec<u64> = (0..6).collect();
    let twice: Vec<u64> = (0..600).map(|n| n % 6).collect();
    assert_eq!(run(8, &[&twice, &twice]).pm_writes, 0);
    let occupancy = run(8, &[&twice, &lines]).design.buffer_occupancy.expect("counted");
    assert!(
        occupancy.len() <= 7,
        "no buffer holds more than the six lines: {occupancy:?}"
    );
}

#[test]
fn what_leaves_the_last_level_is_dropped() {
    let mut machine = preset("asap");
    machine.l2 = None;
    (machine.l1.bytes, machine.l1.ways) = (1024, 2);
    (machine.llc.bytes, machine.llc.ways) = (4096, 4);
    let memory = Memory::new(1 << 16, 1 << 20);
    let mut system = System::new(&machine, boxed(Bbb::default()), 1, memory, Options::default());
    start(&mut system, 0, |cpu| store_to_lines(cpu, (0..128).collect()));
    let stats = system.run().expect("ends").stats;
    // The buffer writes each line once and keeps its last 24. Evictions of the other 64 write nothing.
    assert_eq!(stats.pm_writes + stats.coalesced, 128 - 24);
}

#[test]
fn storage_and_drain_are_those_of_so_many_lines() {
    let sizes = preset("asap").sizes(32);
    // 32 entries of 512 bits of data, 42 of address and 1 for being in flight.
    assert_eq!(boxed(Bbb::default()).storage_bytes(&sizes), 32 * (32 * 555 / 8));
    // ASAP VI-D: 64 KB for 32 cores.
    let places = preset("asap").places(32, &*boxed(Bbb::default()));
    assert_eq!(places.drain_bytes(), 64 * 1024);
}
