//! Reads of values that another thread has stored but not made durable.
//!
//! If the reader makes something durable while the value that it read is not, a crash leaves a consequence without its
//! cause.

use super::pending::Pending;
use crate::order::{Flush, PmOp, PmPlace, What, LINE};
use crate::At;
use std::collections::BTreeMap;

/// Maximum number of undurable values that a thread's reads are known of.
const MOST_READS: usize = 1 << 12;

/// Maximum number of findings whose stores are not known to become durable.
const MOST_OPEN: usize = 1 << 16;

/// Instructions: a load that read an undurable value before its thread made something durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependent {
    /// The load.
    pub load: At,
    /// The other thread's store whose value it read.
    pub store: At,
}

/// A store: its line, and its position in the order.
type Store = (PmPlace, u64);

/// A thread's first read of a store.
#[derive(Clone, Copy, Debug)]
struct Read {
    /// Its position in the order.
    at: u64,
    what: Value,
}

/// What was read, and the bytes of a word that it was.
type Value = (Dependent, PmPlace, u8);

/// The reads of all threads.
#[derive(Clone, Debug)]
pub struct Reads {
    /// Of each thread: reads of stores that are not durable.
    threads: Vec<BTreeMap<Store, Read>>,
    /// Findings whose stores were not durable at that time.
    open: Vec<(Store, Value)>,
    found: BTreeMap<Value, u64>,
}

fn is_pending(pending: &Pending, store: &Store) -> bool {
    let line = pending.lines.get(&store.0);
    line.is_some_and(|line| line.items.binary_search_by_key(&store.1, |item| item.serial).is_ok())
}

/// Whether a pending store was never flushed. The audit lists it as that; locks in persistent memory are such stores.
fn is_never_flushed(pending: &Pending, store: &Store) -> bool {
    is_pending(pending, store) && pending.lines.get(&store.0).is_some_and(|line| store.1 > line.covered)
}

impl Reads {
    pub fn new(threads: usize) -> Reads {
        Reads {
            threads: vec![BTreeMap::new(); threads],
            open: Vec::new(),
            found: BTreeMap::new(),
        }
    }

    /// Sees an operation before it executes. Returns its thread's own stores that it may make durable, if any read
    /// depends on them.
    pub fn before(&mut self, op: &PmOp, pending: &Pending) -> Vec<Store> {
        if let What::Load { word, mask } = op.what {
            self.load(op, word, mask, pending);
        }
        let settles = matches!(
            op.what,
            What::Fence(_) | What::Flush(Flush::Clflush, _) | What::Sync { .. }
        );
        if !settles || self.threads[op.thread as usize].is_empty() {
            return Vec::new();
        }
        let items = |at: PmPlace| {
            let items = pending.lines.get(&at).map_or(&[][..], |line| &line.items);
            let own = items.iter().filter(|item| item.thread == op.thread);
            own.map(move |item| (at, item.serial))
        };
        pending.settled_by(op).into_iter().flat_map(items).collect()
    }

    fn load(&mut self, op: &PmOp, word: PmPlace, mask: u8, pending: &Pending) {
        let at = word & !(LINE - 1);
        let Some(line) = pending.lines.get(&at) else { return };
        let stored = |item: &&super::line::Item| item.piece.word == word && item.piece.mask & mask != 0;
        let Some(item) = line.items.iter().rev().find(stored) else {
            return;
        };
        let reads = &mut self.threads[op.thread as usize];
        if item.thread == op.thread || reads.contains_key(&(at, item.serial)) {
            return;
        }
        if reads.len() >= MOST_READS {
            reads.retain(|store, _| is_pending(pending, store));
        }
        if reads.len() < MOST_READS {
            let (load, store) = (op.at, item.at);
            let what = (Dependent { load, store }, word, item.piece.mask & mask);
            let at_load = pending.serial() + 1;
            reads.insert((at, item.serial), Read { at: at_load, what });
        }
    }

    /// Sees it after it has executed; `own` is the answer of [`Reads::before`].
    pub fn after(&mut self, op: &PmOp, own: Vec<Store>, pending: &Pending) {
        let durable = own.into_iter().filter(|store| !is_pending(pending, store));
        let Some(newest) = durable.map(|(_, serial)| serial).max() else {
            return;
        };
        let open = &mut self.open;
        self.threads[op.thread as usize].retain(|store, read| {
            let depends = is_pending(pending, store) && newest > read.at;
            if depends {
                open.push((*store, read.what));
            }
            !depends && is_pending(pending, store)
        });
        if self.open.len() > MOST_OPEN {
            self.close(pending);
        }
    }

    /// Counts the findings whose stores have become durable. Forgets all others if these are too many.
    fn close(&mut self, pending: &Pending) {
        let found = &mut self.found;
        self.open.retain(|(store, what)| {
            let waits = is_pending(pending, store);
            if !waits {
                *found.entry(*what).or_default() += 1;
            }
            waits
        });
        if self.open.len() > MOST_OPEN / 2 {
            self.open.clear();
        }
    }

    /// All findings at the program's end, except reads of stores that were never flushed, and of words that are no data.
    pub fn found(&self, pending: &Pending, is_data: &mut dyn FnMut(PmPlace, u8) -> bool) -> BTreeMap<Dependent, u64> {
        let mut found = BTreeMap::new();
        for ((what, word, mask), times) in self.all(pending) {
            if is_data(word, mask) {
                *found.entry(what).or_default() += times;
            }
        }
        found
    }

    fn all(&self, pending: &Pending) -> BTreeMap<Value, u64> {
        let mut found = self.found.clone();
        for (store, what) in &self.open {
            if !is_never_flushed(pending, store) {
                *found.entry(*what).or_default() += 1;
            }
        }
        found
    }

    /// Adds the findings of another order, at its end: of each pair of instructions and each word, the larger count.
    pub fn merge(&mut self, other: &Reads, at_the_end: &Pending) {
        for (what, times) in other.all(at_the_end) {
            let count = self.found.entry(what).or_default();
            *count = times.max(*count);
        }
    }
}

#[cfg(test)]
#[path = "reads_tests.rs"]
mod tests;
