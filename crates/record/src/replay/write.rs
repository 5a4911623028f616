//! Stores, locked instructions and flushes of a thread.

use super::access::{bits, bytes, mask, piece, runs};
use super::walk::{Covered, Cursor, Walk};
use crate::micro::{MicroKind, MicroOp};
use strandline_capture::VALUE_BYTES;
use strandline_isa::{Addr, Alu, Flush, Intent, Replay, Rmw, LINE_BYTES};

impl<C: Replay> Walk<'_, C> {
    /// A store: its first piece takes an entry of the window and of the store queue, the others none.
    #[inline(always)]
    pub(super) fn store(&mut self, op: &MicroOp, recorded: u64, at: &mut Cursor<'_>) {
        let words = at.words(op.size);
        self.whole_store(op, recorded, at, words);
    }

    /// A store of the bytes that its mask selects, as one store. In volatile memory, of all.
    pub(super) fn store_masked(&mut self, op: &MicroOp, recorded: u64, at: &mut Cursor<'_>) {
        let (words, mask) = (at.words(op.size), at.mask());
        if !self.simulated(recorded).is_persistent() {
            return self.whole_store(op, recorded, at, words);
        }
        self.covered = Covered::Nothing;
        let mut is_first = true;
        for run in runs(mask & bits(u64::from(op.size))) {
            let mut offset = run.start;
            while offset < run.end {
                let addr = self.simulated(recorded.wrapping_add(offset));
                let count = piece(addr.0, run.end - offset);
                let value = bytes(words, offset, count);
                match std::mem::replace(&mut is_first, false) {
                    true => self.first_store(op, addr, count as u8, value, at),
                    false => self.cpu.store_rest(addr, count as u8, value, !op.kind.is_nt()),
                }
                offset += count;
            }
        }
        if is_first {
            // It writes nothing, and takes its entry of the window.
            let (address, data) = (self.address_tag(op), self.data_tag(op));
            self.count_write(at);
            self.cpu.alu(Alu::Simple, address, data);
        }
    }

    #[inline(always)]
    fn whole_store(&mut self, op: &MicroOp, recorded: u64, at: &Cursor<'_>, words: &[u64]) {
        let first = self.simulated(recorded);
        if first.is_persistent() {
            self.covered = Covered::Nothing;
            if op.size > VALUE_BYTES {
                // Its bytes are unknown: its lines are fetched and keep their bytes.
                self.load(op, recorded, at);
                return;
            }
        }
        let line = first.line().0;
        // A write for which others wait is a separate one.
        let again =
            at.repeats && std::mem::replace(&mut self.string.store, line) == line && !at.has_turn() && !at.has_link();
        let size = u64::from(op.size);
        let done = if again {
            0
        } else if first.is_persistent() {
            let count = piece(first.0, size);
            self.first_store(op, first, count as u8, bytes(words, 0, count), at);
            count
        } else {
            self.first_store(op, Addr(first.0 & !7), 8, 0, at);
            LINE_BYTES - first.0 % LINE_BYTES
        };
        if done < size {
            self.rest(op, recorded, done, words);
        }
    }

    #[inline(always)]
    fn first_store(&mut self, op: &MicroOp, addr: Addr, size: u8, value: u64, at: &Cursor<'_>) {
        self.count_write(at);
        let (address, data) = (self.address_tag(op), self.data_tag(op));
        match op.kind {
            kind if kind.is_nt() => self.cpu.store_nt(addr, address, size, value, data),
            _ => self.cpu.store(addr, address, size, value, data),
        }
    }

    /// The pieces of a store from this offset on, as parts of the previous store. In volatile memory, one for each
    /// line.
    #[inline(never)]
    fn rest(&mut self, op: &MicroOp, recorded: u64, from: u64, words: &[u64]) {
        let temporal = !op.kind.is_nt();
        let size = u64::from(op.size);
        let mut offset = from;
        while offset < size {
            let addr = self.simulated(recorded.wrapping_add(offset));
            if addr.is_persistent() {
                let count = piece(addr.0, size - offset);
                let value = bytes(words, offset, count);
                self.cpu.store_rest(addr, count as u8, value, temporal);
                offset += count;
            } else {
                if from > 0 {
                    self.cpu.store_rest(Addr(addr.0 & !7), 8, 0, temporal);
                }
                offset += LINE_BYTES - addr.0 % LINE_BYTES;
            }
        }
    }

    /// A locked instruction on one word; bytes beyond it follow as a store.
    pub(super) fn locked(&mut self, op: &MicroOp, recorded: u64, at: &mut Cursor<'_>) -> C::Tag {
        let first = self.simulated(recorded);
        let words = at.words(op.size);
        let (offset, size) = (first.0 % 8, u64::from(op.size));
        let count = size.min(8 - offset);
        let operand = bytes(words, 0, count) << (8 * offset);
        let merge = Rmw::Merge(mask(count) << (8 * offset));
        let (address, data) = (self.address_tag(op), self.data_tag(op));
        self.count_write(at);
        let old = self.cpu.rmw(Addr(first.0 - offset), address, merge, operand, data);
        self.mark(Intent::Acquire);
        if first.is_persistent() {
            self.covered = Covered::Nothing;
            if count < size && size <= u64::from(VALUE_BYTES) {
                let next = self.simulated(recorded.wrapping_add(count));
                let more = piece(next.0, size - count);
                let value = bytes(words, count, more);
                self.cpu.store(next, address, more as u8, value, old.tag());
                self.rest(op, recorded, count + more, words);
            }
        }
        old.tag()
    }

    /// A flush, as recorded, if the design has any.
    pub(super) fn flush(&mut self, op: &MicroOp, recorded: u64) {
        if !self.policy.flushes() {
            self.count(&self.counts.flushes_skipped);
            return;
        }
        self.count(&self.counts.flushes_replayed);
        let addr = self.simulated(recorded);
        if addr.is_persistent() {
            self.covered = Covered::Nothing;
        }
        let flush = match op.kind {
            MicroKind::Clwb => Flush::Clwb,
            MicroKind::ClflushOpt => Flush::ClflushOpt,
            _ => Flush::Clflush,
        };
        self.cpu.flush(addr, self.address_tag(op), flush);
    }
}
