//! A micro-op as the replay issues it.

use super::registers::Slot;
use crate::Edit;
use strandline_isa::Alu;

/// The operation of a micro-op. "Entry" is an entry of the instruction window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MicroKind {
    /// Arithmetic of its class on the sources: one entry.
    Alu,
    /// One entry without a wait; the targets are ready when the first source is (a renamed move, a zeroed register).
    Entry,
    /// Arithmetic in the previous entry: no entry.
    Fused,
    /// The targets are ready when all sources are: no entry.
    Join,
    /// The next access, a load.
    Load,
    /// The load of the next access, which is an update; its store follows.
    UpdateLoad,
    /// The next access, a store.
    Store,
    /// The next access, a non-temporal store.
    StoreNt,
    /// The next access, a store of the bytes that its mask selects.
    StoreMasked,
    /// The next access, a non-temporal store of this kind.
    StoreNtMasked,
    /// The next access, a locked instruction.
    Locked,
    /// The next access, a flush.
    Clwb,
    /// The next access, a flush.
    ClflushOpt,
    /// The next access, a flush.
    Clflush,
    /// The next access, a flush that is left out: no entry.
    NoFlush,
    /// A fence that is left out: no entry.
    NoFence,
    /// `sfence`. Its `site` is the marker that replaces its class, or zero.
    Sfence,
    /// `mfence`. Its `site` is the marker that replaces its class, or zero.
    Mfence,
    /// The marker whose number is `site`: no entry.
    Marker,
    /// A conditional branch at the block's end, taken unless the next block follows in memory.
    Branch,
    /// A conditional branch within a block: not taken.
    NotTaken,
    /// A jump or call to an address in the sources; the prediction is its last target.
    Indirect,
}

impl MicroKind {
    /// Whether it is a non-temporal store.
    #[must_use]
    pub fn is_nt(self) -> bool {
        matches!(self, MicroKind::StoreNt | MicroKind::StoreNtMasked)
    }
}

/// A micro-op: its operation, its source registers, and its target registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicroOp {
    /// What it does.
    pub kind: MicroKind,
    /// The class of its arithmetic.
    pub alu: Alu,
    /// Source registers of its data; [`Slot::READY`] for none.
    pub sources: [Slot; 3],
    /// Target registers; [`Slot::NOWHERE`] for none.
    pub targets: [Slot; 3],
    /// Registers of its address; [`Slot::READY`] for none.
    pub address: [Slot; 2],
    /// Bytes of its access.
    pub size: u16,
    /// The site of a branch, or the number of a marker.
    pub site: u32,
}

impl MicroOp {
    /// A micro-op on no registers.
    #[must_use]
    pub fn new(kind: MicroKind) -> MicroOp {
        MicroOp {
            kind,
            alu: Alu::Simple,
            sources: [Slot::READY; 3],
            targets: [Slot::NOWHERE; 3],
            address: [Slot::READY; 2],
            size: 0,
            site: 0,
        }
    }

    /// A flush or fence is left out, or weakened.
    pub(super) fn edit(&mut self, edit: Edit) {
        self.kind = match (self.kind, edit) {
            (MicroKind::Clwb | MicroKind::ClflushOpt | MicroKind::Clflush, Edit::Drop) => MicroKind::NoFlush,
            (MicroKind::Sfence | MicroKind::Mfence, Edit::Drop) => MicroKind::NoFence,
            (MicroKind::Clflush, Edit::Weaken) => MicroKind::Clwb,
            (MicroKind::Mfence, Edit::Weaken) => MicroKind::Sfence,
            (kind, _) => kind,
        };
    }

    /// Whether it takes an entry of the window, if its access touches one line.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        !matches!(
            self.kind,
            MicroKind::Fused | MicroKind::Join | MicroKind::Marker | MicroKind::NoFlush | MicroKind::NoFence
        )
    }
}

const _: () = assert!(size_of::<MicroOp>() == 16, "four micro-ops a cache line of the host");
