//! Memory of which each lane (a thread, or one of the tasks that share it) has an equal share.

use crate::Heap;
use std::ops::Range;
use strandline_isa::Addr;

/// The shares of all lanes, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerLane {
    first: Addr,
    lanes: u64,
    /// Bytes of a share.
    pub bytes: u64,
}

impl PerLane {
    /// Allocates shares of persistent memory, zeroed.
    pub fn pm(heap: &mut Heap, lanes: usize, bytes: u64) -> PerLane {
        let lanes = lanes as u64;
        let first = heap.pm(lanes * bytes);
        PerLane { first, lanes, bytes }
    }

    /// Allocates shares of volatile memory, zeroed.
    pub fn dram(heap: &mut Heap, lanes: usize, bytes: u64) -> PerLane {
        let lanes = lanes as u64;
        let first = heap.dram(lanes * bytes);
        PerLane { first, lanes, bytes }
    }

    /// The number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes as usize
    }

    /// Where the share of `lane` begins.
    pub fn of(&self, lane: usize) -> Addr {
        Addr(self.first.0 + lane as u64 * self.bytes)
    }

    /// The addresses of all shares.
    pub fn range(&self) -> Range<u64> {
        self.first.0..self.first.0 + self.lanes * self.bytes
    }
}
