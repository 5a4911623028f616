//! A litmus test as programs of the simulated machine.

use super::layout::Layout;
use std::rc::Rc;
use strandline_isa::{sites, Addr, Cpu, Flush, Note, Primitive, W};
use strandline_kernel::Rng;
use strandline_machine::{Factory, SimCpu};
use strandline_order::litmus::{Alone, Instruction, LocationId, Operand, Register};
use strandline_order::Test;

/// Number of divisions in the longest delay between two instructions, and before the first: some threads start long
/// after the others have finished.
const LONGEST_DELAY: u64 = 24;
const SHORTEST_START: u64 = 24;

/// Maximum number of other lines that a thread writes first, so that queues and banks are busy.
const TRAFFIC: u64 = 8;

sites! {
    COMPARED_IS_EQUAL = 0x3d81_5b27;
}

/// The kind of delay of a thread's instructions.
#[derive(Clone, Copy)]
enum Delays {
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
}

/// The test's threads, with random delays between instructions, and what each does beside them.
pub fn threads(test: &Test, layout: &Rc<Layout>, rng: &mut Rng) -> Vec<(Factory, Beside)> {
    let thread = |instructions: &Vec<Instruction>| -> (Factory, Beside) {
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
        };
        let (layout, instructions, does) = (layout.clone(), instructions.clone(), beside.clone());
        let factory: Factory = Rc::new(move |cpu: SimCpu| {
            let (layout, instructions) = (layout.clone(), instructions.clone());
            let Beside {
                traffic,
                delays,
                written_back,
                ..
            } = does.clone();
            Box::pin(async move {
                let mut registers = Registers::new(&cpu, &layout);
                let flush = cpu.lowering().flush.unwrap_or(Flush::Clwb);
                for address in traffic {
                    cpu.word(address.0).store(cpu.word(1)).await;
                    cpu.word(address.0).flush_by(flush).await;
                }
                for (instruction, delay) in instructions.into_iter().zip(delays) {
                    registers.wait(delay, kind);
                    registers.execute(instruction).await;
                }
                for address in written_back {
                    cpu.word(address.0).flush_by(flush).await;
                }
            })
        });
        (factory, beside)
    };
    test.threads.iter().map(thread).collect()
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

struct Registers<'c> {
    cpu: &'c SimCpu,
    layout: &'c Layout,
    values: [W<'c, SimCpu>; 14],
    /// What was compared last, and with what.
    compared: (W<'c, SimCpu>, u64),
    /// A zero that is ready late: a part of every address.
    late: W<'c, SimCpu>,
}

impl<'c> Registers<'c> {
    fn new(cpu: &'c SimCpu, layout: &'c Layout) -> Self {
        Registers {
            cpu,
            layout,
            values: [cpu.word(0); 14],
            compared: (cpu.word(0), 0),
            late: cpu.word(0),
        }
    }

    /// Delays the instructions that follow.
    fn wait(&mut self, divisions: u64, kind: Delays) {
        let mut value = self.late;
        for _ in 0..divisions {
            value = value.remainder(2);
        }
        if matches!(kind, Delays::Addresses | Delays::Start) {
            self.late = value;
        }
    }

    fn address(&self, at: LocationId) -> W<'c, SimCpu> {
        self.late.at(self.layout.address(at).0)
    }

    fn register(&mut self, register: Register) -> &mut W<'c, SimCpu> {
        &mut self.values[register.0 as usize]
    }

    fn value(&mut self, operand: Operand) -> W<'c, SimCpu> {
        match operand {
            Operand::Number(number) => self.cpu.word(u64::from(number)),
            Operand::Register(register) => *self.register(register),
        }
    }

    async fn execute(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Load(register, at, acquires) => {
                *self.register(register) = self.address(at).load().await;
                if acquires {
                    self.cpu.primitive(Primitive::Acquire).await;
                }
            }
            Instruction::Store(at, operand, releases) => {
                let value = self.value(operand);
                if releases {
                    self.cpu.primitive(Primitive::Release).await;
                }
                self.address(at).store(value).await;
            }
            Instruction::StoreNt(at, operand) => {
                let value = self.value(operand);
                self.address(at).store_nt(value).await;
            }
            Instruction::LoadAt(register, at, index) => {
                let address = self.address(at) + *self.register(index);
                *self.register(register) = address.load().await;
            }
            Instruction::StoreAt(at, index, operand) => {
                let value = self.value(operand);
                (self.address(at) + *self.register(index)).store(value).await;
            }
            Instruction::Clear(register) => {
                let (value, same) = (*self.register(register), *self.register(register));
                *self.register(register) = value ^ same;
            }
            Instruction::Compare(register, number) => self.compared = (*self.register(register), u64::from(number)),
            // Both ways lead to the label, which comes next.
            Instruction::Jump(_) => _ = self.compared.0.is(self.compared.1).branch(COMPARED_IS_EQUAL),
            Instruction::Label(_) => {}
            Instruction::Set(register, number) => *self.register(register) = self.cpu.word(u64::from(number)),
            Instruction::Exchange(at, register) => {
                let value = *self.register(register);
                *self.register(register) = self.address(at).swap(value).await;
            }
            Instruction::Add(at, register) => {
                let value = *self.register(register);
                *self.register(register) = self.address(at).fetch_add(value).await;
            }
            Instruction::Out(at, operand) => {
                let value = self.value(operand).bits();
                let location = u32::from(at.0);
                self.cpu.note(Note::Output { location, value });
            }
            Instruction::Flush(at, kind) => self.address(at).flush_by(kind.into()).await,
            Instruction::Persist(at) => self.address(at).flush().await,
            Instruction::Fence(class) => match class.alone() {
                Some(Alone::Primitive(primitive)) => self.cpu.primitive(primitive).await,
                Some(Alone::Intent(intent)) => self.cpu.intent(intent).await,
                None => {}
            },
            Instruction::SetContext(context) => self.cpu.primitive(Primitive::Setctx(context)).await,
            Instruction::ContextFence(context) => self.cpu.primitive(Primitive::Cfence(context)).await,
        }
    }
}
