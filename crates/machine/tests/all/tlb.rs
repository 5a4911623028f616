//! Translation: which accesses miss, what their walks load, and when.

use crate::common::{as_plain, memory, preset, put, run_one, set_caches, Plain};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::{boxed, Access, Design, Eviction, Level, Never, Services, Snoop, Supply};
use strandline_isa::{CoreId, Cpu, Line, Memory, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{MachineConfig, Options, SimCpu, Stats, System, Traces};

const PAGE: u64 = 4096;

/// Preset `asap` with a TLB of so many entries, fully associative, walks of four levels and no cache of their entries.
fn machine(entries: u64) -> MachineConfig {
    let mut machine = preset("asap");
    machine.tlb.l1_entries = entries;
    machine.tlb.l1_ways = entries;
    machine.tlb.l2_entries = 0;
    machine.tlb.page_bytes = PAGE;
    machine.tlb.walk_levels = 4;
    machine.tlb.walkers = 1;
    machine.tlb.walk_cache_entries = 0;
    machine
}

/// Cycles of a load that only memory has, and of one that the private levels look up in vain and the LLC has.
fn beyond(machine: &MachineConfig) -> (u64, u64) {
    let private = machine.l1.latency.0 + machine.l2.as_ref().map_or(0, |l2| l2.latency.0);
    let llc = private + 2 * machine.interconnect.hop_latency.0 + machine.llc.latency.0;
    (llc + machine.dram.read_latency.0, llc)
}

/// The counts of loads of these pages, one behind the other: each needs the value before.
fn chase(machine: &MachineConfig, pages: &'static [u64]) -> Stats {
    let program = move |cpu: &SimCpu<'_>| {
        cpu.start_line();
        let mut zero = cpu.word(0);
        for page in pages {
            zero = (cpu.word(PM_BASE + page * PAGE) + zero).load();
        }
    };
    let mut system = System::new(
        machine,
        boxed(Plain),
        1,
        Memory::new(1 << 16, 1 << 22),
        Options::default(),
    );
    put(&mut system, 0, program);
    system.run().expect("the program ends").stats
}

/// As [`chase`], of pages `0..pages` in turn, `rounds` times after a first.
fn rounds(machine: &MachineConfig, pages: u64, rounds: u64) -> Stats {
    let program = move |cpu: &SimCpu<'_>| {
        let mut zero = cpu.word(0);
        for round in 0..=rounds {
            for page in 0..pages {
                zero = (cpu.word(PM_BASE + page * PAGE) + zero).load();
            }
            if round == 0 {
                cpu.start_line();
            }
        }
    };
    run_one(machine, 1 << 20, program).stats
}

fn walks(stats: &Stats) -> (u64, u64, u64) {
    (stats.tlb_misses, stats.page_walks, stats.walk_loads)
}

#[test]
fn a_cold_walk_is_four_loads_from_memory_in_turn() {
    let machine = machine(64);
    let mut without = machine.clone();
    without.tlb.l1_entries = 0;
    let (with, without) = (chase(&machine, &[0]), chase(&without, &[0]));
    assert_eq!((walks(&with), walks(&without)), ((1, 1, 4), (0, 0, 0)));
    assert_eq!(with.walk_cycles, 4 * beyond(&machine).0);
    assert_eq!(
        with.cycles.0,
        without.cycles.0 + with.walk_cycles,
        "the load is late by the walk"
    );
    assert_eq!(
        (with.loads, with.pm_reads),
        (1, 1),
        "loads of table entries are the hardware's own, from DRAM"
    );
}

#[test]
fn a_second_walk_finds_the_entries_in_the_caches_or_is_shortened_by_a_cache_of_upper_ones() {
    let mut machine = machine(64);
    let (memory, _) = beyond(&machine);
    let l1 = machine.l1.latency.0;
    // Pages 0 and 7 share even the line of their entries of the last level; 8 has another, 512 another table.
    for (page, loads_of_memory) in [(7, 0), (8, 1), (512, 1)] {
        let pages: &[u64] = Box::leak(Box::new([0, page]));
        machine.tlb.walk_cache_entries = 0;
        let stats = chase(&machine, pages);
        assert_eq!(walks(&stats), (2, 2, 8));
        let second = (4 - loads_of_memory) * l1 + loads_of_memory * memory;
        assert_eq!(stats.walk_cycles, 4 * memory + second, "page {page}");

        machine.tlb.walk_cache_entries = 16;
        let stats = chase(&machine, pages);
        let loads = if page == 512 { 2 } else { 1 };
        assert_eq!(walks(&stats), (2, 2, 4 + loads));
        let second = (loads - loads_of_memory) * l1 + loads_of_memory * memory;
        assert_eq!(
            stats.walk_cycles,
            4 * memory + second,
            "page {page}, with a cache of upper entries"
        );
    }
}

#[test]
fn a_footprint_within_reach_never_misses_and_one_beyond_it_always_does() {
    let machine = machine(64);
    assert_eq!(walks(&rounds(&machine, 64, 3)), (0, 0, 0));
    assert_eq!(
        walks(&rounds(&machine, 65, 3)),
        (3 * 65, 3 * 65, 4 * 3 * 65),
        "true LRU, in a circle"
    );
    let mut large = machine.clone();
    large.tlb.page_bytes = 2 * PAGE;
    assert_eq!(walks(&rounds(&large, 65, 3)), (0, 0, 0), "pages of twice the size");
}

#[test]
fn ways_limit_what_a_set_keeps() {
    let mut machine = machine(64);
    machine.tlb.l1_ways = 1;
    assert_eq!(walks(&rounds(&machine, 64, 2)), (0, 0, 0));
    assert_eq!(walks(&rounds(&machine, 65, 2)).0, 2 * 2, "pages 0 and 64 share a way");
}

#[test]
fn what_the_second_level_has_costs_its_latency_and_no_walk() {
    let mut machine = machine(16);
    let whole = rounds(
        &{
            let mut m = machine.clone();
            (m.tlb.l1_entries, m.tlb.l1_ways) = (64, 64);
            m
        },
        32,
        1,
    );
    (machine.tlb.l2_entries, machine.tlb.l2_ways, machine.tlb.l2_latency) = (64, 4, Cycles(7));
    let stats = rounds(&machine, 32, 1);
    assert_eq!(walks(&stats), (32, 0, 0));
    assert_eq!(stats.cycles.0, whole.cycles.0 + 32 * 7);
}

#[test]
fn a_page_is_walked_for_once_however_many_accesses_wait_for_it() {
    let stats = run_one(&machine(64), 0, |cpu| {
        cpu.start_line();
        for word in 0..8 {
            cpu.word(PM_BASE + word * 64).load();
        }
    });
    assert_eq!(walks(&stats.stats), (1, 1, 4));
}

#[test]
fn walks_overlap_as_far_as_there_are_walkers() {
    let both = |walkers: u64| {
        let mut machine = machine(64);
        machine.tlb.walkers = walkers;
        let outcome = run_one(&machine, 0, |cpu| {
            cpu.start_line();
            // They share the line of the root's entries, and no other.
            cpu.word(PM_BASE).load();
            cpu.word(8192).load();
        });
        outcome.stats.walk_cycles
    };
    let memory = beyond(&machine(64)).0;
    let machine = machine(64);
    let (line, l1) = (machine.dram.line_cycles(&machine.core).0, machine.l1.latency.0);
    // At once: the second waits for the first one's line, then its three loads share the bus with the first one's.
    let second = memory + l1 + 3 * memory;
    let least = 4 * memory + second;
    assert!((least..=least + 3 * line).contains(&both(2)), "{} of {least}", both(2));
    // In turn: the second waits for the first, then finds that line in the L1.
    assert_eq!(both(1), 4 * memory + 4 * memory + l1 + 3 * memory);
}

/// The walks of a program that executes one access to a cold page, and whether it begins late what follows in order.
fn one_access(program: impl FnOnce(&SimCpu<'_>) + 'static) -> (u64, u64) {
    let outcome = run_one(&machine(64), 0, move |cpu| {
        cpu.start_line();
        program(cpu);
    });
    (outcome.stats.page_walks, outcome.stats.cycles.0)
}

#[test]
fn stores_flushes_and_locked_instructions_translate_where_they_execute() {
    let walk = 4 * beyond(&machine(64)).0;
    let stored = one_access(|cpu| cpu.word(PM_BASE).store(cpu.word(1)));
    let flushed = one_access(|cpu| cpu.word(PM_BASE).flush());
    let locked = one_access(|cpu| _ = cpu.word(PM_BASE).fetch_add(cpu.word(1)));
    for (what, (walks, cycles)) in [("store", stored), ("flush", flushed), ("locked", locked)] {
        assert_eq!(walks, 1, "{what}");
        assert!(
            cycles > walk,
            "{what}: it retires after its walk of {walk}, in {cycles}"
        );
    }
    // A load behind the walk of a store waits for it in no way but the window's.
    let behind = one_access(|cpu| {
        cpu.word(PM_BASE).store(cpu.word(1));
        cpu.word(PM_BASE).flush();
        cpu.word(PM_BASE + 8).load();
    });
    assert_eq!(behind.0, 1, "one walk for all three");
}

#[test]
fn a_page_fault_is_paid_once_a_page_without_data() {
    let mut machine = machine(64);
    machine.tlb.fault_latency = Cycles(5000);
    let run = |machine: &MachineConfig, memory: Memory| {
        let mut system = System::new(machine, boxed(Plain), 2, memory, Options::default());
        for core in 0..2 {
            put(&mut system, core, |cpu: &SimCpu<'_>| {
                cpu.start_line();
                cpu.word(PM_BASE).load();
            });
        }
        system.run().expect("the program ends").stats.walk_cycles
    };
    let faults = run(&machine, memory());
    let given = memory();
    given.set_line(Line(PM_BASE / 64 + 8), &[0; 8]);
    assert_eq!(faults, run(&machine, given) + 5000, "two cores walk, one finds no page");
}

type Hw<'a> = dyn Services<strandline_design::Plain> + 'a;

/// Notes the lines that it is asked about.
struct Notes(Rc<RefCell<Vec<Line>>>);

impl Design for Notes {
    type Own = strandline_design::Plain;

    as_plain!();

    fn snooped(&mut self, _: &mut Hw<'_>, _: CoreId, _: CoreId, line: Line, _: Access) -> Snoop<Never, Never> {
        self.0.borrow_mut().push(line);
        Snoop::Grant(None)
    }

    fn missed(&mut self, _: &mut Hw<'_>, _: CoreId, line: Line, _: Access) -> Supply<Never> {
        self.0.borrow_mut().push(line);
        Supply::Memory
    }

    fn evicted(&mut self, _: &mut Hw<'_>, _: CoreId, _: Level, line: Line) -> Eviction<Never> {
        self.0.borrow_mut().push(line);
        Eviction::WriteBack
    }
}

#[test]
fn designs_are_asked_about_the_programs_lines_and_traces_have_its_accesses_alone() {
    let mut machine = machine(2);
    // So small that tables and data drive each other out.
    set_caches(&mut machine, (1024, 2), (4096, 2));
    let asked = Rc::new(RefCell::new(Vec::new()));
    let options = Options {
        journal: true,
        trace: Traces::Everything,
        ..Options::default()
    };
    let mut system = System::new(&machine, boxed(Notes(asked.clone())), 2, memory(), options);
    for core in 0..2 {
        put(&mut system, core, |cpu: &SimCpu<'_>| {
            for page in 0..40 {
                cpu.word(PM_BASE + page % 10 * PAGE).store(cpu.word(page));
                cpu.word(page * PAGE).load();
            }
        });
    }
    let outcome = system.run().expect("the programs end");
    let journal = outcome.journal.expect("it was kept");
    assert!(outcome.stats.page_walks > 100 && !asked.borrow().is_empty());
    let memory_ends = Line((1 << 20) / 64);
    assert!(asked
        .borrow()
        .iter()
        .all(|line| line.is_persistent() || *line < memory_ends));
    let operations: usize = journal.trace.programs.iter().map(Vec::len).sum();
    assert_eq!(operations, 2 * 2 * 40);
}
