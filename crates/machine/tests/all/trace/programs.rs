//! Random programs on random machines: they share words, and accesses of different sizes overlap.

use crate::common::{memory, put};
use std::cell::RefCell;
use std::rc::Rc;
use strandline_design::AnyDesign;
use strandline_isa::{Addr, Cpu, Flush, Memory, Note, Primitive, Rmw, PM_BASE};
use strandline_kernel::{Cycles, Rng};
use strandline_machine::config::Consistency;
use strandline_machine::{Journal, MachineConfig, Options, SimCpu, Stats, System, Traces};

/// What a program did, with the values that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    Load { addr: Addr, size: u8, value: u64 },
    Store { addr: Addr, size: u8, value: u64 },
    StoreNt { addr: Addr, size: u8, value: u64 },
    Rmw { addr: Addr, old: u64, new: u64 },
    Flush(Addr, Flush),
    Primitive(Primitive),
    Note(Note),
}

pub type Deeds = Rc<RefCell<Vec<Did>>>;

/// A naturally aligned access to the first two words of one of three lines, two persistent and one volatile.
pub fn access(rng: &mut Rng) -> (Addr, u8) {
    let size = 1u8 << rng.below(4);
    let line = [PM_BASE, PM_BASE + 64, 128][rng.below(3) as usize];
    let offset = rng.below(16 / u64::from(size)) * u64::from(size);
    (Addr(line + offset), size)
}

pub fn low(size: u8, value: u64) -> u64 {
    value & (u64::MAX >> (64 - 8 * u32::from(size)))
}

pub fn play(cpu: &SimCpu<'_>, seed: u64, length: u64, deeds: Deeds) {
    let mut rng = Rng::new(seed);
    let mut last = 0;
    for _ in 0..length {
        let (addr, size) = access(&mut rng);
        let address = cpu.word(addr.0);
        let value = rng.next_u64();
        let did = match rng.below(24) {
            0..=6 => {
                address.store_sized(cpu.word(value), size);
                let value = low(size, value);
                Did::Store { addr, size, value }
            }
            7 | 8 => {
                cpu.store_nt(addr, 0, size, value, 0);
                let value = low(size, value);
                Did::StoreNt { addr, size, value }
            }
            9..=15 => {
                let value = address.load_sized(size).bits();
                last = value;
                Did::Load { addr, size, value }
            }
            16 | 17 => {
                let addr = Addr(addr.0 & !7);
                let op = [Rmw::Swap, Rmw::Add, Rmw::CompareSwap(last)][rng.below(3) as usize];
                let old = cpu.rmw(addr, 0, op, value, 0).bits();
                last = old;
                let new = op.apply(old, value);
                Did::Rmw { addr, old, new }
            }
            18 | 19 => {
                let kind = [Flush::Clwb, Flush::ClflushOpt, Flush::Clflush][rng.below(3) as usize];
                address.flush_by(kind);
                Did::Flush(addr, kind)
            }
            20 | 21 => {
                use Primitive::{Mfence, Pcommit, Sfence, StoreBarrier};
                let primitive = [Sfence, Mfence, StoreBarrier, Pcommit][rng.below(4) as usize];
                cpu.primitive(primitive);
                Did::Primitive(primitive)
            }
            22 => {
                let note = Note::Output {
                    location: 7,
                    value: last,
                };
                cpu.note(note);
                Did::Note(note)
            }
            _ => {
                let mut x = cpu.word(1);
                for _ in 0..rng.below(300) {
                    x = x + 1;
                }
                continue;
            }
        };
        deeds.borrow_mut().push(did);
    }
}

/// What a run was and left.
pub struct Ran {
    pub in_order: bool,
    pub deeds: Vec<Vec<Did>>,
    pub memory: Memory,
    pub stats: Stats,
    pub journal: Journal,
}

/// Memory in which no two words are equal.
pub fn initial() -> Memory {
    let memory = memory();
    for at in (0..64).map(|word| word * 8) {
        memory.write(Addr(at), 8, 0xd0d0_0000_0000_0000 + at);
        memory.write(Addr(PM_BASE + at), 8, 0xe0e0_0000_0000_0000 + at);
    }
    memory
}

/// Runs a random program of this number of operations on each core of a machine with this design.
pub fn run_under(
    machine: &MachineConfig,
    design: Box<AnyDesign>,
    mut rng: Rng,
    (seed, cores, length): (u64, u64, u64),
    trace: Traces,
) -> Ran {
    let options = Options {
        seed,
        journal: true,
        trace,
        patience: Cycles(50_000_000),
        ..Options::default()
    };
    let mut system = System::new(machine, design, cores as usize, initial(), options);
    let deeds: Vec<Deeds> = (0..cores).map(|_| Deeds::default()).collect();
    for (core, deeds) in deeds.iter().enumerate() {
        let (seed, deeds) = (rng.next_u64(), deeds.clone());
        put(&mut system, core as u16, move |cpu| play(cpu, seed, length, deeds));
    }
    let outcome = system.run().unwrap_or_else(|stuck| panic!("seed {seed}: {stuck}"));
    Ran {
        in_order: machine.core.consistency == Consistency::Tso,
        deeds: deeds.iter().map(|d| d.borrow().clone()).collect(),
        memory: system.memory().clone(),
        stats: outcome.stats,
        journal: outcome.journal.expect("kept"),
    }
}
