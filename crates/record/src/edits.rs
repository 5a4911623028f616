//! Changes to the flushes and fences of a recorded program, to ask what it would be with fewer or weaker ones.

use crate::code::signs;
use crate::{AccessKind, Block};
use iced_x86::{Decoder, DecoderOptions};
use std::collections::{BTreeMap, HashSet};

/// A change of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// It is left out.
    Drop,
    /// An `mfence` becomes an `sfence`, a `clflush` a `clwb`; others stay.
    Weaken,
}

/// An executed flush or fence: its thread, and its number among those of the thread, from 1.
pub type Execution = (u32, u64);

/// What is changed.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// Instructions, by their addresses.
    pub code: BTreeMap<u64, Edit>,
    /// Single executions that are left out, for the replay alone.
    pub executions: HashSet<Execution>,
}

impl Edits {
    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.code.is_empty() && self.executions.is_empty()
    }

    /// The change of the instruction at this address.
    #[must_use]
    pub fn of(&self, pc: u64) -> Option<Edit> {
        self.code.get(&pc).copied()
    }

    /// The flushes and fences of a block that are changed, by the indices of their instructions.
    pub(crate) fn within(&self, block: &Block) -> Vec<(u16, Edit)> {
        let end = block.pc.saturating_add(block.code.len() as u64);
        if self.code.range(block.pc..end).next().is_none() {
            return Vec::new();
        }
        let decoder = Decoder::with_ip(64, &block.code, block.pc, DecoderOptions::NONE);
        let addresses: Vec<u64> = decoder.into_iter().map(|instruction| instruction.ip()).collect();
        let fences = signs(block.pc, &block.code).into_iter();
        let fences = fences.filter(|(_, sign)| sign.fences()).map(|(index, _)| index);
        let flushes = block.accesses.iter().filter(|access| flushes(access.kind));
        let places = fences.chain(flushes.map(|access| access.instruction));
        places
            .filter_map(|index| Some((index, self.of(*addresses.get(usize::from(index))?)?)))
            .collect()
    }
}

fn flushes(kind: AccessKind) -> bool {
    matches!(kind, AccessKind::Clwb | AccessKind::ClflushOpt | AccessKind::Clflush)
}
