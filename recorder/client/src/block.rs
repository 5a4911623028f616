//! Blocks: straight-line code with numbers and definitions.

use std::collections::BTreeMap;

use strandline_capture::Access;

/// The recorder's data on a block.
pub struct Block {
    pc: u64,
    code: Vec<u8>,
    accesses: Vec<Access>,
    /// Offset of each instruction from the first, in bytes.
    offsets: Vec<u16>,
    flags: u32,
}

impl Block {
    /// Straight-line code.
    pub fn new(pc: u64, code: Vec<u8>, accesses: Vec<Access>, offsets: Vec<u16>, flags: u32) -> Self {
        Block {
            pc,
            code,
            accesses,
            offsets,
            flags,
        }
    }

    /// Words of a trace, with the control word.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words_before(self.offsets.len())
    }

    /// Words of a trace of its first instructions, with the control word.
    #[must_use]
    pub fn words_before(&self, instructions: usize) -> usize {
        let done = self
            .accesses
            .iter()
            .filter(|access| usize::from(access.instruction) < instructions);
        1 + done.map(|access| access.words()).sum::<usize>()
    }

    /// Its accesses, in order.
    #[must_use]
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Instructions.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.offsets.len()
    }

    /// The index of the instruction at this address.
    #[must_use]
    pub fn instruction_at(&self, pc: u64) -> Option<usize> {
        let offset = u16::try_from(pc.checked_sub(self.pc)?).ok()?;
        self.offsets.binary_search(&offset).ok()
    }

    fn same(&self, other: &Block) -> bool {
        self.code == other.code && self.flags == other.flags && self.accesses == other.accesses
    }

    fn describe(&self, id: u64, out: &mut Vec<u8>) {
        out.extend(id.to_le_bytes());
        out.extend(self.pc.to_le_bytes());
        for number in [self.code.len(), self.offsets.len(), self.accesses.len()] {
            out.extend((number as u32).to_le_bytes());
        }
        out.extend(self.flags.to_le_bytes());
        out.extend(&self.code);
        out.resize(out.len().next_multiple_of(8), 0);
        for access in &self.accesses {
            out.extend(access.pack().to_le_bytes());
        }
    }
}

/// All blocks.
#[derive(Default)]
pub struct Blocks {
    blocks: Vec<Block>,
    by_pc: BTreeMap<u64, Vec<u32>>,
    pending: Vec<u8>,
}

impl Blocks {
    /// The number of this block. DynamoRIO requests the same code more than once (for traces, after a flush, to locate
    /// a fault): it keeps its number. Changed code has a new number.
    pub fn define(&mut self, block: Block) -> u32 {
        let known = self.by_pc.entry(block.pc).or_default();
        let same = known.iter().find(|id| self.blocks[**id as usize].same(&block));
        if let Some(id) = same {
            return *id;
        }
        let id = u32::try_from(self.blocks.len()).expect("fewer than 2^32 blocks fit in memory");
        known.push(id);
        block.describe(u64::from(id), &mut self.pending);
        self.blocks.push(block);
        id
    }

    /// The block of this number.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<&Block> {
        self.blocks.get(usize::try_from(id).ok()?)
    }

    /// Definitions that are not written yet.
    pub fn take_pending(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }
}
