//! Parameters of speculative persistence, and its storage.

use strandline_design::Sizes;
use strandline_kernel::{Cycles, Param, Params};

/// The parameters, as set.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Checkpoints of a core.
    pub checkpoints: usize,
    /// Entries of the speculative store buffer.
    pub entries: usize,
    /// Bytes of the Bloom filter.
    pub filter_bytes: u64,
    /// Entries of the block look-up table.
    pub table_entries: usize,
    /// Whether the block look-up table distinguishes epochs.
    pub by_epoch: bool,
}

const CHECKPOINTS: Param = Param {
    name: "checkpoints",
    default: 4,
    min: 1,
    max: 64,
    help: "checkpoints of a core, one for each speculative epoch",
    source: "Speculative Persistence, Table 2",
    words: &[],
};
const ENTRIES: Param = Param {
    name: "entries",
    default: 256,
    min: 1,
    max: 1024,
    help: "entries of the speculative store buffer; its latency follows",
    source: "Speculative Persistence, Table 3",
    words: &[],
};
const FILTER: Param = Param {
    name: "filter_log2_bytes",
    default: 9,
    min: 3,
    max: 16,
    help: "size of the Bloom filter: a power of two, in bytes",
    source: "Speculative Persistence 4.2.2: 512 bytes",
    words: &[],
};
const TABLE: Param = Param {
    name: "table_entries",
    default: 4096,
    min: 1,
    max: 1 << 16,
    help: "lines that the block look-up table holds; the core stalls while it is full",
    source: "not in the paper",
    words: &[],
};
const BLT: Param = Param {
    name: "blt",
    default: 0,
    min: 0,
    max: 1,
    help: "where a conflict rolls back to: the oldest checkpoint, or (1) the epoch that it concerns",
    source: "Speculative Persistence 4.2.2; `epoch` is not in the paper",
    words: &["oldest", "epoch"],
};

/// Sizes of the buffer and their latencies in cycles (Table 3).
const LATENCIES: [(usize, u64); 6] = [(32, 2), (64, 3), (128, 4), (256, 5), (512, 7), (1024, 10)];

/// Bytes of a checkpoint: 16 general registers, 16 vector registers of 16 bytes, program counter and flags.
const CHECKPOINT_BYTES: u64 = 16 * 8 + 16 * 16 + 16;

/// Bytes of a buffer entry: opcode and checkpoint number, address, data (4.2.2).
const ENTRY_BYTES: u64 = 1 + 8 + DATA_BYTES;

/// Bytes that an entry stores.
pub const DATA_BYTES: u64 = 8;

/// Bytes of an entry of the block look-up table: the address of a line, and whether it was stored to.
const TABLE_ENTRY_BYTES: u64 = 6;

impl Default for Settings {
    fn default() -> Settings {
        Settings::of(&Params::defaults(Settings::PARAMS))
    }
}

impl Settings {
    pub const PARAMS: &[Param] = &[CHECKPOINTS, ENTRIES, FILTER, TABLE, BLT];

    pub fn of(params: &Params) -> Settings {
        Settings {
            checkpoints: params.get(CHECKPOINTS.name) as usize,
            entries: params.get(ENTRIES.name) as usize,
            filter_bytes: 1 << params.get(FILTER.name),
            table_entries: params.get(TABLE.name) as usize,
            by_epoch: params.get(BLT.name) == 1,
        }
    }

    /// Cycles of a look-up of the buffer: those of the next size in Table 3.
    pub fn latency(&self) -> Cycles {
        let (_, cycles) = LATENCIES
            .into_iter()
            .find(|(entries, _)| self.entries <= *entries)
            .unwrap_or(LATENCIES[5]);
        Cycles(cycles)
    }

    pub fn storage(&self, machine: &Sizes) -> Vec<(&'static str, u64)> {
        let epoch_bytes = if self.by_epoch { 1 } else { 0 };
        let table = self.table_entries as u64 * (TABLE_ENTRY_BYTES + epoch_bytes);
        [
            ("speculative store buffer", self.entries as u64 * ENTRY_BYTES),
            ("checkpoints", self.checkpoints as u64 * CHECKPOINT_BYTES),
            ("Bloom filter", self.filter_bytes),
            ("block look-up table", table),
        ]
        .map(|(name, bytes)| (name, machine.cores * bytes))
        .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_up_takes_what_table_3_says() {
        for (entries, cycles) in [(1, 2), (32, 2), (33, 3), (128, 4), (256, 5), (512, 7), (1024, 10)] {
            let settings = Settings {
                entries,
                ..Settings::default()
            };
            assert_eq!(settings.latency(), Cycles(cycles), "{entries} entries");
        }
    }
}
