//! The registers of a litmus test's thread, and its instructions on the simulated machine.

use super::layout::Layout;
use super::program::Delays;
use strandline_isa::{sites, Cpu, Note, Primitive, W};
use strandline_machine::SimCpu;
use strandline_order::litmus::{Alone, Instruction, LocationId, Operand, Register};

sites! {
    COMPARED_IS_EQUAL = 0x3d81_5b27;
}

/// How many there are.
pub const COUNT: usize = 14;

/// A thread's registers, on the core that executes it.
pub struct Registers<'c> {
    cpu: &'c SimCpu<'c>,
    layout: &'c Layout,
    values: [W<'c, SimCpu<'c>>; COUNT],
    /// What was compared last, and with what.
    compared: (W<'c, SimCpu<'c>>, u64),
    /// A zero that is ready late: a part of every address.
    late: W<'c, SimCpu<'c>>,
}

impl<'c> Registers<'c> {
    /// All zero.
    pub fn new(cpu: &'c SimCpu<'c>, layout: &'c Layout) -> Self {
        Registers {
            cpu,
            layout,
            values: [cpu.word(0); COUNT],
            compared: (cpu.word(0), 0),
            late: cpu.word(0),
        }
    }

    /// Their values.
    pub fn bits(&self) -> [u64; COUNT] {
        self.values.map(|value| value.bits())
    }

    /// Sets them all, as a core does to which a thread has moved.
    pub fn set(&mut self, bits: &[u64; COUNT]) {
        self.values = bits.map(|bits| self.cpu.word(bits));
    }

    /// Delays the instructions that follow.
    pub fn wait(&mut self, divisions: u64, kind: Delays) {
        let mut value = self.late;
        for _ in 0..divisions {
            value = value.remainder(2);
        }
        if matches!(kind, Delays::Addresses | Delays::Start) {
            self.late = value;
        }
    }

    fn address(&self, at: LocationId) -> W<'c, SimCpu<'c>> {
        self.late.at(self.layout.address(at).0)
    }

    fn register(&mut self, register: Register) -> &mut W<'c, SimCpu<'c>> {
        &mut self.values[register.0 as usize]
    }

    fn value(&mut self, operand: Operand) -> W<'c, SimCpu<'c>> {
        match operand {
            Operand::Number(number) => self.cpu.word(u64::from(number)),
            Operand::Register(register) => *self.register(register),
        }
    }

    /// Executes an instruction.
    pub fn execute(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Load(register, at, acquires) => {
                *self.register(register) = self.address(at).load();
                if acquires {
                    self.cpu.primitive(Primitive::Acquire);
                }
            }
            Instruction::Store(at, operand, releases) => {
                let value = self.value(operand);
                if releases {
                    self.cpu.primitive(Primitive::Release);
                }
                self.address(at).store(value);
            }
            Instruction::StoreNt(at, operand) => {
                let value = self.value(operand);
                self.address(at).store_nt(value);
            }
            Instruction::LoadAt(register, at, index) => {
                let address = self.address(at) + *self.register(index);
                *self.register(register) = address.load();
            }
            Instruction::StoreAt(at, index, operand) => {
                let value = self.value(operand);
                (self.address(at) + *self.register(index)).store(value);
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
                *self.register(register) = self.address(at).swap(value);
            }
            Instruction::Add(at, register) => {
                let value = *self.register(register);
                *self.register(register) = self.address(at).fetch_add(value);
            }
            Instruction::Out(at, operand) => {
                let value = self.value(operand).bits();
                let location = u32::from(at.0);
                self.cpu.note(Note::Output { location, value });
            }
            Instruction::Flush(at, kind) => self.address(at).flush_by(kind.into()),
            Instruction::Persist(at) => self.address(at).flush(),
            Instruction::Fence(class) => match class.alone() {
                Some(Alone::Primitive(primitive)) => self.cpu.primitive(primitive),
                Some(Alone::Intent(intent)) => self.cpu.intent(intent),
                None => {}
            },
            // No model of a design takes these.
            Instruction::StoreTo(..) | Instruction::FlushTo(..) => {}
            Instruction::SetContext(context) => self.cpu.primitive(Primitive::Setctx(context)),
            Instruction::ContextFence(context) => self.cpu.primitive(Primitive::Cfence(context)),
        }
    }
}
