//! Recorded machine code as micro-ops; each block is decoded once.
//!
//! An entry of the window corresponds to one fused micro-op of modern x86 cores: one for a load with arithmetic, two
//! for an update of memory (load with arithmetic, store), one for a comparison with the conditional jump behind it.
//! `docs/recordings.md` lists the approximations.

mod class;
mod decode;
mod emit;
mod op;
mod registers;
#[cfg(test)]
mod tests;

pub use op::{MicroKind, MicroOp};
pub use registers::{Slot, SLOTS};

use crate::stack::Libraries;
use crate::{Block, Edit, Recording};
use std::ops::Range;

/// All blocks of a recording as micro-ops, in one array.
#[derive(Debug, Default)]
pub struct Code {
    ops: Vec<MicroOp>,
    /// The end of each instruction's micro-ops, for all blocks in sequence.
    ends: Vec<u32>,
    bodies: Vec<Body>,
}

/// A block, for the replay.
#[derive(Clone, Debug)]
pub struct Body {
    /// The address of its first instruction.
    pub pc: u64,
    /// The address behind its last one.
    pub falls_to: u64,
    /// Its memory accesses.
    pub accesses: u32,
    /// Number of value words that they write.
    pub value_words: u32,
    /// Its instructions.
    pub instructions: u32,
    /// It is one iteration of a string instruction.
    pub repeats: bool,
    /// It is the program's own code, not a library's.
    pub is_own: bool,
    /// What its last instruction does to the calls in progress, by its last access.
    pub flow: Flow,
    ops: Range<u32>,
    first_end: u32,
}

/// What an instruction does to the calls in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Nothing.
    On,
    /// The call at this address stores its return address.
    Calls(u64),
    /// It loads its return address.
    Returns,
}

impl Code {
    /// Decodes the blocks of a recording, with its changes.
    #[must_use]
    pub fn of_recording(recording: &Recording) -> Code {
        let mut code = Code::of(recording.blocks());
        let libraries = Libraries::of(recording.modules());
        for body in &mut code.bodies {
            body.is_own = libraries.is_own(body.pc);
        }
        for (number, block) in recording.blocks().iter().enumerate() {
            for (index, edit) in recording.edits().within(block) {
                code.edit(number, index, edit);
            }
        }
        code
    }

    /// Weakens all instructions of these kinds.
    pub fn weaken(&mut self, kinds: &[MicroKind]) {
        let ops = self.ops.iter_mut().filter(|op| kinds.contains(&op.kind));
        ops.for_each(|op| op.edit(Edit::Weaken));
    }

    /// Changes an instruction of a block.
    fn edit(&mut self, block: usize, instruction: u16, edit: Edit) {
        let body = &self.bodies[block];
        let end = body.first_end as usize + usize::from(instruction);
        let start = match instruction {
            0 => body.ops.start,
            _ => self.ends[end - 1],
        };
        let ops = start as usize..self.ends[end] as usize;
        self.ops[ops].iter_mut().for_each(|op| op.edit(edit));
    }

    /// Decodes these blocks, all of them the program's own. An invalid instruction takes one entry, plus its recorded accesses.
    #[must_use]
    pub fn of(blocks: &[Block]) -> Code {
        let mut code = Code::default();
        for block in blocks {
            code.add(block);
        }
        code
    }

    fn add(&mut self, block: &Block) {
        let first = self.ops.len() as u32;
        let first_end = self.ends.len() as u32;
        let flow = decode::block(block, &mut self.ops, &mut self.ends);
        self.bodies.push(Body {
            pc: block.pc,
            falls_to: block.pc.wrapping_add(block.code.len() as u64),
            accesses: block.accesses.len() as u32,
            value_words: block.value_words(block.accesses.len()) as u32,
            instructions: block.instructions,
            repeats: block.repeats,
            is_own: true,
            flow,
            ops: first..self.ops.len() as u32,
            first_end,
        });
    }

    /// The block of this number.
    #[inline(always)]
    #[must_use]
    pub fn body(&self, block: u32) -> Option<&Body> {
        self.bodies.get(block as usize)
    }

    /// The micro-ops of a whole block.
    #[inline(always)]
    #[must_use]
    pub fn ops(&self, body: &Body) -> &[MicroOp] {
        &self.ops[body.ops.start as usize..body.ops.end as usize]
    }

    /// The micro-ops of a block's first instructions.
    #[must_use]
    pub fn first(&self, body: &Body, instructions: u32) -> &[MicroOp] {
        if instructions == 0 {
            return &[];
        }
        let last = instructions.min(body.instructions) - 1;
        let end = self.ends[(body.first_end + last) as usize];
        &self.ops[body.ops.start as usize..end as usize]
    }

    /// How many blocks there are.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.bodies.len()
    }
}
