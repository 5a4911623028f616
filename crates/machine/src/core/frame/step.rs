//! What a program without optimization executes between two of its accesses to memory.

use strandline_isa::{Alu, Site};

/// Where an operation finds an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operand {
    /// In the instruction.
    #[default]
    Constant,
    /// In the register in which its operation has left it.
    Value(u64),
    /// In a register into which it was loaded from its slot: the first or the second operand.
    Loaded(usize),
}

/// A micro-op, or part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameStep {
    /// A load of a slot, for the operation's first or second operand.
    Load { slot: u64, to: usize },
    /// A store of a register to a slot.
    Store { slot: u64, data: Operand },
    /// Arithmetic; in the same micro-op as the load before it if it is `fused`.
    Alu {
        op: Alu,
        operands: [Operand; 2],
        to: u64,
        fused: bool,
    },
    /// A conditional branch.
    Branch { on: Operand, taken: bool, site: Site },
    /// An indirect jump.
    Jump { on: Operand, to: u64, site: Site },
    /// The end of a turn of a loop that waits.
    Spin,
}
