//! The rows of a timeline. A time is `None` where it never came.

use super::table::row;
use crate::trace::TraceOp;
use serde::Serialize;
use strandline_isa::{Addr, Flush};

row! {
    /// A store, a locked instruction, a flush or a primitive of a core.
    pub struct TimelineOp {
        /// The core.
        core: u16,
        /// `store`, `nt-store`, `locked`, the flush's mnemonic, or the primitive.
        kind: InstructionKind,
        /// Where, of a store or flush.
        addr: Option<u64>,
        /// Bytes, of a store.
        size: u8,
        /// The context (COSPlay) of a store or flush, or that a primitive names.
        context: u8,
        /// When it was dispatched.
        dispatched: u64,
        /// When it may leave the store queue as far as its own core is concerned: it has executed and retired.
        ready: u64,
        /// When it left the store queue: a store to the caches or to the design, a flush to the write-back buffer.
        left: Option<u64>,
        /// When all cores saw the store.
        visible: Option<u64>,
        /// When a flush was acknowledged, or a fence retired.
        done: Option<u64>,
        /// The write that carries it (of a store), or whose acceptance acknowledges it (of a flush).
        write: Option<u32>,
        /// It is one of the record's `fences`.
        fence: bool,
        /// It is further bytes of the store before, and none of the record's `stores`.
        rest: bool,
        /// It was rolled back.
        void: bool,
        /// It is of the timed region.
        timed: bool,
    }
}

impl TimelineOp {
    /// Whether it takes a place of its core's store queue. A locked instruction, a fence that is held in the window, and further
    /// bytes of a store take none.
    #[must_use]
    pub fn takes_place(&self) -> bool {
        let enters = match self.kind {
            InstructionKind::Locked => false,
            InstructionKind::Primitive(_) => self.left.is_some(),
            _ => true,
        };
        enters && !self.rest && !self.void
    }
}

row! {
    /// A write to persistent memory.
    pub struct Write {
        /// The line's address.
        line: u64,
        /// The core whose flush or buffer it is of; `None` for an eviction.
        core: Option<u16>,
        /// The controller.
        controller: u16,
        /// The design sent it.
        by_design: bool,
        /// When it was sent.
        sent: u64,
        /// When it arrived at its controller, behind the backend operation.
        arrived: Option<u64>,
        /// When the write queue took it: durable from then on under ADR.
        accepted: Option<u64>,
        /// When the media began with it.
        issued: Option<u64>,
        /// When it was on the media.
        media: Option<u64>,
        /// Bytes written to the media.
        bytes: u32,
        /// The queued write with which it coalesced.
        into: Option<u32>,
        /// The design refused it (NACK), or kept it in a table of its own.
        refused: bool,
        /// It reached the media, or coalesced, in the timed region.
        timed: bool,
    }
}

row! {
    /// A line on its way over a host's link: a write to the device, or the data of a read from it.
    pub struct Crossing {
        /// The host.
        host: u8,
        /// From the device to the host.
        back: bool,
        /// The line's address.
        line: u64,
        /// The controller of the device.
        controller: u16,
        /// The write, if it is one.
        write: Option<u32>,
        /// When the write was sent, or the read left the host.
        asked: u64,
        /// When the read was at the device; `None` if something on the way answered it.
        device: Option<u64>,
        /// When the line could cross: at the link's beginning, or read by the device.
        ready: u64,
        /// When the link began with it.
        begins: u64,
        /// When the link was free for the next.
        ends: u64,
        /// When it was at the switch; `None` without one.
        enters: Option<u64>,
        /// When it left the switch.
        leaves: Option<u64>,
        /// When it was over the whole way.
        arrives: u64,
    }
}

row! {
    /// A host failed.
    pub struct HostFailure {
        /// The host.
        host: u8,
        /// When.
        at: u64,
        /// When the others were told.
        told: Option<u64>,
    }
}

row! {
    /// Cycles in which a core dispatched nothing.
    pub struct Stall {
        /// The core.
        core: u16,
        /// The first of them.
        from: u64,
        /// The first behind them.
        to: u64,
        /// Micro-ops that were dispatched in the first of them.
        used: u64,
        /// What kept it.
        cause: Cause,
        /// Cycles of them that the record counts under that cause.
        counted: u64,
        /// Cycles of them that the fetch queue did not absorb.
        fetch: u64,
        /// What it waited for.
        why: &'static str,
        /// The operation that it waited for: a fence, the head of the store queue, or what let the core go on.
        op: Option<u32>,
        /// The write that let the core go on.
        write: Option<u32>,
        /// The miss that it waited for.
        miss: Option<u32>,
    }
}

row! {
    /// A line, or a translation, that a core's private caches lacked. A timeline has those that a stall waited for.
    pub struct Miss {
        /// The core.
        core: u16,
        /// The line's address, or the one that was translated.
        addr: u64,
        /// For a store or a locked instruction, which own the line.
        owns: bool,
        /// When it was asked for.
        from: u64,
        /// When it came.
        to: u64,
        /// Who had it.
        source: Source,
    }
}

/// Who had what a private cache lacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The shared cache.
    #[default]
    Cache,
    /// Another core.
    Core,
    /// Memory.
    Memory,
    /// The page tables, for a translation.
    Tables,
}

/// What keeps a core from dispatching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// A fence.
    Fence,
    /// A full store queue, or a design's buffer.
    Buffer,
    /// A full window, issue queue or load queue.
    Window,
    /// A misprediction, a page fault, a roll-back, or another core that the program waits for.
    Redirect,
}

row! {
    /// Something waited.
    pub struct Wait {
        /// The core, if it is one's.
        core: Option<u16>,
        /// What waited.
        who: &'static str,
        /// The operation that waited, if it is one.
        op: Option<u32>,
        /// The write that waited, if it is one.
        write: Option<u32>,
        /// What it waited for.
        why: &'static str,
        /// Since when.
        from: u64,
        /// Until when.
        to: Option<u64>,
        /// The operation that ended the wait, if it was one.
        by_op: Option<u32>,
        /// The write that ended the wait, if it was one.
        by_write: Option<u32>,
    }
}

row! {
    /// A counter of the design went up.
    pub struct Count {
        /// When it was noticed: behind the event that raised it.
        at: u64,
        /// The key of the record.
        name: &'static str,
        /// By how much.
        by: u64,
        /// The operation that was at its turn, if it was one.
        op: Option<u32>,
        /// The write that was at its turn, if it was one.
        write: Option<u32>,
    }
}

row! {
    /// A core could be rolled back.
    pub struct Speculation {
        /// The core.
        core: u16,
        /// The checkpoint.
        from: u64,
        /// When it was released, or the core rolled back to it.
        to: Option<u64>,
        /// The core was rolled back.
        rolled_back: bool,
    }
}

row! {
    /// Cycles in which the oldest instruction of a core's window had not retired, or its program waited in a loop.
    pub struct Head {
        /// The core.
        core: u16,
        /// What the instruction is; `None` is a loop.
        kind: Option<InstructionKind>,
        /// When it became the oldest, or was dispatched; the first lap.
        from: u64,
        /// When it retired; the last lap.
        to: u64,
    }
}

row! {
    /// An instruction.
    pub struct Instruction {
        /// The core.
        core: u16,
        /// What it is.
        kind: InstructionKind,
        /// Where it accesses memory, if it does.
        addr: Option<u64>,
        /// When it was dispatched.
        dispatched: u64,
        /// When it issued.
        issued: u64,
        /// When it was complete.
        complete: u64,
        /// When it retired; `None` if it was rolled back before.
        retired: Option<u64>,
        /// It was rolled back.
        void: bool,
    }
}

/// What an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionKind {
    /// Arithmetic, or a branch.
    Plain,
    /// The address of a store that is two micro-ops; the store itself is the micro-op of its data.
    Address,
    /// A load.
    Load,
    /// A store.
    Store,
    /// A non-temporal store.
    StoreNt,
    /// A locked instruction.
    Locked,
    /// A flush.
    Flush(Flush),
    /// A primitive.
    Primitive(strandline_isa::Primitive),
}

impl Serialize for InstructionKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            InstructionKind::Plain => serializer.serialize_str("op"),
            InstructionKind::Address => serializer.serialize_str("address"),
            InstructionKind::Load => serializer.serialize_str("load"),
            InstructionKind::Store => serializer.serialize_str("store"),
            InstructionKind::StoreNt => serializer.serialize_str("nt-store"),
            InstructionKind::Locked => serializer.serialize_str("locked"),
            InstructionKind::Flush(Flush::Clwb) => serializer.serialize_str("clwb"),
            InstructionKind::Flush(Flush::ClflushOpt) => serializer.serialize_str("clflushopt"),
            InstructionKind::Flush(Flush::Clflush) => serializer.serialize_str("clflush"),
            InstructionKind::Primitive(primitive) => serializer.collect_str(primitive),
        }
    }
}

impl InstructionKind {
    /// That of an operation, its address and its bytes.
    pub(super) fn of(op: &TraceOp) -> Option<(InstructionKind, Option<Addr>, u8)> {
        Some(match *op {
            TraceOp::Load { addr, size, .. } => (InstructionKind::Load, Some(addr), size),
            TraceOp::Store { addr, size, .. } => (InstructionKind::Store, Some(addr), size),
            TraceOp::StoreNt { addr, size, .. } => (InstructionKind::StoreNt, Some(addr), size),
            TraceOp::Rmw { addr, .. } => (InstructionKind::Locked, Some(addr), 8),
            TraceOp::Flush { addr, kind } => (InstructionKind::Flush(kind), Some(addr), 0),
            TraceOp::Primitive(primitive) => (InstructionKind::Primitive(primitive), None, 0),
            TraceOp::Note(_) => return None,
        })
    }
}
