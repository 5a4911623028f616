//! Abort and restart of a failure-atomic region while the machine is up, for designs that speculate
//! and treat a misspeculation as a power failure (PMEM-Spec, ASPLOS 2021).
//!
//! A region polls for an interrupt in its own operations. An interrupted region stops there: its
//! task is unwound, the log undoes the region as recovery would, locks are released, rows that the
//! task has allocated are freed, and the task restarts. No other thread has seen any of the
//! region's writes, as its locks are held until it is durable.
//!
//! The state that unwinding needs (locks held, rows allocated) costs no instruction before:
//! compiled programs keep it in tables of the code. The instructions of the abort itself are timed.

use crate::alloc::Taken;
use crate::finish::leave;
use crate::layout::{field, Meta, FURTHER_SHIFT, MORE_SHIFT};
use crate::{UndoLog, TRAILER};
use strandline_isa::{sites, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{kept, Rule};

sites! {
    ALL_UNDONE = 0xe7d8_0068;
    RECORD_IS_OPEN = 0xb909_6a04;
    RING_WRAPS_BACK = 0xafae_5a3b;
    RECORD_IS_UNDONE = 0xc963_cfe0;
    LINE_IS_FURTHER = 0xe50d_3ccb;
    ROW_IS_UNDONE = 0x3589_6a11;
    LINE_IS_UNDONE = 0xb851_c6ec;
    RING_WRAPS = 0x54e8_db52;
}

/// Why a task is left: its open region is interrupted.
pub(crate) struct Abandoned;

/// The state that an abort undoes besides the logged words.
pub(crate) struct Unwinding<'c, C: Cpu> {
    /// Locks held, in the order of their acquisition.
    locks: Vec<W<'c, C>>,
    /// Rows that the open region has allocated.
    rows: Vec<Taken<'c, C>>,
}

impl<C: Cpu> Default for Unwinding<'_, C> {
    fn default() -> Self {
        Unwinding {
            locks: Vec::new(),
            rows: Vec::new(),
        }
    }
}

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// From here on the program polls for interrupts.
    pub(crate) fn heed(&self) {
        if self.cpu.lowering().interrupts() {
            self.cpu.interrupted();
        }
    }

    /// Records that a lock was acquired.
    #[inline(always)]
    pub(crate) fn holds(&mut self, lock: W<'c, C>) {
        if self.cpu.lowering().interrupts() {
            self.unwinding.locks.push(lock);
        }
    }

    /// Records that a lock is released.
    #[inline(always)]
    pub(crate) fn frees(&mut self, lock: W<'c, C>) {
        if self.cpu.lowering().interrupts() {
            self.unwinding.locks.retain(|held| held.bits() != lock.bits());
        }
    }

    /// Records a row that the open region, or the one about to begin, has allocated.
    #[inline(always)]
    pub(crate) fn allocates(&mut self, row: Taken<'c, C>) {
        if self.cpu.lowering().interrupts() {
            self.unwinding.rows.push(row);
        }
    }

    /// The region is acknowledged: an abort has nothing to undo.
    #[inline(always)]
    pub(crate) fn acknowledged(&mut self) {
        if self.cpu.lowering().interrupts() {
            self.unwinding.rows.clear();
        }
    }

    /// Stops the region if the core was interrupted.
    #[inline(always)]
    pub(crate) fn look_for_interrupt(&self) {
        if self.cpu.lowering().interrupts() && kept(Rule::AbortDelivered, self.cpu.interrupted(), || false) {
            leave(Abandoned);
        }
    }

    /// As [`UndoLog::look_for_interrupt`], once all earlier fences have retired.
    #[inline(always)]
    pub(crate) fn look_behind_fence(&self) {
        if self.cpu.lowering().interrupts() {
            self.cpu.fenced();
            self.look_for_interrupt();
        }
    }

    /// Validates the region's reads before its last trailer, which commits it, is written.
    #[inline(always)]
    pub(crate) fn validate(&self) {
        self.cpu.intent(Intent::Validate);
        self.look_behind_fence();
    }

    /// Aborts the open region: none of its effects is left, now and after any crash, and another
    /// may begin.
    pub(crate) fn abort(&mut self) {
        // Earlier stores must not arrive after those that undo them, and no later load may be
        // stale.
        self.cpu.intent(Intent::Durable);
        self.cpu.fenced();
        self.undo();
        self.cpu.intent(Intent::Durable);
        // A later recovery must not undo it again: other regions may have written the same lines by
        // then.
        let settled = self.cpu.word(self.own.0);
        settled.store(self.region);
        settled.flush();
        self.cpu.intent(Intent::Durable);
        self.cpu.fenced();
        self.cpu.note(Note::RegionAbort);
        self.forget();
        self.unwind();
        // From here to its next durable intent hardware does not speculate: the task makes
        // progress.
        self.cpu.intent(Intent::Validate);
    }

    /// Undoes the region's records, the newest first.
    fn undo(&mut self) {
        let mut left = self.cpu.word(self.used.0);
        let mut slot = self.next;
        let mut is_newest = true;
        while !left.is(0).branch(ALL_UNDONE) {
            left = left - 1;
            slot = self.before(slot);
            let number = slot.at(field::SEQUENCE).load();
            if self.packs && !(number >> FURTHER_SHIFT).is(0).branch(LINE_IS_FURTHER) {
                continue;
            }
            // A step whose record has no number has updated nothing.
            if !number.is(0).branch(RECORD_IS_OPEN) {
                self.undo_record(slot, std::mem::take(&mut is_newest));
            }
        }
    }

    /// The line of the ring before this one.
    fn before(&self, slot: W<'c, C>) -> W<'c, C> {
        match slot.is(self.ring.0).branch(RING_WRAPS_BACK) {
            true => self.cpu.word(self.ring.1 - LINE_BYTES),
            false => slot - LINE_BYTES,
        }
    }

    /// The line of the ring after this one.
    fn after(&self, slot: W<'c, C>) -> W<'c, C> {
        let next = slot + LINE_BYTES;
        match next.is(self.ring.1).branch(RING_WRAPS) {
            true => self.cpu.word(self.ring.0),
            false => next,
        }
    }

    /// Writes back a record's old bytes: the trailer first, so that a crash finds the last step
    /// without it before it finds anything undone.
    fn undo_record(&mut self, slot: W<'c, C>, is_newest: bool) {
        let target = slot.at(field::TARGET).load();
        let trailer = (target | (LINE_BYTES - 1)) - (LINE_BYTES - 1 - TRAILER);
        trailer.store(slot.at(field::OLD_TRAILER).load());
        if is_newest {
            trailer.flush();
            self.cpu.intent(Intent::LogBeforeUpdate);
        }
        let meta = slot.at(field::META).load();
        let words = meta & Meta::WORDS;
        let mut words = kept(Rule::EveryWordUndone, words, || words - 1);
        let (mut to, mut from) = (target, slot + field::PAYLOAD);
        while !words.is(0).branch(RECORD_IS_UNDONE) {
            words = words - 1;
            to.store(from.load());
            (to, from) = (to + 8, from + 8);
        }
        if self.packs {
            self.undo_further(slot, meta, to);
        }
        trailer.flush();
    }

    /// Writes back the words of the record's further line that belong to the first line of its row, at `to` and behind.
    fn undo_further(&self, slot: W<'c, C>, meta: W<'c, C>, to: W<'c, C>) {
        let mut left = meta >> MORE_SHIFT;
        let (mut to, mut from) = (to, self.after(slot));
        while !left.is(0).branch(ROW_IS_UNDONE) && !(to & (LINE_BYTES - 1)).is(TRAILER).branch(LINE_IS_UNDONE) {
            to.store(from.load());
            left = left - 1;
            (to, from) = (to + 8, from + 8);
        }
    }

    /// Restores the log's state before the region, except that its numbers continue.
    fn forget(&mut self) {
        self.stepped = false;
        self.known.clear();
        self.lists.records.clear(self.cpu);
        self.lists.lines.clear(self.cpu);
    }

    /// Frees rows and releases locks, the newest first.
    fn unwind(&mut self) {
        while let Some(row) = self.unwinding.rows.pop() {
            row.give_back(self.cpu);
        }
        while let Some(lock) = self.unwinding.locks.pop() {
            self.hand.unlock(self.cpu, lock);
        }
    }
}
