//! The persist queue of one core (StrandWeaver, section IV, "Persist queue").

use super::{StrandBuffers, ENTRY_BYTES};
use crate::strands::rules::Rule;
use std::collections::VecDeque;
use strandline_design::StoreId;
use strandline_isa::Line;
use strandline_kernel::Param;
use strandline_rules::kept;

/// `--set design.queue=N`.
pub const QUEUE_ENTRIES: Param = Param {
    name: "queue",
    default: 16,
    min: 1,
    max: 1024,
    help: "entries of a core's persist queue",
    source: "StrandWeaver VI-A",
    words: &[],
};

/// The kind of a persist queue's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A `clwb` of a line.
    Flush(Line),
    /// A persist barrier.
    Barrier,
    /// A `NewStrand`.
    NewStrand,
    /// A `JoinStrand`.
    Join,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u64,
    operation: Operation,
    /// It has retired from the reorder buffer.
    retired: bool,
    /// The store of its line that it waits for: the youngest older one in the store queue.
    store: Option<StoreId>,
    /// Of barriers and joins: all older stores have left the store queue.
    stores_done: bool,
    has_issued: bool,
    completed: bool,
}

impl Entry {
    /// Whether it may leave from any place.
    fn leaves(&self) -> bool {
        match self.operation {
            Operation::Join => false,
            Operation::Barrier => self.completed && self.stores_done,
            Operation::Flush(_) | Operation::NewStrand => self.completed,
        }
    }

    /// Whether it may leave from the head.
    fn leaves_head(&self) -> bool {
        self.leaves() || self.operation == Operation::Join && self.stores_done
    }
}

/// The persist queue of one core.
///
/// Operations issue to the strand buffers in order and leave once they have completed. Stores behind a barrier or a
/// join stay in the store queue until [`PersistQueue::pass_barrier`] or [`PersistQueue::pass_join`].
#[derive(Clone, Debug)]
pub struct PersistQueue {
    entries: VecDeque<Entry>,
    capacity: usize,
    newest: u64,
    /// Entries that have issued. They precede all others.
    issued: usize,
    /// Entries that have completed.
    completed: usize,
    /// An entry may have become able to leave.
    may_retire: bool,
}

impl PersistQueue {
    /// An empty queue of `capacity` entries, before strand buffers of this shape.
    #[must_use]
    pub fn new(capacity: usize) -> PersistQueue {
        PersistQueue {
            entries: VecDeque::new(),
            capacity,
            newest: 0,
            issued: 0,
            completed: 0,
            may_retire: false,
        }
    }

    /// Bytes of `capacity` entries: 144 for 16 (section VI-A).
    #[must_use]
    pub fn storage_bytes(capacity: u64) -> u64 {
        capacity * ENTRY_BYTES
    }

    /// Whether it has room for another entry.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.capacity
    }

    /// Inserts an operation, which waits for this store if any: its number.
    pub fn insert(&mut self, operation: Operation, store: Option<StoreId>) -> u64 {
        self.newest += 1;
        self.entries.push_back(Entry {
            id: self.newest,
            operation,
            retired: false,
            store: kept(Rule::FlushAwaitsStore, store, || None),
            stores_done: false,
            has_issued: false,
            completed: false,
        });
        self.newest
    }

    /// Notes that an operation has retired from the reorder buffer.
    pub fn retired(&mut self, id: u64) {
        if let Some(entry) = self.entry(id) {
            entry.retired = true;
        }
    }

    /// The entry of this number, unless it has left.
    fn entry(&mut self, id: u64) -> Option<&mut Entry> {
        // Few of those between the oldest and this one have left.
        let most = id.checked_sub(self.entries.front()?.id)? as usize;
        let last = most.min(self.entries.len() - 1);
        let index = (0..=last).rev().find(|index| self.entries[*index].id <= id)?;
        self.entries.get_mut(index).filter(|entry| entry.id == id)
    }

    /// Whether an operation waits for a store.
    #[must_use]
    pub fn awaits_store(&mut self, id: u64) -> bool {
        self.entry(id).is_some_and(|entry| entry.store.is_some())
    }

    /// Notes that a store has become visible: the lines of the flushes that waited for it.
    pub fn performed(&mut self, store: StoreId) -> impl Iterator<Item = Line> + '_ {
        // What has issued waits for no store.
        let waiting = self.entries.range_mut(self.issued..);
        waiting.filter_map(move |entry| {
            entry.store.take_if(|awaited| *awaited == store)?;
            match entry.operation {
                Operation::Flush(line) => Some(line),
                _ => None,
            }
        })
    }

    /// Notes that the strand buffers have completed these.
    pub fn completed(&mut self, ids: &[u64]) {
        for id in ids {
            if let Some(entry) = self.entry(*id) {
                let is_new = !std::mem::replace(&mut entry.completed, true);
                self.completed += usize::from(is_new);
                self.may_retire = true;
            }
        }
    }

    /// Issues entries to the strand buffers, and retires completed ones; whether anything changed.
    pub fn issue(&mut self, buffers: &mut StrandBuffers) -> bool {
        let mut changed = self.retire();
        while self.issue_next(buffers) {
            changed = true;
        }
        changed |= self.retire();
        changed
    }

    /// Issues the oldest entry that has not issued, if it may.
    fn issue_next(&mut self, buffers: &mut StrandBuffers) -> bool {
        let Some(entry) = self.entries.get(self.issued) else {
            return false;
        };
        if !entry.retired || entry.store.is_some() {
            return false;
        }
        match entry.operation {
            Operation::Join => return false,
            Operation::NewStrand => buffers.begin_strand(),
            Operation::Barrier if buffers.has_room() => buffers.barrier(entry.id),
            Operation::Flush(line) if buffers.has_room() && !self.is_fenced() => buffers.flush(entry.id, line),
            Operation::Barrier | Operation::Flush(_) => return false,
        }
        let entry = &mut self.entries[self.issued];
        entry.has_issued = true;
        if entry.operation == Operation::NewStrand {
            entry.completed = true;
            self.completed += 1;
            self.may_retire = true;
        }
        self.issued += 1;
        true
    }

    /// Whether the flush to be issued next is on the strand of a barrier whose stores are not all visible: stores
    /// before a barrier issue before the flushes behind it (StrandWeaver IV, persist queue operation). The rule costs
    /// time and forbids no state under TSO: a store to the flushed line is either older than the barrier's stores, and
    /// so not ordered behind them, or visible after them, and the flush waits for it.
    fn is_fenced(&self) -> bool {
        let strand = self.entries.range(..self.issued).rev();
        let mut strand = strand.take_while(|entry| entry.operation != Operation::NewStrand);
        strand.any(|entry| entry.operation == Operation::Barrier && !entry.stores_done)
    }

    /// Completed entries leave, in any order ("An operation can retire from the queue when
    /// Completed is set"), joins from the head; whether any did.
    #[inline(always)]
    fn retire(&mut self) -> bool {
        self.may_retire && self.retire_some()
    }

    fn retire_some(&mut self) -> bool {
        self.may_retire = false;
        let before = self.entries.len();
        while self.entries.front().is_some_and(Entry::leaves_head) {
            let head = self.entries.pop_front();
            self.note_gone(head);
        }
        if self.completed > 0 {
            let mut index = 1;
            while index < self.entries.len() {
                match self.entries[index].leaves() {
                    true => {
                        let gone = self.entries.remove(index);
                        self.note_gone(gone);
                    }
                    false => index += 1,
                }
            }
        }
        before != self.entries.len()
    }

    fn note_gone(&mut self, gone: Option<Entry>) {
        if let Some(entry) = gone {
            self.issued -= usize::from(entry.has_issued);
            self.completed -= usize::from(entry.completed);
        }
    }

    /// Passes the barrier `id`, before which all stores are visible: whether the stores behind it
    /// may be performed, because all flushes before it have issued to the strand buffers.
    pub fn pass_barrier(&mut self, id: u64) -> bool {
        self.stores_done(id);
        let mut before = self.entries.range(self.issued..).take_while(|entry| entry.id < id);
        let issued = before.all(|entry| !matches!(entry.operation, Operation::Flush(_)));
        kept(Rule::BarrierHoldsStores, issued, || true)
    }

    /// Passes the join `id`, before which all stores are visible: whether it completes, because everything before it has.
    pub fn pass_join(&mut self, id: u64) -> bool {
        self.stores_done(id);
        self.retire();
        let has_completed = self.entry(id).is_none();
        kept(Rule::JoinAwaitsCompletion, has_completed, || {
            let first = self.entries.get(self.issued);
            first.is_none_or(|entry| entry.id >= id)
        })
    }

    fn stores_done(&mut self, id: u64) {
        if let Some(entry) = self.entry(id) {
            entry.stores_done = true;
            self.may_retire = true;
        }
    }

    /// Whether a flush of this line that is older than a store at the head of the store queue has not issued yet. One that
    /// waits for a store to its line is younger than that store.
    #[must_use]
    pub fn waits_to_flush(&self, line: Line) -> bool {
        let mut waiting = self.entries.range(self.issued..);
        waiting.any(|entry| entry.operation == Operation::Flush(line) && entry.store.is_none())
    }

    /// The content, oldest first: the operation, `HasIssued` and `Completed`.
    pub fn contents(&self) -> impl Iterator<Item = (Operation, bool, bool)> + '_ {
        self.entries
            .iter()
            .map(|entry| (entry.operation, entry.has_issued, entry.completed))
    }
}
