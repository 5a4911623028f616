//! The sizes of persist buffers, and how long entries wait for stores.

use crate::parts::persist_buffer::{BUFFER_ENTRIES, LINE_NUMBER_BITS};
use strandline_design::{Held, Place, Sizes};
use strandline_isa::LINE_BYTES;
use strandline_kernel::{Cycles, Param, Params};

/// `--set design.epochs=N`: ASAP VI.
pub const EPOCH_ENTRIES: Param = Param {
    name: "epochs",
    default: 32,
    min: 2,
    max: 4096,
    help: "entries of a core's epoch table",
    source: "ASAP VI",
    words: &[],
};

/// `--set design.gather=N`: not in the papers. ASAP's public artifact has 16 for HOPS and 2 for
/// ASAP; here one value for both, so that neither gains by it.
pub const GATHER: Param = Param {
    name: "gather",
    default: 16,
    min: 1,
    max: 4096,
    help: "writes of an epoch that has not ended go when this number of them waits, and stores join those that do",
    source: "not in the papers; ASAP's public artifact has 16 for HOPS and 2 for ASAP",
    words: &[],
};

/// `--set design.gather_time=N`: not in the papers; as [`GATHER`] (2,000 ns).
pub const GATHER_TIME: Param = Param {
    name: "gather_time",
    default: 4000,
    min: 1,
    max: 1_000_000,
    help: "cycles after which they go anyway",
    source: "not in the papers; ASAP's public artifact has 2,000 ns",
    words: &[],
};

/// Sizes and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Entries of a core's persist buffer.
    pub entries: usize,
    /// Entries of a core's epoch table; `None`: it is not limited.
    pub epochs: Option<usize>,
    /// A core's current epoch comes less than this number after its oldest.
    pub within: u64,
    /// Entries of an epoch that has not ended are flushed when this number of them waits.
    pub gather: usize,
    /// Cycles after which they are flushed.
    pub gather_time: Cycles,
}

impl Settings {
    /// The defaults, with epoch tables of `epochs` entries.
    #[must_use]
    pub fn new(epochs: Option<u64>) -> Settings {
        Settings {
            entries: BUFFER_ENTRIES.default as usize,
            epochs: epochs.map(|entries| entries as usize),
            within: u64::MAX,
            gather: GATHER.default as usize,
            gather_time: Cycles(GATHER_TIME.default),
        }
    }

    /// Sets the values of the parameters: those of epoch tables only if they are limited.
    pub fn set(&mut self, params: &Params) {
        self.entries = params.get(BUFFER_ENTRIES.name) as usize;
        self.gather = params.get(GATHER.name) as usize;
        self.gather_time = Cycles(params.get(GATHER_TIME.name));
        if let Some(epochs) = &mut self.epochs {
            *epochs = params.get(EPOCH_ENTRIES.name) as usize;
        }
    }

    /// Bytes of all cores' persist buffers. An entry has a line, its number, its epoch and `more`
    /// bits more; a core has its current and its last complete epoch.
    #[must_use]
    pub fn buffer_bytes(&self, machine: &Sizes, epoch_bits: u64, more: u64) -> u64 {
        let entry = 8 * LINE_BYTES + LINE_NUMBER_BITS + epoch_bits + more;
        machine.cores * (self.entries as u64 * entry + 2 * epoch_bits).div_ceil(8)
    }

    /// Their lines.
    #[must_use]
    pub fn held(&self, machine: &Sizes) -> Held {
        Held {
            name: "persist buffers",
            place: Place::CoreBuffer,
            bytes: machine.cores * self.entries as u64 * LINE_BYTES,
        }
    }
}
