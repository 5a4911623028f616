//! A litmus test as programs of the simulated machine.

use super::layout::Layout;
use super::moving::{Journey, Move};
use super::registers::Registers;
use std::rc::Rc;
use strandline_isa::{Addr, Cpu, Flush};
use strandline_kernel::Rng;
use strandline_machine::{factory, Factory, SimCpu};
use strandline_order::litmus::Instruction;
use strandline_order::Test;

/// Number of divisions in the longest delay between two instructions, and before the first: some threads start long
/// after the others have finished.
const LONGEST_DELAY: u64 = 24;
const SHORTEST_START: u64 = 24;

/// Maximum number of other lines that a thread writes first, so that queues and banks are busy.
const TRAFFIC: u64 = 8;

/// The kind of delay of a thread's instructions.
#[derive(Clone, Copy)]
pub enum Delays {
    /// Not at all.
    None,
    /// They retire late; loads do not wait for that.
    Retirement,
    /// Their addresses are ready late, so that loads also wait and observe other threads' stores.
    Addresses,
    /// The first one also starts late, so that it observes other threads' stores.
    Start,
}

impl Delays {
    /// What is delayed, in words.
    fn delayed(self) -> &'static str {
        match self {
            Delays::None => "nothing",
            Delays::Retirement => "retirement",
            Delays::Addresses | Delays::Start => "addresses",
        }
    }
}

/// Most threads start together, so that many of their operations overlap.
const KINDS: [Delays; 6] = [
    Delays::None,
    Delays::None,
    Delays::Retirement,
    Delays::Retirement,
    Delays::Addresses,
    Delays::Start,
];

/// What a thread does beside its instructions. No model can distinguish its flushes from evictions.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Unused lines that it writes and flushes first.
    pub traffic: Vec<Addr>,
    /// Divisions before each instruction.
    pub delays: Vec<u64>,
    /// What the divisions delay.
    pub delayed: &'static str,
    /// Lines that it flushes at its end, so that crash states show the last stores.
    pub written_back: Vec<Addr>,
    /// Where it goes on, if it moves to another core.
    pub moves: Option<Move>,
}

/// A thread of a test.
pub struct Thread {
    /// What its core executes.
    pub program: Factory,
    /// What the core executes to which it moves.
    pub goes_on: Option<Factory>,
    /// What it does beside its instructions.
    pub beside: Beside,
}

/// What one core executes of a thread.
#[derive(Clone)]
struct Part {
    layout: Rc<Layout>,
    kind: Delays,
    traffic: Vec<Addr>,
    /// With the divisions before each.
    instructions: Vec<(Instruction, u64)>,
    written_back: Vec<Addr>,
    arrives: Option<Journey>,
    leaves: Option<Journey>,
}

/// The test's threads, with random delays between instructions, and what each does beside them. Some of them may move.
pub fn threads(test: &Test, layout: &Rc<Layout>, moves: &[Option<Move>], rng: &mut Rng) -> Vec<Thread> {
    let thread = |(number, instructions): (usize, &Vec<Instruction>)| -> Thread {
        let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
        let delays = delays(kind, instructions.len(), rng);
        let written_back = some(layout.persistent(test), rng);
        let traffic = match rng.below(4) {
            0 => some_of(layout.spare(), TRAFFIC, rng),
            _ => Vec::new(),
        };
        let beside = Beside {
            traffic,
            delays,
            delayed: kind.delayed(),
            written_back,
            moves: moves.get(number).copied().flatten(),
        };
        let whole = Part {
            layout: layout.clone(),
            kind,
            traffic: beside.traffic.clone(),
            instructions: instructions
                .iter()
                .copied()
                .zip(beside.delays.iter().copied())
                .collect(),
            written_back: beside.written_back.clone(),
            arrives: None,
            leaves: None,
        };
        let (first, second) = match beside.moves {
            Some(moves) => whole.split(moves),
            None => (whole, None),
        };
        Thread {
            program: first.factory(),
            goes_on: second.map(Part::factory),
            beside,
        }
    };
    test.threads.iter().enumerate().map(thread).collect()
}

impl Part {
    /// What the first core executes of a thread that moves, and what the second one does.
    fn split(mut self, moves: Move) -> (Part, Option<Part>) {
        let later = self.instructions.split_off(moves.after);
        let journey = Journey::behind(self.instructions.iter().map(|(instruction, _)| instruction), moves);
        let second = Part {
            layout: self.layout.clone(),
            kind: self.kind,
            traffic: Vec::new(),
            instructions: later,
            written_back: std::mem::take(&mut self.written_back),
            arrives: Some(journey.clone()),
            leaves: None,
        };
        self.leaves = Some(journey);
        (self, Some(second))
    }

    fn factory(self) -> Factory {
        factory(move |cpu| self.clone().run(cpu))
    }

    fn run(self, cpu: &SimCpu<'_>) {
        let mut registers = Registers::new(cpu, &self.layout);
        if let Some(journey) = self.arrives {
            registers.set(&journey.arrives(cpu));
        }
        let flush = cpu.lowering().flush.unwrap_or(Flush::Clwb);
        for address in self.traffic {
            cpu.word(address.0).store(cpu.word(1));
            cpu.word(address.0).flush_by(flush);
        }
        for (instruction, delay) in self.instructions {
            registers.wait(delay, self.kind);
            registers.execute(instruction);
        }
        if let Some(journey) = self.leaves {
            journey.leaves(cpu, registers.bits());
        }
        for address in self.written_back {
            cpu.word(address.0).flush_by(flush);
        }
    }
}

/// The number of divisions before each instruction.
fn delays(kind: Delays, instructions: usize, rng: &mut Rng) -> Vec<u64> {
    let mut delay = |index: usize| match kind {
        Delays::None => 0,
        Delays::Start if index == 0 => {
            let most = SHORTEST_START << rng.below(5);
            rng.below(most)
        }
        _ if rng.one_in(2) => rng.below(LONGEST_DELAY),
        _ => 0,
    };
    (0..instructions).map(&mut delay).collect()
}

/// All of these, so that threads write back the same lines one after the other; or none; or some in any order.
fn some(from: Vec<Addr>, rng: &mut Rng) -> Vec<Addr> {
    match rng.below(4) {
        0 => Vec::new(),
        1 => {
            let most = from.len() as u64;
            some_of(from, most, rng)
        }
        _ => from,
    }
}

/// A random subset of these, in any order.
fn some_of(mut from: Vec<Addr>, most: u64, rng: &mut Rng) -> Vec<Addr> {
    let count = rng.below(most + 1);
    (0..count)
        .map(|_| from.swap_remove(rng.below(from.len() as u64) as usize))
        .collect()
}
