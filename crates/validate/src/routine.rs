//! Routines: short loops of instructions that a processor and a simulated core both execute.

/// A register of a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reg(pub u8);

/// Registers of a routine: what x86-64 has left beside the stack, the loop's counter and the place of these registers.
pub const REGISTERS: usize = 13;

/// Where an instruction accesses memory: the sum of these is aligned to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// A register that holds an address.
    pub base: Reg,
    /// A register that is added, if any.
    pub index: Option<Reg>,
    /// A constant that is added.
    pub offset: i32,
}

/// An instruction: one of x86-64, and one micro-op of a simulated core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Adds `from` to `to`.
    Add {
        /// The sum.
        to: Reg,
        /// What is added.
        from: Reg,
    },
    /// Adds a constant.
    AddConstant {
        /// The sum.
        to: Reg,
        /// What is added.
        value: i32,
    },
    /// Keeps these bits.
    And {
        /// The result.
        to: Reg,
        /// A mask of at most 31 bits.
        mask: i32,
    },
    /// Multiplies `to` by `from`.
    Mul {
        /// The product.
        to: Reg,
        /// The factor.
        from: Reg,
    },
    /// Loads eight bytes.
    Load {
        /// What is loaded.
        to: Reg,
        /// From where.
        at: Place,
    },
    /// Stores eight bytes.
    Store {
        /// What is stored.
        from: Reg,
        /// Where.
        at: Place,
    },
    /// Stores eight bytes, bypassing the caches.
    StoreNt {
        /// What is stored.
        from: Reg,
        /// Where.
        at: Place,
    },
    /// Writes a line back.
    Clwb {
        /// An address in the line.
        at: Place,
    },
    /// Waits for the stores and write-backs before it: `sfence`.
    Fence,
    /// Jumps to the next instruction if these bits of a register are not all zero: `test` and `jnz`, which x86 cores
    /// execute as one micro-op.
    Branch {
        /// The register.
        on: Reg,
        /// Its bits.
        mask: i32,
    },
}

/// A word before a routine begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// This value.
    Value(u64),
    /// The address of this byte of the routine's memory.
    Address(u64),
}

/// A loop, and the state in which it begins.
///
/// It is executed in laps. Registers and memory of a lap are those that the lap before it has left.
#[derive(Clone, Debug, Default)]
pub struct Routine {
    /// Registers that are not zero at first.
    pub registers: Vec<(Reg, Word)>,
    /// Bytes of its memory, which begins at a page.
    pub bytes: u64,
    /// Words that are not zero at first, and their offsets.
    pub words: Vec<(u64, Word)>,
    /// The loop's instructions.
    pub body: Vec<Op>,
    /// How often a lap executes the loop.
    pub iterations: u64,
    /// Laps before the one that is timed.
    pub warm_laps: u64,
    /// Whether memory is in no cache at first.
    pub cold: bool,
}

impl Routine {
    /// Whether the processor must have `clwb`.
    #[must_use]
    pub fn flushes(&self) -> bool {
        self.body.iter().any(|op| matches!(op, Op::Clwb { .. }))
    }
}
