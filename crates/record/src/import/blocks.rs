//! Blocks of code, put together from the instructions that were executed.

use super::instruction::{Instruction, MAX_BYTES};
use crate::code::{signs, Sign};
use crate::recording::Block;
use std::collections::HashMap;
use strandline_capture::{Access, AccessKind, Marker};

/// The most instructions of a block.
pub const LONGEST: usize = 64;

/// What of a block matters for the classes of fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The access of this index is a flush or a non-temporal store.
    Persists(usize),
    /// A fence.
    Fence,
    /// A task ends, or a lock is released.
    Ends,
}

/// Instructions that were executed one after the other, and their accesses.
#[derive(Debug, Default)]
pub struct Run {
    /// Instructions, by their numbers.
    pub instructions: Vec<u32>,
    /// Their accesses.
    pub accesses: Vec<Access>,
    /// The accesses' addresses.
    pub addresses: Vec<u64>,
    key: Vec<u64>,
}

impl Run {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.instructions.clear();
        self.accesses.clear();
        self.addresses.clear();
    }
}

/// Instructions and blocks, each numbered from 0.
#[derive(Debug, Default)]
pub struct Blocks {
    instructions: Vec<Instruction>,
    numbers: HashMap<(u64, [u8; MAX_BYTES], u8), u32>,
    blocks: HashMap<Box<[u64]>, u32>,
    points: Vec<Vec<(u16, Point)>>,
}

impl Blocks {
    /// The number of an instruction.
    pub fn number(&mut self, instruction: Instruction) -> u32 {
        let next = self.instructions.len() as u32;
        let key = (instruction.pc, instruction.code, instruction.bytes);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.instructions.push(instruction);
        }
        number
    }

    /// An instruction.
    pub fn instruction(&self, number: u32) -> &Instruction {
        &self.instructions[number as usize]
    }

    /// What of a block matters for the classes of fences, each with the index of its instruction, in order.
    pub fn points(&self, block: u32) -> &[(u16, Point)] {
        &self.points[block as usize]
    }

    /// The number of the block that this run executed; a new one is given to `define`.
    ///
    /// The same code is another block if it made other accesses: a gather by its mask, a string instruction that repeated not at
    /// all.
    pub fn block(&mut self, run: &mut Run, define: impl FnOnce(Block) -> u32) -> u32 {
        run.key.clear();
        run.key.extend(run.instructions.iter().map(|number| u64::from(*number)));
        // No access looks like an instruction: its size, at the top, is not zero.
        run.key.extend(run.accesses.iter().map(|access| access.pack()));
        if let Some(block) = self.blocks.get(&run.key[..]) {
            return *block;
        }
        let block = self.describe(run);
        self.points.push(points(&block));
        let number = define(block);
        self.blocks.insert(run.key.clone().into(), number);
        number
    }

    fn describe(&self, run: &Run) -> Block {
        let instructions = || run.instructions.iter().map(|number| self.instruction(*number));
        let pc = instructions().next().map_or(0, |first| first.pc);
        let code: Vec<u8> = instructions()
            .flat_map(|one| one.code[..usize::from(one.bytes)].iter().copied())
            .collect();
        let repeats = !run.accesses.is_empty() && instructions().all(|one| one.repeats);
        let fences = signs(pc, &code).into_iter().filter(|(_, sign)| sign.fences());
        Block {
            pc,
            instructions: run.instructions.len() as u32,
            accesses: run.accesses.clone(),
            repeats,
            fences: fences.map(|(index, _)| index).collect(),
            code,
        }
    }
}

fn points(block: &Block) -> Vec<(u16, Point)> {
    let persists = |access: &Access| access.kind.flushes() || access.kind == AccessKind::StoreNt;
    let accesses = block.accesses.iter().enumerate().filter(|(_, access)| persists(access));
    let accesses = accesses.map(|(index, access)| (access.instruction, Point::Persists(index)));
    let sign = |(index, sign)| match sign {
        Sign::Sfence | Sign::Mfence => Some((index, Point::Fence)),
        Sign::Marker(Marker::TaskEnd) => Some((index, Point::Ends)),
        Sign::Marker(_) => None,
    };
    let signs = signs(block.pc, &block.code).into_iter().filter_map(sign);
    let mut points: Vec<(u16, Point)> = accesses.chain(signs).collect();
    points.sort_by_key(|(index, _)| *index);
    points
}
