//! COSPlay on its machine: fences by context, looked at cycle by cycle.

mod ledger;
mod random;
#[path = "../../../../machine/tests/all/common/random_machine.rs"]
mod random_machine;
mod running_example;

use std::future::Future;
use strandline_design::Design;
use strandline_designs::{cosplay, Cosplay};
use strandline_isa::CoreId;
use strandline_kernel::Cycles;
use strandline_machine::{Machine, Program, SimCpu, System};

/// The design with so many contexts.
fn with_contexts(contexts: u64) -> Cosplay {
    let mut design = cosplay();
    let count = contexts.to_string();
    let any: &mut dyn Design = &mut design;
    any.configure([("contexts", count.as_str())]).expect("a right number");
    design
}

/// COSPlay's machine with nothing running ahead.
fn machine() -> Machine {
    let mut machine = Machine::preset("cosplay").expect("a preset");
    machine.simulation.slack = Cycles(0);
    machine
}

/// Boxes a program for a core of the system.
fn put<F: Future<Output = ()> + 'static>(system: &mut System, core: u16, program: impl FnOnce(SimCpu) -> F) {
    let cpu = system.cpu(CoreId(core));
    let program: Program = Box::pin(program(cpu));
    system.start(CoreId(core), program);
}
