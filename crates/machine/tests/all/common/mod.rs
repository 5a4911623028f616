//! What the machine's tests share: a design that answers everything as the plain machine does, and how to run programs.

mod random_machine;

pub use random_machine::random_machine;
use std::future::Future;
use strandline_design::{About, Design, Needs};
use strandline_isa::{CoreId, Flush, Lowering, Memory, Primitive, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{Machine, Options, Outcome, Program, SimCpu, System};

/// `clwb` and `sfence`, every place answered by the machine.
pub struct Plain;

impl Design for Plain {
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

/// A preset with nothing running ahead.
pub fn preset(name: &str) -> Machine {
    let mut machine = Machine::preset(name).expect("a preset");
    machine.simulation.slack = Cycles(0);
    machine
}

/// Boxes a program for a core of the system.
pub fn put<F: Future<Output = ()> + 'static>(system: &mut System, core: u16, program: impl FnOnce(SimCpu) -> F) {
    let cpu = system.cpu(CoreId(core));
    let program: Program = Box::pin(program(cpu));
    system.start(CoreId(core), program);
}

/// Runs one program on one core whose shared cache holds the first `warm` bytes of persistent memory.
pub fn run_one<F: Future<Output = ()> + 'static>(
    machine: &Machine,
    warm: u64,
    program: impl FnOnce(SimCpu) -> F,
) -> Outcome {
    let mut system = System::new(machine, Box::new(Plain), 1, memory(), Options::default());
    system.warm(PM_BASE..PM_BASE + warm);
    put(&mut system, 0, program);
    system.run().expect("the program ends")
}
