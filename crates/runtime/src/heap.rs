//! The layout of memory: regions of persistent memory and DRAM, allocated when a workload is built.

use crate::{BuildPlan, Demand, Logging};
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Memory, LINE_BYTES, PM_BASE, W};

/// Bytes of a persistent line that hold the program's data; the rest is the trailer.
pub const PAYLOAD_BYTES: u64 = 56;

/// Offset in a persistent line of its trailer: the sequence number of the step that wrote the line last (as the page
/// LSN of ARIES).
pub const TRAILER: u64 = PAYLOAD_BYTES;

/// Bytes of a block: a coroutine's control block and the part of its stack that it uses.
pub const BLOCK_BYTES: u64 = 16 * LINE_BYTES;

/// The offset in a row of its payload byte `byte`, where every line of the row ends in a trailer.
#[must_use]
pub const fn place(byte: u64) -> u64 {
    byte / PAYLOAD_BYTES * LINE_BYTES + byte % PAYLOAD_BYTES
}

/// Allocates line-aligned regions, then makes the memory that holds them.
///
/// Address 0 is in no region, so that it can stand for "nowhere".
#[derive(Clone, Debug)]
pub struct Heap {
    dram: u64,
    pm: u64,
    /// Bytes allocated, including those that the program does not use.
    spare: u64,
    /// Bytes that take host memory only when they are touched.
    on_demand: u64,
    /// The runtime whose logs are allocated.
    pub(crate) logging: Logging,
    /// The seed of the run.
    pub(crate) seed: u64,
    /// Words with initial values other than zero.
    filled: Vec<(Addr, u64)>,
}

/// How much host memory a program's memory takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBytes {
    /// Bytes that it takes at once.
    pub at_once: u64,
    /// Bytes that it takes when they are touched.
    pub on_demand: u64,
    /// At most this many of them for each task.
    pub each_task: u64,
}

/// Rows of `PAYLOAD` bytes, each in lines of its own.
///
/// The size is known to the compiler, so that a program finds a row by a shift or a multiplication with a constant.
#[derive(Clone, Copy, Debug)]
pub struct Table<const PAYLOAD: u64> {
    base: Addr,
    rows: u64,
}

/// Equal pieces of persistent memory, each in lines of its own.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    base: Addr,
    /// Bytes from piece to piece: a multiple of a line.
    stride: u64,
    rows: u64,
}

impl Default for Heap {
    fn default() -> Self {
        Heap {
            dram: LINE_BYTES,
            pm: 0,
            spare: 0,
            on_demand: 0,
            logging: Logging::UNDO,
            seed: 0,
            filled: Vec::new(),
        }
    }
}

impl Heap {
    /// A layout with nothing in it but the blocks of tasks that share a thread ([`Heap::block`]).
    #[must_use]
    pub fn new(plan: &BuildPlan) -> Heap {
        let mut heap = Heap::with(plan.logging.in_window(plan.window));
        heap.seed = plan.seed;
        if plan.window.is_some() {
            let blocks = (plan.lanes() + plan.threads) as u64;
            let first = heap.dram(blocks * BLOCK_BYTES);
            debug_assert_eq!(first, Heap::block(0));
        }
        heap
    }

    /// A layout with nothing in it, for logs and locks of this kind.
    #[must_use]
    pub fn with(logging: Logging) -> Heap {
        Heap {
            logging,
            ..Heap::default()
        }
    }

    /// The address of a block, for a library of coroutines: [`BLOCK_BYTES`] of DRAM. There is one
    /// for each lane, then one for each thread.
    #[must_use]
    pub fn block(number: usize) -> Addr {
        Addr(LINE_BYTES + number as u64 * BLOCK_BYTES)
    }

    /// Allocates `bytes` of DRAM, zeroed.
    pub fn dram(&mut self, bytes: u64) -> Addr {
        let at = self.dram;
        self.dram += bytes.next_multiple_of(LINE_BYTES);
        Addr(at)
    }

    /// Allocates `bytes` of DRAM, zeroed, of which the program uses no more than `used` at a time.
    pub fn dram_of_which(&mut self, bytes: u64, used: u64) -> Addr {
        self.spare += bytes.saturating_sub(used);
        self.dram(bytes)
    }

    /// Allocates `bytes` of persistent memory, zeroed.
    pub fn pm(&mut self, bytes: u64) -> Addr {
        let at = PM_BASE + self.pm;
        self.pm += bytes.next_multiple_of(LINE_BYTES);
        Addr(at)
    }

    /// Allocates `bytes` of persistent memory, zeroed, of which the program is expected to use no more than `used`.
    pub fn pm_of_which(&mut self, bytes: u64, used: u64) -> Addr {
        self.spare += bytes.saturating_sub(used);
        self.pm(bytes)
    }

    /// Allocates a table of `rows` rows in persistent memory.
    pub fn table<const PAYLOAD: u64>(&mut self, rows: u64) -> Table<PAYLOAD> {
        let base = self.pm(rows * Table::<PAYLOAD>::STRIDE);
        Table { base, rows }
    }

    /// Allocates `rows` pieces of `bytes` bytes in persistent memory, of which the program is expected to use no more than
    /// `used`. They have no trailers.
    pub fn rows(&mut self, rows: u64, bytes: u64, used: u64) -> Rows {
        let stride = bytes.next_multiple_of(LINE_BYTES);
        let base = self.pm_of_which(rows * stride, used * stride);
        Rows { base, stride, rows }
    }

    /// Notes that `bytes` of the allocated bytes stay untouched by [`crate::Workload::fill`]: they are zero, or filled
    /// when they are touched ([`Memory::fill`]).
    pub fn on_demand(&mut self, bytes: u64) {
        self.on_demand += bytes;
    }

    /// Sets the initial value of a word.
    pub(crate) fn fill(&mut self, addr: Addr, word: u64) {
        self.filled.push((addr, word));
    }

    /// Bytes of all that was allocated, volatile and persistent.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.dram + self.pm
    }

    /// The host memory for a program with regions of this demand. A line is touched with its block, and with that of
    /// its lock.
    #[must_use]
    pub fn host_bytes(&self, region: Demand) -> HostBytes {
        let index = self.bytes() / Memory::BLOCK_BYTES * size_of::<usize>() as u64;
        HostBytes {
            at_once: index + self.bytes() - self.spare - self.on_demand,
            on_demand: self.on_demand,
            each_task: region.lines * 2 * Memory::BLOCK_BYTES,
        }
    }

    /// The memory that holds all allocated regions: zeroed, except for initial values.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let memory = Memory::new(self.dram, self.pm);
        for (addr, word) in &self.filled {
            memory.write(*addr, 8, *word);
        }
        memory
    }
}

impl Rows {
    /// How many there are.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes from row to row.
    pub(crate) fn stride(&self) -> u64 {
        self.stride
    }

    /// The address of row `index`.
    #[must_use]
    pub fn addr(&self, index: u64) -> Addr {
        debug_assert!(index < self.rows, "row {index} of {}", self.rows);
        Addr(self.base.0 + index * self.stride)
    }

    /// The row at `addr`, if it is the address of one.
    #[must_use]
    pub fn index_of(&self, addr: u64) -> Option<u64> {
        let is_row = self.range().contains(&addr) && (addr - self.base.0) % self.stride == 0;
        is_row.then(|| (addr - self.base.0) / self.stride)
    }

    /// The addresses of all rows.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.base.0..self.base.0 + self.rows * self.stride
    }
}

impl<const PAYLOAD: u64> Table<PAYLOAD> {
    /// Its rows as pieces of memory.
    #[must_use]
    pub fn all(&self) -> Rows {
        Rows {
            base: self.base,
            stride: Self::STRIDE,
            rows: self.rows,
        }
    }

    /// Bytes from row to row.
    const STRIDE: u64 = PAYLOAD.div_ceil(PAYLOAD_BYTES) * LINE_BYTES;

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The address of row `index`.
    #[inline]
    #[must_use]
    pub fn addr(&self, index: u64) -> Addr {
        debug_assert!(index < self.rows, "row {index} of {}", self.rows);
        Addr(self.base.0 + index * Self::STRIDE)
    }

    /// The address of row `index`, as the program computes it: a shift or a multiplication, and an addition.
    #[inline]
    #[must_use]
    pub fn row<'c, C: Cpu>(&self, index: W<'c, C>) -> W<'c, C> {
        debug_assert!(index.bits() < self.rows, "row {} of {}", index.bits(), self.rows);
        let offset = if Self::STRIDE.is_power_of_two() {
            index << u64::from(Self::STRIDE.trailing_zeros())
        } else {
            index * Self::STRIDE
        };
        offset + self.base.0
    }

    /// The address of payload byte `byte` of row `index`.
    #[inline]
    #[must_use]
    pub fn field(&self, index: u64, byte: u64) -> Addr {
        Addr(self.addr(index).0 + place(byte))
    }

    /// Whether `addr` is the address of a row.
    #[must_use]
    pub fn holds(&self, addr: u64) -> bool {
        self.range().contains(&addr) && (addr - self.base.0) % Self::STRIDE == 0
    }

    /// The row at `addr`, if it is the address of one.
    #[must_use]
    pub fn index_of(&self, addr: u64) -> Option<u64> {
        self.holds(addr).then(|| (addr - self.base.0) / Self::STRIDE)
    }

    /// The addresses of all rows.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.base.0..self.base.0 + self.rows * Self::STRIDE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_apart_and_fit() {
        let mut heap = Heap::default();
        let (a, b) = (heap.pm(1), heap.pm(65));
        let (c, d) = (heap.dram(8), heap.dram(8));
        assert_eq!((a.0, b.0), (PM_BASE, PM_BASE + 64));
        assert_eq!((c.0, d.0), (64, 128));
        let memory = heap.memory();
        assert_eq!((memory.dram_bytes(), memory.pm_bytes()), (192, 192));
    }

    #[test]
    fn rows_leave_room_for_trailers() {
        let mut heap = Heap::default();
        let table: Table<100> = heap.table(3);
        assert_eq!(table.addr(1).0 - table.addr(0).0, 128);
        assert_eq!([place(55), place(56), place(112)], [55, 64, 128]);
        assert_eq!(table.index_of(table.addr(2).0), Some(2));
        assert_eq!(table.index_of(table.addr(2).0 + 64), None);
    }
}
