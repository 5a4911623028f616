//! What the machine's tests share: a design that answers everything as the plain machine does, and how to run programs.

use std::future::Future;
use strandline_design::{About, Design, Needs};
use strandline_isa::{CoreId, Flush, Lowering, Memory, Primitive, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::config::{Coherence, Consistency};
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

/// A machine with small queues, other interconnects and orders, and now and then shaken.
pub fn random_machine(rng: &mut Rng) -> Machine {
    let presets = ["cosplay", "strandweaver", "dpo", "asap"];
    let mut m = Machine::preset(presets[rng.below(4) as usize]).expect("a preset");
    let small = |rng: &mut Rng, most: u64| 1 + rng.below(most);
    m.core.rob_entries = 4 + rng.below(60);
    m.core.load_queue_entries = small(rng, 16);
    m.core.store_queue_entries = small(rng, 12);
    m.core.writeback_buffer_entries = small(rng, 6);
    m.core.write_combining_buffers = small(rng, 3);
    m.core.consistency = [Consistency::Tso, Consistency::Weak][rng.below(2) as usize];
    m.core.lock_orders_flushes = rng.one_in(2);
    m.core.store_prefetch = rng.one_in(2);
    m.interconnect.coherence = [Coherence::Directory, Coherence::Snoop][rng.below(2) as usize];
    m.controllers.count = small(rng, 3);
    m.controllers.interleave_bytes = 64;
    m.controllers.wpq_entries = small(rng, 4);
    m.controllers.bmo_latency = Cycles(rng.below(3) * 300);
    m.pm.banks = small(rng, 4);
    m.simulation.slack = Cycles([0, 64][rng.below(2) as usize]);
    m.simulation.jitter = Cycles([0, 500][rng.below(2) as usize]);
    m.simulation.evict_one_in = [0, 5][rng.below(2) as usize];
    m
}
