//! The layout of the language-level models' logs.
//!
//! A lane's share of persistent memory is a line with its head, then blocks of entries. Each block
//! is preceded by a line with the address of the next block. The first blocks form a ring from the
//! start; the others are spare, and linked when the ring is full.

use super::ledger::LEDGER_ITEMS;
use super::set::{LINE_ITEM, SET_BYTES};
use crate::per_lane::PerLane;
use crate::{Heap, LogUnit, Logging, Runtime};
use strandline_isa::{Addr, LINE_BYTES};

/// Offsets in the head's line.
pub(crate) mod head {
    /// The last entry that is committed: its position, and its line's number in the lane's share.
    pub const LAST: u64 = 0;
    /// The first spare block that is not linked.
    pub const SPARE: u64 = 8;
    /// Redo: the clock of the lane's newest region that is durable and needs no replay.
    pub const SETTLED: u64 = 16;
}

/// In the head's word: the shift of the position, above the line's number.
pub(crate) const POSITION_SHIFT: u64 = 24;

/// Blocks of a lane that form a ring from the start.
pub(crate) const FIRST_BLOCKS: u64 = 4;

/// Blocks of a lane in all. A line takes two entries if it is logged at once, eight if each of its words is.
fn blocks_of(logging: Logging) -> u64 {
    match (logging.runtime, logging.unit) {
        (Runtime::Redo, _) | (_, LogUnit::Line) => 16,
        (_, LogUnit::Store) => 64,
    }
}

/// The logs of all lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelLayout {
    pub logging: Logging,
    pub pm: PerLane,
    pub dram: PerLane,
    /// Entries of a block.
    pub block: u64,
    /// Blocks of a lane.
    pub blocks: u64,
}

impl ModelLayout {
    /// Allocates the logs of `lanes` lanes, each a ring of about `records` entries at first.
    pub fn allocate(heap: &mut Heap, lanes: usize, records: u64, logging: Logging) -> ModelLayout {
        let block = records.div_ceil(FIRST_BLOCKS).max(2);
        let blocks = blocks_of(logging);
        let layout = ModelLayout {
            logging,
            pm: PerLane::pm(heap, lanes, (1 + blocks * (block + 1)) * LINE_BYTES),
            dram: PerLane::dram(heap, lanes, Self::DRAM_BYTES),
            block,
            blocks,
        };
        (0..lanes).for_each(|lane| layout.link(heap, lane));
        layout
    }

    /// Links a lane's first blocks into a ring; the log begins at its last entry.
    fn link(&self, heap: &mut Heap, lane: usize) {
        for number in 0..FIRST_BLOCKS {
            let next = self.block_at(lane, (number + 1) % FIRST_BLOCKS);
            heap.fill(self.block_at(lane, number), next.0);
        }
        let last = FIRST_BLOCKS * (self.block + 1);
        heap.fill(Addr(self.base(lane).0 + head::LAST), last);
        heap.fill(
            Addr(self.base(lane).0 + head::SPARE),
            self.block_at(lane, FIRST_BLOCKS).0,
        );
    }

    /// Bytes from block to block.
    pub fn block_bytes(&self) -> u64 {
        (self.block + 1) * LINE_BYTES
    }

    /// The entries that all of a lane's blocks hold.
    pub fn capacity(&self) -> u64 {
        self.blocks * self.block
    }

    /// The line of a lane's head.
    pub fn base(&self, lane: usize) -> Addr {
        self.pm.of(lane)
    }

    /// The line before a block's entries, which begins with the address of the next block.
    pub fn block_at(&self, lane: usize, number: u64) -> Addr {
        Addr(self.base(lane).0 + LINE_BYTES + number * self.block_bytes())
    }

    /// The block that holds the line of this number in a lane's share; for recovery.
    pub fn block_of(&self, lane: usize, line: u64) -> Addr {
        self.block_at(lane, line.saturating_sub(1) / (self.block + 1))
    }

    /// The start of a lane's volatile memory: the clock up to which its regions are durable, for
    /// all lanes; its ledger; two sets.
    pub const DRAM_BYTES: u64 = LINE_BYTES + LEDGER_ITEMS * 16 + 2 * SET_BYTES;

    /// The lane's word with the clock up to which its regions are durable, in a line of its own.
    pub fn durable(&self, lane: usize) -> Addr {
        self.dram.of(lane)
    }

    /// The lane's ledger.
    pub fn ledger(&self, lane: usize) -> Addr {
        Addr(self.durable(lane).0 + LINE_BYTES)
    }

    /// One of the lane's two sets.
    pub fn set(&self, lane: usize, which: u64) -> Addr {
        Addr(self.ledger(lane).0 + LEDGER_ITEMS * 16 + which * SET_BYTES)
    }
}

const _: () = assert!(LINE_ITEM == 32);
