//! Small programs on bare machines, under any design.

use super::consistency;
use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use strandline_designs::design;
use strandline_isa::{CoreId, Cpu, Intent, Memory, Scheduling, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::config::Consistency;
use strandline_machine::{Detail, MachineConfig, Options, Outcome, Program, SimCpu, System};

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

/// A program for a core, which may be begun anew.
pub type Begins = Rc<dyn Fn(SimCpu) -> Program>;

/// A program, as its core takes it.
pub fn program<F: Future<Output = ()> + 'static>(program: impl Fn(SimCpu) -> F + 'static) -> Begins {
    Rc::new(move |cpu| -> Program { Box::pin(program(cpu)) })
}

/// Bytes of persistent memory that begin in the LLC.
const WARM: u64 = 1 << 17;

/// Runs a program on each core.
///
/// # Errors
/// The run is stuck.
pub fn run(machine: &MachineConfig, name: &str, timeline: bool, programs: &[Begins]) -> Result<Outcome, String> {
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
pub fn line(cpu: &SimCpu, number: u64) -> u64 {
    PM_BASE + (u64::from(cpu.core().0) << 14) + 64 * number
}

/// Stores to the line of this number, and flushes it if the design does.
pub async fn update(cpu: &SimCpu, number: u64) {
    let at = line(cpu, number);
    cpu.word(at).store(cpu.word(number)).await;
    if let Some(flush) = cpu.lowering().flush {
        cpu.word(at).flush_by(flush).await;
    }
}

/// A program that updates so many lines.
pub fn stream(lines: u64) -> Begins {
    program(move |cpu| async move {
        cpu.start_line().await;
        for number in 0..lines {
            update(&cpu, number).await;
        }
    })
}

/// A failure-atomic region: a record, an update, and the end that waits until both are durable.
pub async fn region(cpu: &SimCpu, number: u64) {
    cpu.intent(Intent::NewStrand).await;
    update(cpu, 2 * number).await;
    cpu.intent(Intent::LogBeforeUpdate).await;
    update(cpu, 2 * number + 1).await;
    cpu.intent(Intent::Commit).await;
    cpu.intent(Intent::Durable).await;
}

/// Additions, one after the other; the sum.
pub fn think(cpu: &SimCpu, additions: u64) -> <SimCpu as Cpu>::Tag {
    let one = cpu.word(1);
    (0..additions).fold(one, |sum, _| sum + one).tag()
}

/// How long the core takes for so many regions behind the start line, written to `took`.
pub async fn regions(cpu: SimCpu, rounds: u64, took: Rc<Cell<u64>>) {
    for number in 0..4 {
        region(&cpu, number).await;
    }
    cpu.fenced().await;
    cpu.start_line().await;
    let from = cpu.cycles().bits();
    for round in 0..rounds {
        region(&cpu, round % 4).await;
    }
    cpu.fenced().await;
    took.set(cpu.cycles().bits() - from);
}
