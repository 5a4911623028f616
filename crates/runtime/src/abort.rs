//! Abort and restart of a failure-atomic region, while the machine is up: what designs need that speculate and treat a
//! misspeculation as a power failure (PMEM-Spec, ASPLOS 2021).
//!
//! The places at which a region looks for an interrupt are its own operations. There the program goes no further: its task is
//! dropped, the log undoes the region as recovery would, locks are released, rows that the task has allocated are given back,
//! and the task starts again. No other thread has seen anything of the region, as its locks are held until it is durable.
//!
//! What unwinding has to know (locks held, rows allocated) costs no instruction before: compiled programs keep it in tables of
//! the code. What the abort itself executes is timed.

use crate::alloc::Taken;
use crate::layout::{field, Meta};
use crate::{UndoLog, TRAILER};
use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use strandline_isa::{sites, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{broken, Rule};

sites! {
    ALL_UNDONE = 0xe7d8_0068;
    RECORD_IS_OPEN = 0xb909_6a04;
    RING_WRAPS_BACK = 0xafae_5a3b;
    RECORD_IS_UNDONE = 0xc963_cfe0;
}

/// What an abort undoes besides the words that are logged.
pub(crate) struct Unwinding<'c, C: Cpu> {
    /// The open region goes no further.
    abandoned: Rc<Cell<bool>>,
    /// Locks held, in the order in which they were taken.
    locks: Vec<W<'c, C>>,
    /// Rows that the open region has allocated.
    rows: Vec<Taken<'c, C>>,
}

impl<C: Cpu> Default for Unwinding<'_, C> {
    fn default() -> Self {
        Unwinding {
            abandoned: Rc::default(),
            locks: Vec::new(),
            rows: Vec::new(),
        }
    }
}

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// Set while the open region goes no further, so that the task must be dropped and the region aborted.
    pub(crate) fn abandoned(&self) -> Rc<Cell<bool>> {
        self.unwinding.abandoned.clone()
    }

    /// From here on the program heeds interrupts.
    pub(crate) fn heed(&self) {
        if self.cpu.lowering().speculates() {
            self.cpu.interrupted();
        }
    }

    /// A lock was taken.
    #[inline(always)]
    pub(crate) fn holds(&mut self, lock: W<'c, C>) {
        if self.cpu.lowering().speculates() {
            self.unwinding.locks.push(lock);
        }
    }

    /// A lock is freed.
    #[inline(always)]
    pub(crate) fn frees(&mut self, lock: W<'c, C>) {
        if self.cpu.lowering().speculates() {
            self.unwinding.locks.retain(|held| held.bits() != lock.bits());
        }
    }

    /// The region that is open, or is about to begin, has allocated a row.
    #[inline(always)]
    pub(crate) fn allocates(&mut self, row: Taken<'c, C>) {
        if self.cpu.lowering().speculates() {
            self.unwinding.rows.push(row);
        }
    }

    /// The region is acknowledged: there is nothing to be undone.
    #[inline(always)]
    pub(crate) fn acknowledged(&mut self) {
        if self.cpu.lowering().speculates() {
            self.unwinding.rows.clear();
        }
    }

    /// Where the core was interrupted, the region goes no further.
    #[inline(always)]
    pub(crate) async fn look_for_interrupt(&self) {
        if self.cpu.lowering().speculates() && self.cpu.interrupted() && !broken(Rule::AbortDelivered) {
            self.unwinding.abandoned.set(true);
            _ = pending::<()>().await;
        }
    }

    /// As [`UndoLog::look_for_interrupt`], when all fences before have retired.
    #[inline(always)]
    pub(crate) async fn look_behind_fence(&self) {
        if self.cpu.lowering().speculates() {
            self.cpu.fenced().await;
            self.look_for_interrupt().await;
        }
    }

    /// What the region has read must be confirmed before its last trailer is written, which commits it.
    #[inline(always)]
    pub(crate) async fn validate(&self) {
        if broken(Rule::ValidateBeforeCommit) {
            return;
        }
        self.cpu.intent(Intent::Validate).await;
        self.look_behind_fence().await;
    }

    /// Aborts the open region: nothing of it is left, now and after any crash, and another may begin.
    pub(crate) async fn abort(&mut self) {
        // What was sent before it must not arrive after what undoes it, and no load of what follows may be misled.
        self.cpu.intent(Intent::Durable).await;
        self.cpu.fenced().await;
        self.undo().await;
        self.cpu.intent(Intent::Durable).await;
        // A later recovery must not undo it once more: other regions may have written the same lines by then.
        let settled = self.cpu.word(self.own.0);
        settled.store(self.region).await;
        settled.flush().await;
        self.cpu.intent(Intent::Durable).await;
        self.cpu.fenced().await;
        self.cpu.note(Note::RegionAbort);
        self.forget().await;
        self.unwind().await;
        // From here to its next durable intent hardware does not speculate: the task gets on.
        self.cpu.intent(Intent::Validate).await;
    }

    /// Undoes the region's records, the newest first.
    async fn undo(&mut self) {
        let mut left = self.cpu.word(self.used.0);
        let mut slot = self.next;
        let mut is_newest = true;
        while !left.is(0).branch(ALL_UNDONE) {
            left = left - 1;
            slot = self.before(slot);
            // The step of a record without a number has updated nothing.
            if !slot.at(field::SEQUENCE).load().await.is(0).branch(RECORD_IS_OPEN) {
                self.undo_record(slot, std::mem::take(&mut is_newest)).await;
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

    /// Writes back what a record holds: the trailer first, so that a crash finds the last step without it before it finds
    /// anything undone.
    async fn undo_record(&mut self, slot: W<'c, C>, is_newest: bool) {
        let target = slot.at(field::TARGET).load().await;
        let trailer = (target | (LINE_BYTES - 1)) - (LINE_BYTES - 1 - TRAILER);
        trailer.store(slot.at(field::OLD_TRAILER).load().await).await;
        if is_newest {
            trailer.flush().await;
            self.cpu.intent(Intent::LogBeforeUpdate).await;
        }
        let mut words = slot.at(field::META).load().await & Meta::WORDS;
        if broken(Rule::EveryWordUndone) {
            words = words - 1;
        }
        let (mut to, mut from) = (target, slot + field::PAYLOAD);
        while !words.is(0).branch(RECORD_IS_UNDONE) {
            words = words - 1;
            to.store(from.load().await).await;
            (to, from) = (to + 8, from + 8);
        }
        trailer.flush().await;
    }

    /// The log is as it was before the region, but that its numbers go on.
    async fn forget(&mut self) {
        self.stepped = false;
        self.logged.clear();
        self.lists.records.clear(self.cpu).await;
        self.lists.lines.clear(self.cpu).await;
    }

    /// Gives rows back and frees locks, the newest first.
    async fn unwind(&mut self) {
        while let Some(row) = self.unwinding.rows.pop() {
            row.give_back(self.cpu).await;
        }
        while let Some(lock) = self.unwinding.locks.pop() {
            crate::unlock(self.cpu, lock).await;
        }
    }
}
