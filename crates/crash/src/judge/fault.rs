//! The faults of a recovered state.

use super::regions::RegionName;
use serde::Serialize;
use std::fmt;
use strandline_isa::Addr;
use strandline_kernel::Cycles;

/// The kind of fault in reports, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// A state that the design's model forbids.
    Forbidden,
    /// A state that recovery does not repair.
    Unrecovered,
    /// A deadlock: nothing can proceed.
    Stuck,
    /// A livelock: no task ends.
    Starved,
}

impl FaultKind {
    /// The kind of a run without progress: deadlock or livelock.
    #[must_use]
    pub fn of_stuck(dead: bool) -> FaultKind {
        match dead {
            true => FaultKind::Stuck,
            false => FaultKind::Starved,
        }
    }
}

/// The fault of a recovered state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Recovery or the invariant accessed an address that does not exist.
    Stray {
        /// The address.
        addr: Addr,
    },
    /// The invariant does not hold.
    Structure {
        /// The invariant's message.
        what: String,
    },
    /// An acknowledged region lacks bytes.
    Lost {
        /// The region.
        region: RegionName,
        /// When it was acknowledged.
        acknowledged: Cycles,
        /// The word.
        addr: Addr,
        /// What it holds.
        found: u64,
        /// What it should hold.
        expected: u64,
    },
    /// An unacknowledged region is partly present.
    Torn {
        /// The region.
        region: RegionName,
        /// A word with the region's bytes, while others lack theirs.
        addr: Addr,
        /// What it holds.
        found: u64,
        /// Its content before the region.
        expected: u64,
    },
    /// A key has a value that no order of the operations explains.
    Unexplained {
        /// When the newest operation that had returned did.
        returned: Cycles,
        /// The key, its value, and the expected one.
        what: String,
    },
    /// The design's model forbids the state, whatever recovery makes of it.
    Disorder {
        /// The model.
        model: String,
        /// What it forbids.
        what: String,
    },
    /// A word has a content that no started region left there.
    Foreign {
        /// The word.
        addr: Addr,
        /// What it holds.
        found: u64,
        /// What it should hold.
        expected: u64,
    },
}

impl Fault {
    /// In a word.
    pub fn kind(&self) -> FaultKind {
        match self {
            Fault::Disorder { .. } => FaultKind::Forbidden,
            _ => FaultKind::Unrecovered,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Stray { addr } => write!(f, "structure: recovery accesses {addr}, which is not in memory"),
            Fault::Structure { what } => write!(f, "structure: {what}"),
            Fault::Lost { region, acknowledged, addr, found, expected } => write!(
                f,
                "acknowledged but lost: {region}, acknowledged at cycle {acknowledged}: {addr} holds {found:#x}, expected {expected:#x}"
            ),
            Fault::Torn { region, addr, found, expected } => write!(
                f,
                "half done: {region} is partly present: {addr} holds {found:#x}, expected {expected:#x} as before the region, or all of it"
            ),
            Fault::Unexplained { what, .. } => write!(f, "operations: {what}"),
            Fault::Disorder { model, what } => write!(f, "model {model}: {what}"),
            Fault::Foreign { addr, found, expected } => {
                write!(f, "never written: {addr} holds {found:#x}, expected {expected:#x}")
            }
        }
    }
}
