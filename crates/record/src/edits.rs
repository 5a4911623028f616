//! Changes to the flushes, fences and stores of a recorded program: what would it be with fewer of them, with more, or with
//! a later store?

use crate::code::signs;
use crate::{AccessKind, Block};
use iced_x86::{Decoder, DecoderOptions};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A change of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// It is left out.
    Drop,
    /// An `mfence` becomes an `sfence`, a `clflush` a `clwb`; others stay.
    Weaken,
    /// What it stores in persistent memory is flushed directly behind it. A call stores what a library stores for it.
    Flush,
    /// As `Flush`, and a fence follows the instruction; the return, if it is a call.
    Persist,
    /// It stores behind the instruction at this address (behind the return from it, if that is a call), or before it
    /// executes again, or before another store to the same bytes. There its stores are flushed and fenced.
    Later(u64),
}

/// An executed flush or fence: its thread, and its number among those of the thread, from 1.
pub type Execution = (u32, u64);

/// What is changed.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    /// Instructions, by their addresses. A replay heeds only `Drop` and `Weaken`.
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

    /// The instructions behind which delayed stores come.
    pub(crate) fn targets(&self) -> BTreeSet<u64> {
        let target = |edit: &Edit| match edit {
            Edit::Later(target) => Some(*target),
            _ => None,
        };
        self.code.values().filter_map(target).collect()
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
