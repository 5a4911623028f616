//! What the machine's tests share: a design that answers everything as the plain machine does, and how to run programs.

mod random_machine;

pub use random_machine::random_machine;
use std::cell::Cell;
use strandline_design::{boxed, About, Design, Needs};
use strandline_isa::{CoreId, Flush, Lowering, Memory, Primitive, Thread, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{factory, Factory, MachineConfig, Options, Outcome, SimCpu, System};

/// `clwb` and `sfence`; the machine answers at every place.
pub struct Plain;

impl Design for Plain {
    type Own = strandline_design::Plain;

    fn about(&self) -> About {
        About {
            name: "plain",
            paper: "",
            summary: "",
            needs: Needs::default(),
            promises_recovery: true,
            model: "",
            intents: Some("intents"),
            window: None,
        }
    }

    fn lowering(&self) -> Lowering {
        Lowering {
            log: true,
            flush: Some(Flush::Clwb),
            durable: &[Primitive::Sfence],
            ..Lowering::NOTHING
        }
    }
}

/// A megabyte of each memory.
pub fn memory() -> Memory {
    Memory::new(1 << 20, 1 << 20)
}

/// A preset in which nothing runs ahead, and addresses are not translated: the tests add up latencies by hand.
pub fn preset(name: &str) -> MachineConfig {
    let mut machine = MachineConfig::preset(name).expect("a preset");
    machine.simulation.slack = Cycles(0);
    machine.tlb.l1_entries = 0;
    machine
}

/// Puts a program on a core of the system, for a design that does not roll back.
pub fn put(system: &mut System, core: u16, program: impl FnOnce(&SimCpu<'_>) + 'static) {
    let program = Cell::new(Some(program));
    let begin = factory(move |cpu| program.take().expect("a program that begins once")(cpu));
    system.start(CoreId(core), begin);
}

/// The same of a program for any core: its values may lie on a stack.
pub fn put_any(system: &mut System, core: u16, program: impl FnOnce(&Thread<'_>) + 'static) {
    let program = Cell::new(Some(program));
    let begin = Factory::any(move |cpu| program.take().expect("a program that begins once")(cpu));
    system.start(CoreId(core), begin);
}

/// Runs one program on one core whose shared cache holds the first `warm` bytes of persistent memory.
pub fn run_one(machine: &MachineConfig, warm: u64, program: impl FnOnce(&SimCpu<'_>) + 'static) -> Outcome {
    let mut system = System::new(machine, boxed(Plain), 1, memory(), Options::default());
    system.warm(PM_BASE..PM_BASE + warm);
    put(&mut system, 0, program);
    system.run().expect("the program ends")
}
