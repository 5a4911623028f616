//! What a run did, by time: the way of each persist, what stalled each core, and who waited for whom.
//!
//! A [`Recorder`] watches and never acts, so that a run with a timeline is the run without it. Every row stands for
//! something that the run's counts count, so that the sums of a timeline are the counts of the record.

mod acting;
mod causes;
mod crossings;
mod cut;
mod lane;
mod misses;
mod recorder;
mod rows;
mod table;
mod tasks;
mod waits;
mod why;
mod writes;

pub use crossings::Trip;
pub use lane::{Dispatch, Lane, LaneMark};
pub use recorder::{OpMark, Recorder};
pub use rows::{
    Cause, Count, Crossing, Head, HostFailure, Instruction, Miss, Source, Speculation, Stall, TimelineOp, Wait, Write,
};
pub use table::Table;
pub use tasks::Span;
pub use waits::{Who, Why};
pub use why::Class;

use serde::Serialize;

/// What to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Record single instructions too.
    pub instructions: bool,
    /// Record instructions up to this cycle of the timed region only.
    pub until: Option<u64>,
    /// Record this number of operations at most; what is behind is not recorded.
    pub most: usize,
    /// Record what is longer than these cycles at a window's head, and the loops in which programs wait: what
    /// [`Timeline::why`] needs.
    pub heads: Option<u64>,
}

impl Default for Detail {
    fn default() -> Detail {
        Detail {
            instructions: false,
            until: None,
            most: usize::MAX,
            heads: None,
        }
    }
}

/// What a run did. Times are cycles of the run; the timed region begins at `start`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// When the timed region begins.
    pub start: u64,
    /// When the timed region ends: the first program was done, or the last one, store and flush.
    pub end: u64,
    /// When recording stopped, if there were too many operations.
    #[serde(skip)]
    pub stopped: Option<u64>,
    /// What entered the store queues, and the primitives: in the order in which they did.
    pub ops: Table<TimelineOp>,
    /// Writes to persistent memory, in the order in which they were sent.
    pub writes: Table<Write>,
    /// The host of each core.
    pub hosts: Vec<u8>,
    /// Lines on the links of hosts whose memory is on a device.
    pub crossings: Table<Crossing>,
    /// The hosts that failed.
    pub failures: Table<HostFailure>,
    /// When dispatch stalled.
    pub stalls: Table<Stall>,
    /// What private caches lacked, where a stall waited for it.
    pub misses: Table<Miss>,
    /// What waited for what.
    pub waits: Table<Wait>,
    /// What the design counted.
    pub counts: Table<Count>,
    /// Speculation.
    pub speculations: Table<Speculation>,
    /// Instructions, if they were recorded.
    pub instructions: Table<Instruction>,
    /// What stood at the windows' heads, if that was recorded.
    #[serde(skip)]
    pub heads: Vec<Head>,
    /// When each core dispatched its last instruction of the timed region, if that was recorded.
    #[serde(skip)]
    pub last: Vec<u64>,
    /// Lines read from persistent memory in the timed region: when.
    pub reads: Vec<u64>,
    /// Tasks and their parts.
    pub spans: Table<Span>,
}
