//! The layout of write-ahead logs, and an address word.

use super::Wal;
use crate::list::List;
use crate::model::set::SET_BYTES;
use crate::per_lane::PerLane;
use crate::Heap;
use strandline_isa::{Addr, LINE_BYTES};

/// Address words in a line: n logged lines take n data lines and n/8 address lines, rounded up ("eight clwbs for
/// logging entries and one for indexes", section 3.2).
const ADDRESSES: u64 = LINE_BYTES / 8;

/// The shifts from a number of records to the bytes of their address words, and from those to the bytes of their data.
pub(crate) const ADDRESS_SHIFT: u64 = 3;
pub(crate) const DATA_SHIFT: u64 = LINE_BYTES.trailing_zeros() as u64 - ADDRESS_SHIFT;

/// The logs of all lanes. In persistent memory, a lane has a line with the logged word, lines of addresses, and data
/// lines. In volatile memory it has a line with the lengths of its two lists and a word of its stack, a set of lines,
/// and the list of the lines to flush.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalLayout {
    pub variant: Wal,
    pub pm: PerLane,
    pub dram: PerLane,
    /// Data lines of a lane.
    pub records: u64,
}

impl WalLayout {
    /// Allocates the logs of `lanes` lanes with `records` data lines each.
    pub fn allocate(heap: &mut Heap, lanes: usize, records: u64, variant: Wal) -> WalLayout {
        let lines = (8 * records).next_multiple_of(LINE_BYTES);
        WalLayout {
            variant,
            pm: PerLane::pm(heap, lanes, (1 + records.div_ceil(ADDRESSES) + records) * LINE_BYTES),
            dram: PerLane::dram(heap, lanes, LINE_BYTES + SET_BYTES + lines),
            records,
        }
    }

    /// The logged word of `lane`: the number of its valid records.
    pub fn logged(&self, lane: usize) -> Addr {
        self.pm.of(lane)
    }

    /// The address words of `lane`.
    pub fn addresses(&self, lane: usize) -> Addr {
        Addr(self.logged(lane).0 + LINE_BYTES)
    }

    /// The data lines of `lane`.
    pub fn data(&self, lane: usize) -> Addr {
        Addr(self.addresses(lane).0 + self.records.div_ceil(ADDRESSES) * LINE_BYTES)
    }

    /// The word of the stack of `lane` to which a call of the log's code pushes.
    pub fn stack(&self, lane: usize) -> Addr {
        Addr(self.lengths(lane).0 + 16)
    }

    /// The lengths of the lists of `lane`.
    fn lengths(&self, lane: usize) -> Addr {
        self.dram.of(lane)
    }

    /// The list of the records of `lane`: their address words.
    pub fn list(&self, lane: usize) -> List<1> {
        List::new(self.lengths(lane), self.addresses(lane), self.records)
    }

    /// The set of lines of `lane`.
    pub fn set(&self, lane: usize) -> Addr {
        Addr(self.lengths(lane).0 + LINE_BYTES)
    }

    /// The list of the lines that `lane` is to flush: room for as many as it has data lines.
    pub fn lines(&self, lane: usize) -> List<1> {
        let lengths = self.lengths(lane).0;
        List::new(Addr(lengths + 8), Addr(self.set(lane).0 + SET_BYTES), self.records)
    }
}

/// What an address word says beside the line's address: which words the record holds, at their places in its data line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first word, 0 to 7.
    pub first: u64,
    /// Their number, 1 to 8.
    pub words: u64,
}

impl Span {
    /// The span of `bytes` from `from` on.
    pub const fn of(from: u64, bytes: u64) -> Span {
        Span {
            first: from / 8,
            words: bytes.div_ceil(8),
        }
    }

    /// The six low bits of an address word.
    pub const fn bits(self) -> u64 {
        self.first | (self.words - 1) << 3
    }

    /// The line and the span of an address word.
    pub const fn unpack(word: u64) -> (Addr, Span) {
        let span = Span {
            first: word & 7,
            words: (word >> 3 & 7) + 1,
        };
        (Addr(word & !(LINE_BYTES - 1)), span)
    }
}
