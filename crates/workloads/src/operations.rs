//! Common parts of workloads whose failure-atomic region can hold several operations.

use crate::list::{distinct, sort};
use crate::params::param;
use strandline_isa::{sites, Addr, Cpu, W};
use strandline_kernel::{Param, Params};
use strandline_runtime::{Heap, Locks, Region, ThreadState};

sites! {
    MORE_TO_LOCK = 0x65c7_f69f;
    MORE_TO_UNLOCK = 0xf9aa_842c;
}

/// The parameter: operations of a failure-atomic region. StrandWeaver (ISCA 2020), Figure 10, has up to 32; DPO's
/// red-black tree (MICRO 2016) has 64.
pub(crate) const OPERATIONS: Param = param(
    "operations",
    1,
    1..=64,
    "operations of a failure-atomic region; rings of log records grow with it",
);

/// Lines of a ring: as many as the user sets, or more if two regions need it. Each operation of a region writes at most
/// `records` records. With one operation, the minimum of `log_records` ensures this.
pub(crate) fn ring(params: &Params, records: u64) -> u64 {
    let asked = params.get("log_records");
    match params.get(OPERATIONS.name) {
        1 => asked,
        operations => asked.max(two_regions(operations * records)),
    }
}

/// Records of two regions with `records` records each, plus the log's own record at the end.
pub(crate) const fn two_regions(records: u64) -> u64 {
    2 * (records + 1)
}

/// Some words of volatile memory for each lane: the state of the operations of a task's region.
#[derive(Clone, Copy)]
pub(crate) struct Lists {
    base: Addr,
    lanes: u64,
    bytes: u64,
}

impl Lists {
    /// Allocates `words` words for each of `lanes` lanes.
    pub fn allocate(heap: &mut Heap, lanes: usize, words: u64) -> Lists {
        let (lanes, bytes) = (lanes as u64, (8 * words).next_multiple_of(64));
        Lists {
            base: heap.dram(lanes * bytes),
            lanes,
            bytes,
        }
    }

    /// The address of the thread's words.
    pub fn of<'c, C: Cpu>(&self, thread: &ThreadState<'c, C>) -> W<'c, C> {
        thread.cpu.word(self.base.0 + self.bytes * thread.lane as u64)
    }

    /// The addresses of all.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.base.0..self.base.0 + self.lanes * self.bytes
    }
}

/// The locks of a region, by index. Each is taken once, in ascending order, so that tasks cannot deadlock.
pub(crate) struct Held<'c, C: Cpu> {
    start: W<'c, C>,
    end: W<'c, C>,
}

impl<'c, C: Cpu> Held<'c, C> {
    /// An empty list, which starts at `start`.
    pub fn none(start: W<'c, C>) -> Self {
        Held { start, end: start }
    }

    /// Adds lock `index`.
    pub fn add(&mut self, index: W<'c, C>) {
        self.end.store(index);
        self.end = self.end + 8;
    }

    /// Takes all.
    pub fn lock(&mut self, thread: &mut ThreadState<'c, C>, locks: Locks) {
        let _call = thread.cpu.call(3);
        sort(self.start, self.end);
        self.end = distinct(self.start, self.end);
        let mut at = self.start;
        while at.less(self.end).branch(MORE_TO_LOCK) {
            thread.log.lock(locks.at(at.load()));
            at = at + 8;
        }
    }

    /// Frees all, the last first.
    pub fn unlock(&self, thread: &mut ThreadState<'c, C>, locks: Locks) {
        let _call = thread.cpu.call(2);
        let mut at = self.end;
        while self.start.less(at).branch(MORE_TO_UNLOCK) {
            at = at - 8;
            thread.log.unlock(locks.at(at.load()));
        }
    }
}

/// A task's view of memory: through its region, if it has opened one.
pub(crate) struct View<'v, 'l, 'c, C: Cpu>(pub Option<&'v mut Region<'l, 'c, C>>);

impl<'c, C: Cpu> View<'_, '_, 'c, C> {
    /// Loads a word.
    pub fn read(&mut self, at: W<'c, C>) -> W<'c, C> {
        let _call = at.call(2);
        match &mut self.0 {
            Some(region) => region.read(at, 8),
            None => at.load(),
        }
    }
}
