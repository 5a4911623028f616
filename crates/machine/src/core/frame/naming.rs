//! Which values have names, and the slots of those.

use super::{FrameStep, Operand, SLOTS};
use std::array::from_fn;
use std::collections::VecDeque;
use strandline_isa::Alu;

/// The values so far, as far as they matter.
#[derive(Clone, Default)]
pub struct Naming {
    /// The number of the latest value or slot. Values are numbered from 1.
    pub latest: u64,
    /// The result of the latest operation, if it is in a register alone; otherwise 0.
    held: u64,
    /// One bit for each of the latest values, the latest first: it has never been stored.
    unnamed: u64,
    /// The same for those that were used as intermediate results.
    used: u64,
    /// How deep in libraries' code the program is.
    library: u32,
}

impl Naming {
    /// Where an operation finds its operands; adds the steps that bring them there.
    pub fn takes<const N: usize>(&mut self, values: [u64; N], steps: &mut VecDeque<FrameStep>) -> [Operand; N] {
        let held = std::mem::take(&mut self.held);
        if self.unnamed & self.bit(held) != 0 && !values.contains(&held) {
            self.name(held, steps);
        }
        from_fn(|place| self.take(values[place], held, place, steps))
    }

    fn take(&mut self, value: u64, held: u64, place: usize, steps: &mut VecDeque<FrameStep>) -> Operand {
        match value {
            0 => Operand::Constant,
            _ if self.library > 0 => Operand::Value(value),
            _ if value == held => {
                self.used |= self.bit(value);
                Operand::Value(value)
            }
            _ => {
                if self.unnamed & self.bit(value) != 0 {
                    self.name(value, steps);
                    if self.used & self.bit(value) != 0 {
                        self.load(value, place, steps);
                    }
                }
                self.load(value, place, steps);
                Operand::Loaded(place)
            }
        }
    }

    /// The bit of a value; none if it is older than those that are known.
    fn bit(&self, value: u64) -> u64 {
        match self.latest - value {
            age if age < SLOTS && value != 0 => 1 << age,
            _ => 0,
        }
    }

    /// Stores a value to its slot.
    fn name(&mut self, value: u64, steps: &mut VecDeque<FrameStep>) {
        self.unnamed &= !self.bit(value);
        steps.push_back(FrameStep::Store {
            slot: value % SLOTS,
            data: Operand::Value(value),
        });
    }

    fn load(&self, value: u64, to: usize, steps: &mut VecDeque<FrameStep>) {
        let slot = self.slot(value);
        steps.push_back(FrameStep::Load { slot, to });
    }

    /// The slot of a value. One whose slot was given to a later value is of an outer frame: what nothing writes again.
    fn slot(&self, value: u64) -> u64 {
        match self.bit(value) {
            0 => SLOTS + value % SLOTS,
            _ => value % SLOTS,
        }
    }

    /// A place for the next value.
    fn next(&mut self) -> u64 {
        self.latest += 1;
        self.unnamed <<= 1;
        self.used <<= 1;
        self.latest
    }

    /// An operation's result.
    pub fn produces(&mut self) -> u64 {
        let value = self.flags();
        self.unnamed |= 1;
        value
    }

    /// A comparison's result. Flags never get a name.
    pub fn flags(&mut self) -> u64 {
        let value = self.next();
        if self.library == 0 {
            self.held = value;
        }
        value
    }

    /// The caller loads the arguments, the call pushes the return address; the function pushes the frame pointer, makes
    /// its frame, and stores the arguments.
    pub fn calls(&mut self, arguments: u32, steps: &mut VecDeque<FrameStep>) {
        if self.library > 0 {
            return;
        }
        (0..arguments).for_each(|argument| steps.push_back(outer(argument.into())));
        self.pushes(2, steps);
        (0..2).for_each(|_| steps.push_back(MOVE));
        self.pushes(arguments, steps);
    }

    /// `leave` and `ret` load the frame pointer and the return address.
    pub fn returns(&mut self, steps: &mut VecDeque<FrameStep>) {
        if self.library == 0 {
            steps.extend([outer(0), outer(1)]);
        }
    }

    fn pushes(&mut self, words: u32, steps: &mut VecDeque<FrameStep>) {
        for _ in 0..words {
            let slot = self.next() % SLOTS;
            let data = Operand::Constant;
            steps.push_back(FrameStep::Store { slot, data });
        }
    }

    pub fn enter_library(&mut self) {
        self.library += 1;
        self.held = 0;
    }

    pub fn leave_library(&mut self) {
        self.library -= 1;
    }
}

/// A load of a slot of an outer frame on which no operation depends.
fn outer(slot: u64) -> FrameStep {
    FrameStep::Load {
        slot: SLOTS + slot,
        to: 0,
    }
}

/// A micro-op on the stack pointer.
const MOVE: FrameStep = FrameStep::Alu {
    op: Alu::Simple,
    operands: [Operand::Constant; 2],
    to: 0,
    fused: false,
};
