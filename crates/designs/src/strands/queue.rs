//! The persist queue of one core (StrandWeaver, section IV, "Persist queue").

use super::{StrandBuffers, ENTRY_BYTES};
use std::collections::VecDeque;
use strandline_design::StoreId;
use strandline_isa::Line;
use strandline_kernel::Param;
use strandline_rules::{broken, Rule};

/// `--set design.queue=N`.
pub const QUEUE_ENTRIES: Param = Param {
    name: "queue",
    default: 16,
    min: 1,
    max: 1024,
    help: "entries of a core's persist queue",
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

/// The persist queue of one core.
///
/// Operations issue to the strand buffers in order and leave once they have completed. Stores behind a barrier or a
/// join stay in the store queue until [`PersistQueue::pass_barrier`] or [`PersistQueue::pass_join`].
#[derive(Clone, Debug)]
pub struct PersistQueue {
    entries: VecDeque<Entry>,
    capacity: usize,
    newest: u64,
}

impl PersistQueue {
    /// An empty queue of so many entries, before strand buffers of this shape.
    #[must_use]
    pub fn new(capacity: usize) -> PersistQueue {
        PersistQueue {
            entries: VecDeque::new(),
            capacity,
            newest: 0,
        }
    }

    /// Bytes of so many entries: 144 for 16 (section VI-A).
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
            store: store.filter(|_| !broken(Rule::FlushAwaitsStore)),
            stores_done: false,
            has_issued: false,
            completed: false,
        });
        self.newest
    }

    /// Notes that an operation has retired from the reorder buffer.
    pub fn retired(&mut self, id: u64) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
            entry.retired = true;
        }
    }

    /// Notes that a store for which operations may wait has become visible.
    pub fn performed(&mut self, store: StoreId) {
        for entry in self.entries.iter_mut().filter(|entry| entry.store == Some(store)) {
            entry.store = None;
        }
    }

    /// Notes that the strand buffers have completed these.
    pub fn completed(&mut self, ids: &[u64]) {
        for entry in self.entries.iter_mut().filter(|entry| ids.contains(&entry.id)) {
            entry.completed = true;
        }
    }

    /// Issues entries to the strand buffers, and retires completed ones; whether anything changed.
    pub fn issue(&mut self, buffers: &mut StrandBuffers) -> bool {
        let mut changed = self.retire();
        let mut fenced = false;
        for entry in &mut self.entries {
            if !entry.has_issued {
                let may = entry.retired && entry.store.is_none();
                let issues = match entry.operation {
                    Operation::Join => false,
                    Operation::NewStrand => may,
                    Operation::Barrier => may && buffers.has_room(),
                    Operation::Flush(_) => may && !fenced && buffers.has_room(),
                };
                if !issues {
                    break;
                }
                entry.has_issued = true;
                changed = true;
                match entry.operation {
                    Operation::Flush(line) => buffers.flush(entry.id, line),
                    Operation::Barrier => buffers.barrier(entry.id),
                    Operation::NewStrand => {
                        buffers.begin_strand();
                        entry.completed = true;
                    }
                    Operation::Join => {}
                }
            }
            match entry.operation {
                // Stores before a barrier issue before the flushes behind it, on its strand.
                Operation::Barrier => fenced |= !entry.stores_done,
                Operation::NewStrand => fenced = false,
                _ => {}
            }
        }
        changed |= self.retire();
        changed
    }

    /// Completed entries leave, in any order ("An operation can retire from the queue when
    /// Completed is set"), joins from the head; whether any did.
    fn retire(&mut self) -> bool {
        let before = self.entries.len();
        let mut is_head = true;
        self.entries.retain(|entry| {
            let leaves = match entry.operation {
                Operation::Join => is_head && entry.stores_done,
                Operation::Barrier => entry.completed && entry.stores_done,
                Operation::Flush(_) | Operation::NewStrand => entry.completed,
            };
            is_head &= leaves;
            !leaves
        });
        before != self.entries.len()
    }

    /// Passes the barrier `id`, before which all stores are visible: whether the stores behind it
    /// may be performed, because all flushes before it have issued to the strand buffers.
    pub fn pass_barrier(&mut self, id: u64) -> bool {
        self.stores_done(id);
        if broken(Rule::BarrierHoldsStores) {
            return true;
        }
        let mut before = self.entries.iter().take_while(|entry| entry.id < id);
        before.all(|entry| entry.has_issued || !matches!(entry.operation, Operation::Flush(_)))
    }

    /// Passes the join `id`, before which all stores are visible: whether it completes, because everything before it has.
    pub fn pass_join(&mut self, id: u64) -> bool {
        self.stores_done(id);
        self.retire();
        if broken(Rule::JoinAwaitsCompletion) {
            let mut before = self.entries.iter().take_while(|entry| entry.id < id);
            return before.all(|entry| entry.has_issued);
        }
        self.entries.iter().all(|entry| entry.id != id)
    }

    fn stores_done(&mut self, id: u64) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.id == id) {
            entry.stores_done = true;
        }
    }

    /// Whether a flush of this line that is older than a store at the head of the store queue has not issued yet. One that
    /// waits for a store to its line is younger than that store.
    #[must_use]
    pub fn waits_to_flush(&self, line: Line) -> bool {
        let of_line = |entry: &&Entry| entry.operation == Operation::Flush(line);
        self.entries
            .iter()
            .filter(of_line)
            .any(|entry| !entry.has_issued && entry.store.is_none())
    }

    /// The content, oldest first: the operation, `HasIssued` and `Completed`.
    pub fn contents(&self) -> impl Iterator<Item = (Operation, bool, bool)> + '_ {
        self.entries
            .iter()
            .map(|entry| (entry.operation, entry.has_issued, entry.completed))
    }
}
