//! Who waits, and for what.

use strandline_isa::{CoreId, Line};

/// Who waits. Each waits for one thing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// A core's program: it dispatches nothing.
    Program(CoreId),
    /// The fence that is held in a core's window.
    Fence(CoreId),
    /// The head of a core's store queue.
    Queue(CoreId),
    /// What a core announces behind a fence that has retired speculatively, by the fence's number.
    Speculation(CoreId, u64),
    /// A store that the design keeps, by its number.
    Kept(CoreId, u64),
    /// A flush that the design has sent.
    Flush(CoreId, Line),
    /// A dirty line on its eviction.
    Line(Line),
    /// A write at its controller.
    Write(u32),
}

impl Who {
    /// Its name in the timeline.
    pub(super) fn name(self) -> &'static str {
        match self {
            Who::Program(_) => "core",
            Who::Fence(_) => "fence",
            Who::Queue(_) => "store queue",
            Who::Speculation(..) => "speculation",
            Who::Kept(..) => "kept store",
            Who::Flush(..) => "design's flush",
            Who::Line(_) => "eviction",
            Who::Write(_) => "write",
        }
    }

    /// The core, if it is one's.
    pub(super) fn core(self) -> Option<u16> {
        match self {
            Who::Program(core)
            | Who::Fence(core)
            | Who::Queue(core)
            | Who::Speculation(core, _)
            | Who::Kept(core, _)
            | Who::Flush(core, _) => Some(core.0),
            Who::Line(_) | Who::Write(_) => None,
        }
    }
}

/// What it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its core's older stores are visible and its older flushes acknowledged.
    Drained,
    /// As [`Why::Drained`], of one context.
    ContextDrained,
    /// Its core's older stores are visible.
    Visible,
    /// The held fence retires.
    Retired,
    /// The store queue has room.
    Room,
    /// The store queue is empty.
    Empty,
    /// All programs have reached the start line.
    Started,
    /// Another core's write.
    Written,
    /// The kernel wakes it.
    Woken,
    /// The design lets it go on.
    Design,
    /// A buffer beside the store queue is full, or holds a flush of the same line.
    Buffer,
    /// The store's line arrives.
    Line,
    /// The controller's write queue has room.
    WriteQueue,
    /// A write has left the bank.
    Bank,
    /// Reads have left the bank.
    Reads,
    /// The media take a line at a time.
    Bandwidth,
    /// The head of the store queue leaves.
    Head,
    /// A line, or a translation, comes.
    Miss,
    /// What is in the window executes.
    Execution,
    /// A branch that was predicted wrongly executes, and the front end begins anew.
    Branch,
    /// The kernel maps a page.
    Fault,
    /// The core does once more what another core has undone.
    RolledBack,
    /// As [`Why::Line`], from memory.
    LineOfMemory,
    /// As [`Why::Line`], from another core.
    LineOfCore,
}

impl Why {
    /// Its name in the timeline.
    pub(super) fn name(self) -> &'static str {
        match self {
            Why::Drained => "older stores visible, flushes acknowledged",
            Why::ContextDrained => "stores visible, flushes acknowledged, of its context",
            Why::Visible => "older stores visible",
            Why::Retired => "fence retires",
            Why::Room => "room in the store queue",
            Why::Empty => "store queue empty",
            Why::Started => "all threads at the start",
            Why::Written => "another core's write",
            Why::Woken => "woken by another thread",
            Why::Design => "design",
            Why::Buffer => "write-back or write-combining buffer",
            Why::Line => "line to arrive",
            Why::WriteQueue => "room in the write queue",
            Why::Bank => "bank busy with a write",
            Why::Reads => "bank busy with reads",
            Why::Bandwidth => "write bandwidth of the media",
            Why::Head => "head of the store queue leaves",
            Why::Miss => "miss",
            Why::Execution => "what is in the window executes",
            Why::Branch => "mispredicted branch",
            Why::Fault => "page fault",
            Why::RolledBack => "roll-back",
            Why::LineOfMemory => "line to arrive from memory",
            Why::LineOfCore => "line to arrive from another core",
        }
    }
}
