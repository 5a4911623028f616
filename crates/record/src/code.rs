//! Fences and markers in the machine code of a block.

use crate::recording::{Block, Totals};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use strandline_capture::{Access, AccessKind, Marker};

/// An instruction that orders its neighbours or annotates the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `sfence`
    Sfence,
    /// `mfence`
    Mfence,
    /// A marker.
    Marker(Marker),
}

impl Sign {
    /// The sign of an instruction, if any.
    pub fn of(instruction: &Instruction) -> Option<Sign> {
        match instruction.mnemonic() {
            Mnemonic::Sfence => Some(Sign::Sfence),
            Mnemonic::Mfence => Some(Sign::Mfence),
            Mnemonic::Nop => marker(instruction).map(Sign::Marker),
            _ => None,
        }
    }

    /// Whether it is a fence.
    pub fn fences(self) -> bool {
        matches!(self, Sign::Sfence | Sign::Mfence)
    }
}

/// The marker of a `nop`, in the only form of markers.
fn marker(nop: &Instruction) -> Option<Marker> {
    let is_form = nop.code() == Code::Nop_rm32
        && nop.op0_kind() == OpKind::Memory
        && nop.segment_prefix() == Register::None
        && nop.memory_base() == Register::RAX
        && nop.memory_index() == Register::None;
    is_form.then(|| Marker::of(nop.memory_displacement32()))?
}

/// The signs of code at this address, each with the index of its instruction.
pub(crate) fn signs(pc: u64, code: &[u8]) -> Vec<(u16, Sign)> {
    let decoder = Decoder::with_ip(64, code, pc, DecoderOptions::NONE);
    let signs = decoder.into_iter().zip(0..=u16::MAX);
    signs
        .filter_map(|(instruction, index)| Some((index, Sign::of(&instruction)?)))
        .collect()
}

/// The instructions of a block that store more than eight bytes at once, as their manuals say, with their addresses.
pub(crate) fn at_once(block: &Block) -> Vec<(u64, &'static str)> {
    let may = |access: &Access| {
        matches!(
            (access.kind, access.size),
            (AccessKind::Atomic, 16) | (AccessKind::StoreNt, 64)
        )
    };
    if !block.accesses.iter().any(may) {
        return Vec::new();
    }
    let name = |instruction: &Instruction| match instruction.mnemonic() {
        Mnemonic::Cmpxchg16b => Some((instruction.ip(), "cmpxchg16b")),
        Mnemonic::Movdir64b => Some((instruction.ip(), "movdir64b")),
        _ => None,
    };
    instructions(block).iter().filter_map(name).collect()
}

/// The instructions of a block.
pub(crate) fn instructions(block: &Block) -> Vec<Instruction> {
    let decoder = Decoder::with_ip(64, &block.code, block.pc, DecoderOptions::NONE);
    decoder.into_iter().take(block.instructions as usize).collect()
}

/// Whether an instruction that stores, stores to the stack: at the stack or frame pointer, or by `push` or `call`.
pub(crate) fn stores_to_stack(instruction: &Instruction) -> bool {
    let is_explicit = (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    let is_of_stack = matches!(instruction.memory_base(), Register::RSP | Register::RBP)
        && instruction.memory_index() == Register::None
        && instruction.segment_prefix() == Register::None;
    matches!(instruction.mnemonic(), Mnemonic::Call | Mnemonic::Push) || is_explicit && is_of_stack
}

/// The address of a block's instruction of this index.
pub(crate) fn address_of(block: &Block, instruction: u16) -> u64 {
    let decoder = Decoder::with_ip(64, &block.code, block.pc, DecoderOptions::NONE);
    let found = decoder.into_iter().nth(usize::from(instruction));
    found.map_or(block.pc, |instruction| instruction.ip())
}

/// The counts of a block's first instructions and accesses, without persistent stores.
pub(crate) fn totals(block: &Block, instructions: u32, accesses: usize) -> Totals {
    let mut totals = Totals {
        blocks: 1,
        instructions: u64::from(instructions),
        ..Totals::default()
    };
    for access in &block.accesses[..accesses] {
        totals.count(access.kind);
    }
    for (index, sign) in signs(block.pc, &block.code) {
        match sign {
            _ if u32::from(index) >= instructions => {}
            Sign::Sfence => totals.sfences += 1,
            Sign::Mfence => totals.mfences += 1,
            Sign::Marker(Marker::TaskEnd) => totals.tasks += 1,
            Sign::Marker(_) => {}
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of this code.
    fn block(code: &[u8], instructions: u32) -> Block {
        Block {
            pc: 0x1000,
            code: code.to_vec(),
            instructions,
            accesses: vec![],
            repeats: false,
            fences: vec![],
        }
    }

    /// `nop dword ptr [rax + displacement]`
    fn nop(displacement: u32) -> Vec<u8> {
        [&[0x0f, 0x1f, 0x80][..], &displacement.to_le_bytes()].concat()
    }

    #[test]
    fn fences_and_markers_are_found_among_other_instructions() {
        let sfence = [0x0f, 0xae, 0xf8];
        let mfence = [0x0f, 0xae, 0xf0];
        let clwb = [0x66, 0x0f, 0xae, 0x30];
        let code = [
            &clwb[..],
            &sfence,
            &nop(Marker::TaskEnd.displacement()),
            &nop(0x100),
            &mfence,
        ]
        .concat();
        let found = [(1, Sign::Sfence), (2, Sign::Marker(Marker::TaskEnd)), (4, Sign::Mfence)];
        assert_eq!(signs(0x1000, &code), found);
        let other_base = [&[0x0f, 0x1f, 0x83][..], &Marker::TaskEnd.displacement().to_le_bytes()].concat();
        assert_eq!(signs(0x1000, &other_base), [], "another `nop` is no marker");
        let all = totals(&block(&code, 5), 5, 0);
        assert_eq!((all.sfences, all.tasks, all.mfences, all.instructions), (1, 1, 1, 5));
        let cut = totals(&block(&code, 5), 2, 0);
        assert_eq!((cut.sfences, cut.tasks, cut.mfences, cut.instructions), (1, 0, 0, 2));
    }
}
