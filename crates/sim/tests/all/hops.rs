//! HOPS on its machine: what waits, what does not, and the order of durable writes.

use crate::common::{durable_at, observed, preset, start};
use strandline_design::{boxed, AnyDesign};
use strandline_designs::hops_ep;
use strandline_isa::{Cpu, Line, Memory, Note, Primitive, PM_BASE};
use strandline_machine::{Journal, Outcome, SimCpu, System};

const A: Line = Line(PM_BASE / 64);
const B: Line = Line(PM_BASE / 64 + 64);
const C: Line = Line(PM_BASE / 64 + 128);

/// Cycles from a core to a controller and back: the minimum for a write.
fn round_trip() -> u64 {
    preset("strandweaver").pm.write_to_controller.0
}

fn system(design: Box<AnyDesign>, cores: usize) -> System {
    let memory = Memory::new(1 << 16, 1 << 16);
    let mut system = System::new(&preset("strandweaver"), design, cores, memory, observed());
    system.warm(PM_BASE..PM_BASE + (1 << 15));
    system
}

fn run_with(entries: &str, program: impl Fn(&SimCpu<'_>) + 'static) -> Outcome {
    let mut design = boxed(hops_ep());
    design.configure([("entries", entries)]).expect("a right number");
    let mut system = system(design, 1);
    start(&mut system, 0, program);
    system.run().expect("the program ends")
}

fn run(program: impl Fn(&SimCpu<'_>) + 'static) -> Outcome {
    run_with("32", program)
}

fn store(cpu: &SimCpu<'_>, line: Line, value: u64) {
    cpu.word(line.addr().0).store(cpu.word(value));
}

/// The lines that became durable and their first words, in order.
fn durable(outcome: &Outcome) -> Vec<(Line, u64)> {
    let journal = outcome.journal.as_ref().expect("kept");
    journal.durable.iter().map(|d| (d.line, d.data[0])).collect()
}

fn times(journal: &Journal) -> Vec<u64> {
    journal.durable.iter().map(|d| d.at.0).collect()
}

#[test]
fn an_ofence_lets_the_core_go_on_and_a_dfence_does_not() {
    let fenced_by = |fence: Primitive| {
        run(move |cpu| {
            for line in [A, B, C] {
                store(cpu, line, 1);
                cpu.primitive(fence);
            }
            store(cpu, A, 2);
        })
    };
    let (ordered, waited) = (fenced_by(Primitive::Ofence), fenced_by(Primitive::Dfence));
    assert_eq!(ordered.stats.fence_stall_cycles, 0);
    assert!(waited.stats.fence_stall_cycles >= 3 * round_trip());
    assert!(ordered.stats.cycles.0 + 2 * round_trip() < waited.stats.cycles.0);
    let order = [(A, 1), (B, 1), (C, 1), (A, 2)];
    assert_eq!((durable(&ordered), durable(&waited)), (order.to_vec(), order.to_vec()));
}

#[test]
fn an_epoch_is_sent_when_the_one_before_it_is_acknowledged() {
    let outcome = run(|cpu| {
        store(cpu, A, 1);
        cpu.primitive(Primitive::Ofence);
        store(cpu, B, 1);
        store(cpu, C, 1);
    });
    let at = times(outcome.journal.as_ref().expect("kept"));
    assert!(at[1] >= at[0] + round_trip(), "{at:?}");
    assert!(at[2] < at[1] + round_trip(), "writes of one epoch overlap: {at:?}");
}

#[test]
fn stores_to_a_line_are_one_write_within_an_epoch_and_one_each_across() {
    let outcome = run(|cpu| {
        for word in 0..8 {
            cpu.word(A.addr().0 + 8 * word).store(cpu.word(1));
        }
        cpu.primitive(Primitive::Ofence);
        store(cpu, A, 2);
    });
    assert_eq!(durable(&outcome), [(A, 1), (A, 2)]);
}

#[test]
fn locked_instructions_and_non_temporal_stores_go_through_the_buffer() {
    let outcome = run(|cpu| {
        cpu.word(A.addr().0).store_nt(cpu.word(1));
        cpu.primitive(Primitive::Ofence);
        cpu.word(B.addr().0).swap(cpu.word(2));
        cpu.primitive(Primitive::Ofence);
        store(cpu, C, 3);
    });
    assert_eq!(durable(&outcome), [(A, 1), (B, 2), (C, 3)]);
}

#[test]
fn a_full_buffer_holds_stores_and_loses_none() {
    let program = |cpu: &SimCpu<'_>| {
        for line in [A, B, C] {
            store(cpu, line, 1);
        }
        cpu.primitive(Primitive::Dfence);
    };
    let (small, large) = (run_with("1", program), run(program));
    assert_eq!(durable(&small), [(A, 1), (B, 1), (C, 1)]);
    assert!(small.stats.cycles.0 > large.stats.cycles.0 + round_trip());
}

#[test]
fn loads_behind_a_dfence_do_not_wait_for_it() {
    // It is in no cache: the warmed part of memory ends before it.
    const FAR: u64 = PM_BASE + (1 << 15) + 64;
    let fence = |cpu: &SimCpu<'_>| {
        store(cpu, A, 1);
        cpu.primitive(Primitive::Dfence);
    };
    let load = |cpu: &SimCpu<'_>| {
        _ = cpu.word(FAR).load();
    };
    let both = |cpu: &SimCpu<'_>| {
        store(cpu, A, 1);
        cpu.primitive(Primitive::Dfence);
        _ = cpu.word(FAR).load();
    };
    let cycles = |outcome: Outcome| outcome.stats.cycles.0;
    let (fence, load, both) = (cycles(run(fence)), cycles(run(load)), cycles(run(both)));
    assert!(
        both < fence.max(load) + fence.min(load) / 2,
        "{both} of {fence} and {load}"
    );
}

#[test]
fn a_dfence_waits_for_what_its_core_has_seen_of_another_one() {
    let mut system = system(boxed(hops_ep()), 2);
    start(&mut system, 0, |cpu| {
        store(cpu, A, 1);
    });
    start(&mut system, 1, |cpu| {
        while cpu.word(A.addr().0).load().bits() == 0 {}
        cpu.primitive(Primitive::Dfence);
        cpu.note(Note::Output { location: 0, value: 1 });
    });
    let journal = system.run().expect("ends").journal.expect("kept");
    let told = journal.notes[1].first().expect("an output").at;
    // Core 0 publishes the completed epoch in 50 cycles. Core 1 polls every 500 cycles and reads it in 50 (ASAP VI-B).
    // So core 1 has waited for the poll.
    let published = durable_at(&journal, A).0 + 50;
    assert_eq!(published.next_multiple_of(500) + 50, told.0);
}
