//! Block definitions, packed for encoding and decoding.

use super::MAX_ACCESSES;
use crate::recording::Block;

/// A block of code.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// The index of its first access among the accesses of all blocks.
    pub slot: u32,
    /// Accesses.
    pub accesses: u32,
    /// The index of its first value word among those of all blocks.
    pub value: u32,
    /// Words of values.
    pub values: u32,
    /// Accesses with values.
    pub valued: u32,
    /// Instructions.
    pub instructions: u32,
    /// Fences.
    pub fences: u32,
}

/// All blocks of code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    /// The blocks.
    pub blocks: Vec<Shape>,
    /// Number of value words of each access.
    pub words: Vec<u8>,
    /// Bytes of each access, and whether it writes.
    pub extents: Vec<(u16, bool)>,
    /// Number of value words of all accesses.
    pub values: u32,
}

impl Shapes {
    /// Adds a block; returns the error in it, if any.
    pub fn add(&mut self, block: &Block) -> Result<(), &'static str> {
        check(block)?;
        if self.words.len() + block.accesses.len() > 1 << 28 || self.blocks.len() >= 1 << 28 {
            return Err("there are too many blocks of code");
        }
        let words = block.accesses.iter().map(|access| access.value_words() as u8);
        let shape = Shape {
            slot: self.words.len() as u32,
            accesses: block.accesses.len() as u32,
            value: self.values,
            values: block.value_words(block.accesses.len()) as u32,
            valued: words.clone().filter(|words| *words > 0).count() as u32,
            instructions: block.instructions,
            fences: block.fences.len() as u32,
        };
        self.words.extend(words);
        let extents = block.accesses.iter().map(|access| (access.size, access.kind.writes()));
        self.extents.extend(extents);
        self.values += shape.values;
        self.blocks.push(shape);
        Ok(())
    }

    /// The number of value words of the first accesses of a block.
    pub fn words(&self, shape: &Shape, accesses: usize) -> &[u8] {
        let first = shape.slot as usize;
        &self.words[first..first + accesses]
    }
}

/// Returns the error in the definition of a block, if any.
pub(crate) fn check(block: &Block) -> Result<(), &'static str> {
    if block.accesses.len() > MAX_ACCESSES {
        return Err("a block of code has too many accesses");
    }
    if block.instructions as usize > block.code.len() {
        return Err("a block of code has more instructions than bytes");
    }
    let inside = |instruction: u16| u32::from(instruction) < block.instructions;
    if !block.accesses.iter().all(|access| inside(access.instruction))
        || !block.fences.iter().all(|fence| inside(*fence))
    {
        return Err("an access or fence lies behind the end of its block of code");
    }
    let sorted = block.accesses.is_sorted_by_key(|access| access.instruction);
    if !sorted || !block.fences.is_sorted_by(|a, b| a < b) {
        return Err("accesses or fences of a block of code are out of order");
    }
    Ok(())
}
