//! Counts of a replay.

use crate::RecordError;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A fence of the recorded code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FenceAt {
    /// Its block.
    pub block: u32,
    /// Its index among the block's fences.
    pub fence: u16,
    /// In a library: the address of the program's own call that led to it; 0 if there is none.
    pub from: u64,
}

/// The cost of one fence of the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// How often it was executed.
    pub fences: u64,
    /// Cycles in which it blocked dispatch, until the next fence of its thread.
    pub cycles: u64,
}

/// Counts of a replay, all threads together.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "each is what it is called")]
pub struct Counts {
    pub fences_idle: Cell<u64>,
    pub fences_order: Cell<u64>,
    pub fences_durable: Cell<u64>,
    pub flushes_replayed: Cell<u64>,
    pub flushes_skipped: Cell<u64>,
    pub markers: Cell<u64>,
    pub syscalls: Cell<u64>,
    /// Where fences stalled.
    pub(crate) stalls: RefCell<BTreeMap<FenceAt, Stall>>,
    /// What each thread has counted so far: a core that speculates may be rolled back, and count it again.
    reached: RefCell<Vec<u64>>,
    /// Why a thread ended before its recording.
    pub failure: RefCell<Option<RecordError>>,
}

/// One more.
#[inline(always)]
pub(super) fn count(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

impl Counts {
    /// Whether what a thread is about to count, the `step`-th time that it counts, has not been counted.
    pub(super) fn is_new(&self, thread: usize, step: u64) -> bool {
        let mut reached = self.reached.borrow_mut();
        if reached.len() <= thread {
            reached.resize(thread + 1, 0);
        }
        let is_new = step > reached[thread];
        reached[thread] = reached[thread].max(step);
        is_new
    }

    /// A fence was executed.
    pub(super) fn fence(&self, at: FenceAt) {
        self.stalls.borrow_mut().entry(at).or_default().fences += 1;
    }

    /// A fence blocked dispatch for these cycles.
    pub(super) fn stalled(&self, at: FenceAt, cycles: u64) {
        self.stalls.borrow_mut().entry(at).or_default().cycles += cycles;
    }

    /// The counts by name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("fences_idle", self.fences_idle.get()),
            ("fences_order", self.fences_order.get()),
            ("fences_durable", self.fences_durable.get()),
            ("flushes_replayed", self.flushes_replayed.get()),
            ("flushes_skipped", self.flushes_skipped.get()),
            ("markers", self.markers.get()),
            ("syscalls", self.syscalls.get()),
        ]
    }
}
