//! What planted bugs do that no text of the logs has: more than to leave something out, or to take another value.

use crate::wal::WalLayout;
use crate::{UndoLog, TRAILER};
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Image, LINE_BYTES, W};

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// Writes the trailer of the line of `at`, whose payload is not written yet.
    pub(crate) fn write_trailer_first(&self, at: W<'c, C>) {
        if self.cpu.lowering().log {
            let line = self.cpu.word(Addr(at.bits()).line().addr().0);
            line.at(TRAILER).store(self.clock);
        }
    }

    /// Settles the previous region, if there is one, whose locks are released. It has advanced the clock.
    pub(crate) fn settle_late(&mut self) {
        if self.clock.bits() > self.begun.bits() {
            self.settle();
        }
    }
}

/// The first half of the lines of a ring.
pub(crate) fn first_half(ring: &Range<u64>) -> Range<u64> {
    let lines = (ring.end - ring.start) / LINE_BYTES;
    ring.start..ring.start + lines / 2 * LINE_BYTES
}

/// The records of a write-ahead log that were ever written, from its start: what recovery would go by without a logged word.
pub(crate) fn ever_written(image: &dyn Image, layout: &WalLayout, lane: usize) -> u64 {
    let address = |index: &u64| image.word(Addr(layout.addresses(lane).0 + 8 * index));
    (0..layout.records).take_while(|index| address(index) != 0).count() as u64
}
