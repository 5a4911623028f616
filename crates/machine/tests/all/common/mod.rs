//! What the machine's tests share: a design that answers everything as the plain machine does, and how to run programs.

mod attentive;
mod random_machine;

pub use attentive::Attentive;
pub use random_machine::random_machine;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use strandline_design::{boxed, About, Design, Never, Types};
use strandline_isa::{CoreId, Flush, Lowering, Memory, Primitive, Thread, PM_BASE};
use strandline_kernel::Cycles;
use strandline_machine::{factory, Factory, MachineConfig, Options, Outcome, SimCpu, Stats, System};

/// `clwb` and `sfence`; the machine answers at every place.
pub struct Plain;

impl Design for Plain {
    type Own = strandline_design::Plain;

    fn about(&self) -> About {
        About {
            name: "plain",
            promises_recovery: true,
            intents: Some("intents"),
            ..About::default()
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

/// What a design of a test is, and what intents become under it, as [`Plain`].
macro_rules! as_plain {
    () => {
        strandline_kernel::forward! { $crate::common::Plain =>
            fn about(&self) -> strandline_design::About;
            fn lowering(&self) -> strandline_isa::Lowering;
        }
    };
}
pub(crate) use as_plain;

/// The types of a design whose tags say nothing.
pub struct UnitTags;

impl Types for UnitTags {
    type Gate = Never;
    type Message = Never;
    type Tag = ();
    type Note = Never;
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

/// So many cores under this design, with a megabyte of each memory.
pub fn system(machine: &MachineConfig, design: impl Design, cores: usize) -> System {
    System::new(machine, boxed(design), cores, memory(), Options::default())
}

/// Of a run that keeps a journal.
pub fn observed() -> Options {
    Options {
        journal: true,
        ..Options::default()
    }
}

/// Of a run that is given up after so long without progress.
pub fn patient(cycles: u64) -> Options {
    Options {
        patience: Cycles(cycles),
        ..Options::default()
    }
}

/// Gives a machine two levels of caches, of these bytes and ways.
pub fn set_caches(machine: &mut MachineConfig, l1: (u64, u64), llc: (u64, u64)) {
    machine.l2 = None;
    (machine.l1.bytes, machine.l1.ways) = l1;
    (machine.llc.bytes, machine.llc.ways) = llc;
}

/// Caches of two lines each.
pub fn tiny() -> MachineConfig {
    let mut machine = preset("cosplay");
    machine.core.store_prefetch = false;
    set_caches(&mut machine, (128, 2), (128, 2));
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

/// What a program reports.
pub type Reports = Rc<RefCell<Vec<u64>>>;

/// Runs a program alone on caches that hold nothing: what it reported, and the counts.
pub fn reported(machine: &MachineConfig, program: impl FnOnce(&SimCpu<'_>, Reports) + 'static) -> (Vec<u64>, Stats) {
    let reports = Reports::default();
    let given = reports.clone();
    let outcome = run_one(machine, 0, move |cpu| program(cpu, given));
    (reports.take(), outcome.stats)
}

/// Runs one program on one core whose shared cache holds the first `warm` bytes of persistent memory.
pub fn run_one(machine: &MachineConfig, warm: u64, program: impl FnOnce(&SimCpu<'_>) + 'static) -> Outcome {
    let mut system = system(machine, Plain, 1);
    system.warm(PM_BASE..PM_BASE + warm);
    put(&mut system, 0, program);
    system.run().expect("the program ends")
}
