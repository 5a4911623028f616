//! Speculative persistence on its machine: what speculation hides, what a look-up of its buffer costs, and cores that
//! conflict.

use crate::common::{durable_at, observed, preset, start};
use strandline_design::AnyDesign;
use strandline_isa::{Addr, Cpu, Image, Memory, Note, Primitive, LINE_BYTES, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{MachineConfig, Outcome, SimCpu, System};
use strandline_sim::{design_named, Spec};

const A: Addr = Addr(PM_BASE);
const B: Addr = Addr(PM_BASE + 64 * LINE_BYTES);
const C: Addr = Addr(PM_BASE + 128 * LINE_BYTES);
/// Volatile.
const LOCK: Addr = Addr(4 * LINE_BYTES);

/// The paper's machine, whose cores do not run ahead.
fn machine() -> MachineConfig {
    let mut machine = preset("sp");
    // Its tests add latencies up: no page is walked to.
    machine.tlb.l1_entries = 0;
    // One queue of loads and stores: it bounds what a core executes behind a fence.
    machine.core.load_store_queue_entries = 48;
    machine
}

fn design(name: &str, sets: &[(&str, &str)]) -> Box<AnyDesign> {
    let mut design = design_named(name).expect("a registered design");
    design
        .configure(sets.iter().copied())
        .expect("parameters of the design");
    design
}

/// A system whose words `A` and `C` hold their own addresses.
fn system(machine: &MachineConfig, design: Box<AnyDesign>, cores: usize) -> System {
    let memory = Memory::new(1 << 16, 1 << 20);
    memory.set_word(C, C.0);
    let mut system = System::new(machine, design, cores, memory, observed());
    system.warm(PM_BASE..PM_BASE + (1 << 20));
    system
}

fn run(design: Box<AnyDesign>, program: impl Fn(&SimCpu<'_>) + 'static) -> Outcome {
    let mut system = system(&machine(), design, 1);
    start(&mut system, 0, program);
    system.run().expect("it ends")
}

/// A store, and all that makes it durable: its second `sfence` speculates.
fn persist(cpu: &SimCpu<'_>, addr: Addr, value: u64) {
    let at = cpu.word(addr.0);
    at.store(cpu.word(value));
    at.flush_by(strandline_isa::Flush::Clwb);
    for fence in [Primitive::Sfence, Primitive::Pcommit, Primitive::Sfence] {
        cpu.primitive(fence);
    }
}

/// Section 4: the core retires the sfence and executes what follows while the pcommit is outstanding; the task is
/// durable when the pcommit is answered.
#[test]
fn a_core_goes_on_behind_a_pcommit_and_announces_when_it_is_answered() {
    /// Loads of the L1, each at the address that the one before it has loaded.
    const LOADS: u64 = 150;
    let program = |cpu: &SimCpu<'_>| {
        let mut at = cpu.word(C.0).load();
        persist(cpu, A, 1);
        cpu.note(Note::RegionDurable);
        for _ in 0..LOADS {
            at = at.load();
        }
    };
    let (waits, speculates) = (
        run(design("x86-pcommit", &[]), program),
        run(design("sp", &[]), program),
    );
    let announced = |outcome: &Outcome| {
        let journal = outcome.journal.as_ref().expect("kept");
        let noted = journal.notes[0].first().expect("an announcement").at;
        assert!(noted >= durable_at(journal, A.line()), "it is durable before");
        noted
    };
    assert_eq!(
        announced(&waits),
        announced(&speculates),
        "as soon as without speculation"
    );
    // All are executed while the write is on its way to the media. Without speculation the queue holds that number.
    let (machine, queue) = (machine(), 48);
    let latency = machine.l1.latency.0;
    assert!(machine.pm.write_latency.0 > LOADS * latency);
    let (waits, speculates) = (waits.stats.cycles.0, speculates.stats.cycles.0);
    assert!(
        speculates + (LOADS - queue) * latency <= waits,
        "{speculates} and {waits} cycles"
    );
}

/// Loads, each at the address that the one before it has loaded.
const CHAIN: u64 = 16;

/// Cycles of a program that speculates, stores to `A`, if it is to, and then follows a word that points to itself.
fn chain(entries: &str, stores: bool, along: Addr) -> Outcome {
    run(design("sp", &[("entries", entries)]), move |cpu| {
        cpu.word(C.0).load();
        persist(cpu, B, 1);
        if stores {
            cpu.word(A.0).store(cpu.word(A.0));
        }
        // The store is in the buffer when the loads begin.
        let mut sum = cpu.word(0);
        for _ in 0..40 {
            sum = sum + 1;
        }
        let mut at = cpu.word(along.0) + (sum - 40);
        for _ in 0..CHAIN {
            at = at.load();
        }
        for _ in 0..2_000 {
            at = at + 1;
        }
    })
}

fn own(outcome: &Outcome, name: &str) -> u64 {
    let mut own = outcome.stats.design.own.0.iter();
    own.find(|(counter, _)| counter.name == name).expect("a counter").1
}

/// Table 3, against the two cycles of a hit in the L1 (Table 2).
#[test]
fn a_look_up_of_the_buffer_takes_the_cycles_of_table_3() {
    let l1 = chain("256", false, C).stats.cycles.0;
    for (entries, latency) in [("32", 2), ("64", 3), ("128", 4), ("256", 5), ("512", 7), ("1024", 10)] {
        let outcome = chain(entries, true, A);
        assert_eq!(own(&outcome, "ssb_hits"), CHAIN);
        assert_eq!(outcome.stats.cycles.0 - l1, CHAIN * (latency - 2), "{entries} entries");
    }
}

/// Section 4.2.2: the filter avoids look-ups of the buffer.
#[test]
fn a_load_that_the_filter_denies_takes_no_longer_than_without_a_buffer() {
    let (denied, empty) = (chain("1024", true, C), chain("1024", false, C));
    assert_eq!(denied.stats.design.bloom_lookups, Some(CHAIN));
    assert_eq!(own(&denied, "ssb_hits"), 0);
    assert_eq!(denied.stats.cycles, empty.stats.cycles);
}

/// Parameters of the design: the paper's, each at its minimum, and the table that distinguishes epochs.
const SIZES: [&[(&str, &str)]; 7] = [
    &[],
    &[("checkpoints", "1")],
    &[("entries", "1")],
    &[("filter_log2_bytes", "3")],
    &[("table_entries", "1")],
    &[
        ("checkpoints", "1"),
        ("entries", "1"),
        ("filter_log2_bytes", "3"),
        ("table_entries", "1"),
    ],
    &[("blt", "epoch")],
];

const THREADS: u16 = 4;
const ROUNDS: u64 = 12;

/// Counters that each thread increments, and persists: memory in the end, and roll-backs.
fn counted(design: Box<AnyDesign>, locked: bool) -> ([u64; 2], u64) {
    let mut system = system(&machine(), design, usize::from(THREADS));
    for thread in 0..THREADS {
        start(&mut system, thread, move |cpu| {
            let own = Addr(B.0 + u64::from(thread) * LINE_BYTES);
            for round in 1..=ROUNDS {
                persist(cpu, own, round);
                match locked {
                    true => _ = cpu.word(A.0).fetch_add(cpu.word(1)),
                    false => under_lock(cpu),
                }
            }
        });
    }
    let outcome = system.run().expect("every thread ends");
    let memory = system.memory();
    for thread in 0..THREADS {
        assert_eq!(memory.word(Addr(B.0 + u64::from(thread) * LINE_BYTES)), ROUNDS);
    }
    let left = [memory.word(A), memory.word(LOCK)];
    (left, outcome.stats.design.rollbacks.unwrap_or(0))
}

/// Increments `A` by a load and a store under a spinning lock, and persists it.
fn under_lock(cpu: &SimCpu<'_>) {
    while cpu.word(LOCK.0).swap(cpu.word(1)).bits() != 0 {
        while cpu.word(LOCK.0).load().bits() != 0 {}
    }
    let value = cpu.word(A.0).load().bits();
    persist(cpu, A, value + 1);
    cpu.word(LOCK.0).store(cpu.word(0));
}

/// Section 4.2.2: "SP does not create new persistency problems for a traditional parallel program".
#[test]
fn no_increment_is_lost_by_cores_that_are_rolled_back() {
    for locked in [true, false] {
        let (without, _) = counted(design("x86-pcommit", &[]), locked);
        assert_eq!(without, [u64::from(THREADS) * ROUNDS, 0]);
        for name in ["sp", "sp-adr"] {
            for sizes in SIZES {
                let (left, rollbacks) = counted(design(name, sizes), locked);
                assert_eq!(left, without, "{name} {sizes:?}");
                assert!(rollbacks > 0, "{name} {sizes:?} locked: {locked}");
            }
        }
    }
}

/// A core that speculates on a line loses it from its private caches; another core stores to it, or to another line.
fn rollbacks_of_a_lost_line(coherence: &str, to: Addr) -> (u64, u64) {
    /// Lines of the same set in both private caches.
    const SET: u64 = 512 * LINE_BYTES;
    let mut machine = machine();
    machine.set("interconnect.coherence", coherence).expect("a setting");
    // Speculation lasts long enough to lose the line, and for the other core's store.
    machine.pm.write_latency = Cycles(20_000);
    let mut system = system(&machine, design("sp", &[]), 2);
    start(&mut system, 0, |cpu| {
        persist(cpu, B, 1);
        cpu.word(A.0).load();
        for way in 1..=24 {
            cpu.word(A.0 + way * SET).load();
        }
    });
    start(&mut system, 1, move |cpu| {
        let mut at = cpu.word(to.0);
        for _ in 0..8_000 {
            at = at + 0;
        }
        at.store(cpu.word(7));
    });
    let outcome = system.run().expect("it ends");
    let design = &outcome.stats.design;
    (design.rollbacks.unwrap_or(0), system.memory().word(to))
}

/// Section 4.2.2: coherence operations are checked against the table, which outlives the caches.
#[test]
fn a_line_that_left_the_private_caches_still_conflicts() {
    for coherence in ["directory", "snoop"] {
        assert_eq!(rollbacks_of_a_lost_line(coherence, A), (1, 7));
        assert_eq!(rollbacks_of_a_lost_line(coherence, Addr(A.0 + LINE_BYTES)), (0, 7));
    }
}

/// A thread that is rolled back goes on with its registers as they were, at once: what it does again costs its time, but
/// no more.
#[test]
fn threads_that_are_rolled_back_end_nearly_as_soon_as_without_speculation() {
    let ran = |design: &str| {
        let spec = Spec {
            machine: Some("sp".into()),
            threads: Some(4),
            tasks: Some(400),
            ..Spec::new("queue", design)
        };
        strandline_sim::run(&spec).expect("it ends").stats
    };
    let (without, with) = (ran("x86-pcommit"), ran("sp"));
    assert!(with.design.rollbacks > Some(20));
    assert!(
        with.cycles.0 < 2 * without.cycles.0,
        "{} and {} cycles",
        with.cycles.0,
        without.cycles.0
    );
}
