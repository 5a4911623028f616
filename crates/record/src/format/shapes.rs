//! What encoding and decoding need of the blocks of code, packed.

use super::MAX_ACCESSES;
use crate::recording::Block;

/// A block of code.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// The number of its first access among the accesses of all blocks.
    pub slot: u32,
    /// Accesses.
    pub accesses: u32,
    /// The number of the first word of its values among those of all blocks.
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
    /// Words of the value of each access.
    pub words: Vec<u8>,
    /// Bytes of each access, and whether it writes.
    pub extents: Vec<(u16, bool)>,
    /// Words of the values of all accesses.
    pub values: u32,
}

impl Shapes {
    /// Adds a block; says what is wrong with it if something is.
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

    /// The words of values of each of so many first accesses of a block.
    pub fn words(&self, shape: &Shape, accesses: usize) -> &[u8] {
        let first = shape.slot as usize;
        &self.words[first..first + accesses]
    }
}

/// Says what is wrong with the definition of a block if something is.
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
        return Err("accesses or fences of a block of code are not in order");
    }
    Ok(())
}
