//! Small programs on bare machines, under any design.

use super::consistency;
use std::cell::Cell;
use std::rc::Rc;
use strandline_designs::design;
use strandline_isa::{CoreId, Cpu, Intent, Memory, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::config::Consistency;
use strandline_machine::{factory, Detail, Factory, MachineConfig, Options, Outcome, SimCpu, System};

/// A preset with what the design needs.
pub fn machine(preset: &str, design: &str, slack: u64) -> MachineConfig {
    let mut machine = MachineConfig::preset(preset).expect("a preset");
    machine.simulation.slack = Cycles(slack);
    // Caches that cost little to build.
    machine.llc.bytes = 1 << 19;
    machine.llc.ways = 8;
    machine.l2 = None;
    machine.core.consistency = match consistency(design) {
        "weak" => Consistency::Weak,
        _ => Consistency::Tso,
    };
    machine
}

/// A preset whose media limit writes by their one port alone, of so many GB/s.
pub fn one_port(preset: &str, design: &str, gbps: f64) -> MachineConfig {
    let mut machine = machine(preset, design, 64);
    machine.pm.write_gbps = gbps;
    machine.pm.banks = 64;
    machine.pm.row_bytes = 0;
    machine.pm.combine_bytes = 0;
    machine.controllers.count = 1;
    machine
}

/// Bytes of persistent memory that begin in the LLC.
const WARM: u64 = 1 << 17;

/// Runs a program on each core.
///
/// # Errors
/// The run is stuck.
pub fn run(machine: &MachineConfig, name: &str, timeline: bool, programs: &[Factory]) -> Result<Outcome, String> {
    let options = Options {
        timeline: timeline.then(Detail::default),
        patience: Cycles(1_000_000),
        ..Options::default()
    };
    let design = design(name).expect("a design");
    let mut system = System::new(machine, design, programs.len(), Memory::new(1 << 20, 1 << 20), options);
    system.warm(PM_BASE..PM_BASE + WARM);
    for (core, program) in programs.iter().enumerate() {
        system.start(CoreId(core as u16), program.clone());
    }
    system.run().map_err(|stuck| format!("{name}: {stuck:?}"))
}

/// The line of this number in a core's part of persistent memory.
pub fn line(cpu: &SimCpu<'_>, number: u64) -> u64 {
    PM_BASE + (u64::from(cpu.core().0) << 14) + 64 * number
}

/// Stores to the line of this number, and flushes it if the design does.
pub fn update(cpu: &SimCpu<'_>, number: u64) {
    let at = line(cpu, number);
    cpu.word(at).store(cpu.word(number));
    if let Some(flush) = cpu.lowering().flush {
        cpu.word(at).flush_by(flush);
    }
}

/// A program that updates so many lines.
pub fn stream(lines: u64) -> Factory {
    factory(move |cpu| {
        cpu.start_line();
        for number in 0..lines {
            update(cpu, number);
        }
    })
}

/// A failure-atomic region: a record, an update, and the end that waits until both are durable.
pub fn region(cpu: &SimCpu<'_>, number: u64) {
    cpu.intent(Intent::NewStrand);
    update(cpu, 2 * number);
    cpu.intent(Intent::LogBeforeUpdate);
    update(cpu, 2 * number + 1);
    cpu.intent(Intent::Commit);
    cpu.intent(Intent::Durable);
}

/// Additions, one after the other; the sum.
pub fn think(cpu: &SimCpu<'_>, additions: u64) -> u64 {
    let one = cpu.word(1);
    (0..additions).fold(one, |sum, _| sum + one).tag()
}

/// How long the core takes for so many regions behind the start line, written to `took`.
pub fn regions(cpu: &SimCpu<'_>, rounds: u64, took: Rc<Cell<u64>>) {
    for number in 0..4 {
        region(cpu, number);
    }
    cpu.fenced();
    cpu.start_line();
    let from = cpu.cycles().bits();
    for round in 0..rounds {
        region(cpu, round % 4);
    }
    cpu.fenced();
    took.set(cpu.cycles().bits() - from);
}
