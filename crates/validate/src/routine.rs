//! Routines: short loops of instructions that a processor and a simulated core both execute.

use strandline_isa::LINE_BYTES;
use strandline_kernel::Rng;

/// Bytes of a page, to which a routine's memory is aligned.
pub const PAGE_BYTES: u64 = 4096;

/// A register of a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reg(pub u8);

/// Registers of a routine: what x86-64 has left beside the stack, the loop's counter and the place of these registers.
pub const REGISTERS: usize = 13;

/// Where an instruction accesses memory: the sum of these is aligned to eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveAddress {
    /// A register that holds an address.
    pub base: Reg,
    /// A register that is added, if any.
    pub index: Option<Reg>,
    /// A constant that is added.
    pub offset: i32,
}

/// An instruction: one of x86-64, and one micro-op of a simulated core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutineOp {
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
        at: EffectiveAddress,
    },
    /// Stores eight bytes.
    Store {
        /// What is stored.
        from: Reg,
        /// Where.
        at: EffectiveAddress,
    },
    /// Stores eight bytes, bypassing the caches.
    StoreNt {
        /// What is stored.
        from: Reg,
        /// Where.
        at: EffectiveAddress,
    },
    /// Adds a register to eight bytes, locked, and gets what they were: `lock xadd`.
    LockedAdd {
        /// What is added; then what was there.
        register: Reg,
        /// Where.
        at: EffectiveAddress,
    },
    /// Writes a line back.
    Clwb {
        /// An address in the line.
        at: EffectiveAddress,
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

/// What a routine's memory holds at first.
#[derive(Clone, Debug, Default)]
pub enum Filling {
    /// Zero.
    #[default]
    Zero,
    /// Zero, but for these words, each behind its offset.
    Words(Vec<(u64, Word)>),
    /// Pointers in lines so many bytes apart, each to another one in random order, the last to the first.
    Chain {
        /// How many lines.
        lines: u64,
        /// Their distance. Lines of different pages are at different places of theirs: those of one place share sets
        /// of the caches.
        distance: u64,
    },
}

impl Filling {
    /// The words that are not zero, and their offsets.
    #[must_use]
    pub fn words(&self) -> Vec<(u64, Word)> {
        match self {
            Filling::Zero => Vec::new(),
            Filling::Words(words) => words.clone(),
            Filling::Chain { lines, distance } => chain(*lines, *distance),
        }
    }
}

/// Pages after which lines of one place in them share a set of an L2 of 2,048 sets.
const SETS_PAGES: u64 = 32;

fn chain(lines: u64, distance: u64) -> Vec<(u64, Word)> {
    let skew = |line: u64| match distance < PAGE_BYTES {
        true => 0,
        false => (line + line / SETS_PAGES) * LINE_BYTES % PAGE_BYTES,
    };
    let place = |line: u64| line * distance + skew(line);
    let order = shuffled(lines);
    let next = order.iter().cycle().skip(1);
    let pointer = |(at, next): (&u64, &u64)| (place(*at), Word::Address(place(*next)));
    order.iter().zip(next).map(pointer).collect()
}

/// The numbers below `count` in random order, the same ones in each run.
#[must_use]
pub fn shuffled(count: u64) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).collect();
    let mut rng = Rng::new(1);
    for last in (1..numbers.len()).rev() {
        numbers.swap(last, rng.below(last as u64 + 1) as usize);
    }
    numbers
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
    /// Its contents at first.
    pub filling: Filling,
    /// The loop's instructions.
    pub body: Vec<RoutineOp>,
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
        self.body.iter().any(|op| matches!(op, RoutineOp::Clwb { .. }))
    }
}
