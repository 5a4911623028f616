//! When an output becomes visible to the outside world: not before the fences on which it may
//! depend.

use crate::common::{observed, preset};
use strandline_design::boxed;
use strandline_isa::{Cpu, Flush, Note, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{MachineConfig, SimCpu};

/// A line that is not in any cache.
const COLD: u64 = PM_BASE + 4096;
/// Far longer than the waits of the fences here.
const READ: u64 = 50_000;

const SHOWN: Note = Note::Output { location: 1, value: 2 };

fn machine() -> MachineConfig {
    let mut machine = preset("cosplay");
    machine.pm.read_latency = Cycles(READ);
    machine
}

/// The times of the first acknowledgement and of the first output; and of the first durable write.
fn times(program: impl FnOnce(&SimCpu<'_>) + 'static) -> (u64, u64, u64) {
    use strandline_machine::System;
    let mut system = System::new(
        &machine(),
        boxed(crate::common::Plain),
        1,
        crate::common::memory(),
        observed(),
    );
    system.warm(PM_BASE..PM_BASE + 64);
    crate::common::put(&mut system, 0, program);
    let journal = system.run().expect("the program ends").journal.expect("kept");
    let at = |note: fn(&Note) -> bool| journal.notes[0].iter().find(|n| note(&n.note)).map_or(0, |n| n.at.0);
    (
        at(|n| *n == Note::RegionDurable),
        at(|n| *n == SHOWN),
        journal.durable.first().map_or(0, |d| d.at.0),
    )
}

/// Stores to a line that is in the shared cache and flushes it: the fence after it waits.
fn flushed(cpu: &SimCpu<'_>) {
    cpu.word(PM_BASE).store(cpu.word(3));
    cpu.word(PM_BASE).flush_by(Flush::Clwb);
}

#[test]
fn an_output_after_a_fence_is_seen_when_the_fence_is_over() {
    let (acknowledged, shown, durable) = times(|cpu| {
        flushed(cpu);
        cpu.primitive(Primitive::Sfence);
        cpu.note(Note::RegionDurable);
        cpu.note(SHOWN);
    });
    assert!(durable > 0 && shown >= durable, "{shown} >= {durable}");
    assert_eq!(shown, acknowledged);
}

#[test]
fn an_output_is_not_seen_before_a_load_behind_a_fence_has_its_value() {
    let (acknowledged, shown, _) = times(|cpu| {
        flushed(cpu);
        cpu.primitive(Primitive::Sfence);
        cpu.note(Note::RegionDurable);
        cpu.word(COLD).load();
        cpu.note(SHOWN);
    });
    assert!(
        acknowledged < READ && shown >= READ,
        "fence {acknowledged}, output {shown}"
    );
}

#[test]
fn an_output_is_not_seen_before_a_load_ahead_of_the_fence_has_its_value() {
    let (acknowledged, shown, _) = times(|cpu| {
        flushed(cpu);
        cpu.word(COLD).load();
        cpu.primitive(Primitive::Sfence);
        cpu.note(Note::RegionDurable);
        cpu.note(SHOWN);
    });
    assert!(
        acknowledged < READ && shown >= READ,
        "fence {acknowledged}, output {shown}"
    );
}

#[test]
fn an_output_is_not_seen_before_a_load_has_its_value_where_no_fence_waits() {
    let (_, shown, _) = times(|cpu| {
        cpu.word(COLD).load();
        cpu.note(SHOWN);
    });
    assert!(shown >= READ, "{shown}");
}

/// A run of arithmetic longer than the window, which behind a fence the window does not hold.
#[test]
fn an_output_is_not_seen_before_the_arithmetic_that_makes_it() {
    let length = 2 * machine().core.rob_entries;
    for behind_release in [false, true] {
        let (_, shown, _) = times(move |cpu| {
            flushed(cpu);
            cpu.primitive(Primitive::Sfence);
            let mut x = cpu.word(COLD).load();
            for _ in 0..length {
                x = x * 3;
            }
            if behind_release {
                cpu.word(PM_BASE).store(cpu.word(4));
            }
            cpu.note(SHOWN);
        });
        let takes = length * machine().core.mul_latency.0;
        assert!(shown >= READ + takes, "{shown} >= {READ} + {takes}");
    }
}
