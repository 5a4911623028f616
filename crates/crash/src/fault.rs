//! What can be wrong with a recovered state.

use crate::regions::RegionName;
use serde::Serialize;
use std::fmt;
use strandline_isa::Addr;
use strandline_kernel::Cycles;

/// What is reported, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A state that the design's model does not allow.
    Forbidden,
    /// A state that recovery does not make whole.
    Unrecovered,
    /// A run in which nothing can go on.
    Stuck,
    /// A run in which no task ends, however much happens.
    Starved,
}

impl Kind {
    /// Of a run without progress, by whether it is dead.
    #[must_use]
    pub fn of_stuck(dead: bool) -> Kind {
        match dead {
            true => Kind::Stuck,
            false => Kind::Starved,
        }
    }
}

/// What is wrong with a recovered state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Recovery or the invariant used an address that does not exist.
    Stray {
        /// The address.
        addr: Addr,
    },
    /// The invariant does not hold.
    Structure {
        /// What the workload says of it.
        what: String,
    },
    /// Bytes of an acknowledged region are not there.
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
    /// A region under way is there in part.
    Torn {
        /// The region.
        region: RegionName,
        /// A word that holds the region's bytes while others lack theirs.
        addr: Addr,
        /// What it holds.
        found: u64,
        /// What it held before the region.
        expected: u64,
    },
    /// The state is none that the design's model allows, whatever recovery makes of it.
    Disorder {
        /// The model.
        model: String,
        /// What it forbids.
        what: String,
    },
    /// A word holds what no region that had begun left there.
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
    pub fn kind(&self) -> Kind {
        match self {
            Fault::Disorder { .. } => Kind::Forbidden,
            _ => Kind::Unrecovered,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Stray { addr } => write!(f, "structure: recovery leads to {addr}, which is not in memory"),
            Fault::Structure { what } => write!(f, "structure: {what}"),
            Fault::Lost { region, acknowledged, addr, found, expected } => write!(
                f,
                "acknowledged but lost: {region}, acknowledged at cycle {acknowledged}: {addr} holds {found:#x}, expected {expected:#x}"
            ),
            Fault::Torn { region, addr, found, expected } => write!(
                f,
                "half done: {region} is there in part: {addr} holds {found:#x}, expected {expected:#x} as before the region, or all of it"
            ),
            Fault::Disorder { model, what } => write!(f, "model {model}: {what}"),
            Fault::Foreign { addr, found, expected } => {
                write!(f, "never written: {addr} holds {found:#x}, expected {expected:#x}")
            }
        }
    }
}
