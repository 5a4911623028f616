//! What can be wrong with a recovered state.

use crate::regions::RegionName;
use std::fmt;
use strandline_isa::Addr;
use strandline_kernel::Cycles;

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
