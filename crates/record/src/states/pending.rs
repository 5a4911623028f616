//! Durable stores, pending stores, and what makes pending stores durable.

use super::line::{self, Item};
use super::{Image, Rules};
use crate::order::{Flush, Piece, PmOp, PmPlace, What, LINE};
use crate::{hosts, At, Marker, RecordError, Recording};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of distinguished ordinary stores of a line; above it, the oldest half is merged.
const MOST_ITEMS: usize = 512;

/// A line with pending stores.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its stores, in order.
    pub items: Vec<Item>,
    /// Stores before this position in the global order are covered by a flush without a fence so far.
    pub covered: u64,
    /// The merged stores: words and instructions, with counts.
    pub taken_together: BTreeMap<(PmPlace, At), u64>,
    /// The segment of the next store, and the position of its first store.
    segment: (u32, u64),
}

/// The pending operations of a thread.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Flushes since its last fence: line, position in the global order, instruction and its kind.
    pub flushed: Vec<(PmPlace, u64, At, Flush)>,
    /// Lines with non-temporal stores since its last fence.
    pub nts: Vec<PmPlace>,
    /// The position of its last fence or `clflush`, which precedes all its later stores.
    barrier: Option<u64>,
    /// The stores of its open transaction, which no other thread sees, and no crash.
    transaction: Option<Vec<PmOp>>,
}

/// Threads as hosts without coherence, some of which fail. The stores of one that lives on stay.
#[derive(Clone, Debug)]
pub struct Failing {
    /// Those that fail.
    pub threads: Vec<u32>,
    /// Stores and other hosts' reads of them that are at fault: the value need not have come by the device.
    pub faulty: Arc<BTreeSet<(At, At)>>,
}

/// Persistent memory during a program.
#[derive(Clone, Debug)]
pub struct Pending {
    rules: Rules,
    hosts: Option<Failing>,
    /// What is surely durable.
    pub durable: Image,
    /// Lines with pending stores.
    pub lines: BTreeMap<PmPlace, Line>,
    threads: Vec<Thread>,
    serial: u64,
    /// With caches in the persistence domain: the line of the ordinary store that has just become durable, and its
    /// position.
    due: Option<(PmPlace, u64)>,
    /// Some stores were taken together.
    pub taken_together: bool,
}

impl Failing {
    /// These threads of a recording.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn of(recording: &Recording, threads: &[u32]) -> Result<Failing, RecordError> {
        let judged = hosts::judge(recording)?;
        let faulty = judged.faults.keys().map(|fault| (fault.store, fault.other));
        Ok(Failing {
            threads: threads.to_vec(),
            faulty: Arc::new(faulty.collect()),
        })
    }
}

impl Pending {
    /// Memory as it was at first.
    #[must_use]
    pub fn new(rules: Rules, threads: usize, initial: Image) -> Pending {
        Pending {
            rules,
            hosts: None,
            durable: initial,
            lines: BTreeMap::new(),
            threads: vec![Thread::default(); threads],
            serial: 0,
            due: None,
            taken_together: false,
        }
    }

    /// The same, of threads that are hosts.
    #[must_use]
    pub fn of_hosts(self, hosts: Option<Failing>) -> Pending {
        Pending { hosts, ..self }
    }

    /// Whether a thread's flush is one of a store.
    fn reach(&self, thread: u32) -> impl Fn(&Item) -> bool + use<> {
        let by_host = self.hosts.is_some();
        move |item| !item.nt && (!by_host || item.thread == thread)
    }

    /// Whether the threads are hosts: a flush is then of its own thread's stores, and loads show what has come to the device.
    #[must_use]
    pub fn has_hosts(&self) -> bool {
        self.hosts.is_some()
    }

    /// The store of another host that an operation reads: it has come to the device.
    fn fetches(&self, op: &PmOp) -> Option<u64> {
        let What::Load { word, mask } = op.what else {
            return None;
        };
        let hosts = self.hosts.as_ref()?;
        let line = self.lines.get(&(word & !(LINE - 1)))?;
        let stored = |item: &&Item| item.piece.word == word && item.piece.mask & mask != 0;
        let last = line.items.iter().rev().find(stored)?;
        let shows = last.thread != op.thread && !hosts.faulty.contains(&(last.at, op.at));
        shows.then_some(last.serial)
    }

    /// When stores are durable.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// The position of the last operation in the global order.
    #[must_use]
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The pending operations of a thread.
    #[must_use]
    pub fn thread(&self, thread: u32) -> &Thread {
        &self.threads[thread as usize]
    }

    /// All threads, in order.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Whether this operation makes a store durable that a crash could otherwise undo.
    #[must_use]
    pub fn settles(&self, op: &PmOp) -> bool {
        if self.due.is_some() {
            return true;
        }
        // Its stores are durable as one: not even some of them are before.
        if self.rules == Rules::Visible && !self.committed(op).is_empty() {
            return true;
        }
        let has = |line: &PmPlace, which: &dyn Fn(&Item) -> bool| {
            self.lines.get(line).is_some_and(|line| line.items.iter().any(which))
        };
        match op.what {
            What::Fence(_) => {
                let thread = self.thread(op.thread);
                let reaches = self.reach(op.thread);
                let flushed = |(line, before, ..): &(PmPlace, u64, At, Flush)| {
                    has(line, &|item| reaches(item) && item.serial < *before)
                };
                let own = |item: &Item| item.nt && item.thread == op.thread;
                thread.flushed.iter().any(flushed) || thread.nts.iter().any(|line| has(line, &own))
            }
            What::Flush(Flush::Clflush, Some(line)) => has(&line, &self.reach(op.thread)),
            What::Load { .. } => self.fetches(op).is_some(),
            What::Sync { start, bytes } => self.lines.range(range(start, bytes)).next().is_some(),
            _ => false,
        }
    }

    /// The lines in which an operation may make stores durable.
    #[must_use]
    pub fn settled_by(&self, op: &PmOp) -> Vec<PmPlace> {
        let mut lines: Vec<PmPlace> = self.due.iter().map(|(line, _)| *line).collect();
        match op.what {
            What::Fence(_) => {
                let thread = self.thread(op.thread);
                lines.extend(thread.flushed.iter().map(|(line, ..)| *line));
                lines.extend(&thread.nts);
            }
            What::Flush(Flush::Clflush, Some(line)) => lines.push(line),
            What::Load { word, .. } if self.fetches(op).is_some() => lines.push(word & !(LINE - 1)),
            What::Sync { start, bytes } => lines.extend(self.lines.range(range(start, bytes)).map(|(line, _)| *line)),
            _ => {}
        }
        lines
    }

    /// Does an operation.
    pub fn apply(&mut self, op: &PmOp) {
        self.serial += 1;
        self.settle_due();
        let transaction = &mut self.threads[op.thread as usize].transaction;
        match (op.what, transaction) {
            (What::Marker(Marker::TransactionBegin), transaction) => *transaction = Some(Vec::new()),
            (What::Marker(Marker::TransactionEnd), transaction) => {
                let stores = transaction.take().unwrap_or_default();
                self.commit(&stores);
            }
            (What::Store(_) | What::StoreNt(_), Some(stores)) => stores.push(*op),
            _ => self.perform(op),
        }
    }

    fn perform(&mut self, op: &PmOp) {
        match op.what {
            What::Store(piece) => self.store(op, piece, false),
            What::StoreNt(piece) => self.store(op, piece, true),
            What::Flush(kind, Some(line)) => self.flush(op, kind, line),
            What::Fence(_) => self.fence(op.thread),
            What::Sync { start, bytes } => {
                let lines: Vec<PmPlace> = self.lines.range(range(start, bytes)).map(|(line, _)| *line).collect();
                lines.iter().for_each(|line| self.make_durable(*line, |_| true));
            }
            What::Load { word, .. } => {
                if let Some(last) = self.fetches(op) {
                    self.make_durable(word & !(LINE - 1), |item| item.serial == last);
                }
            }
            What::Flush(_, None) | What::Unknown | What::Marker(_) | What::Exit => {}
        }
    }

    /// Whether a store of this operation is one of an open transaction.
    #[must_use]
    pub fn holds(&self, op: &PmOp) -> bool {
        self.thread(op.thread).transaction.is_some()
    }

    /// The lines of the stores that become visible by the end of their transaction.
    #[must_use]
    pub fn committed(&self, op: &PmOp) -> BTreeSet<PmPlace> {
        match (op.what, &self.thread(op.thread).transaction) {
            (What::Marker(Marker::TransactionEnd), Some(stores)) => lines(stores).collect(),
            _ => BTreeSet::new(),
        }
    }

    /// The stores of a transaction become visible at once: of a line all, or none. With caches in the persistence domain, the
    /// last one stands for all.
    fn commit(&mut self, stores: &[PmOp]) {
        let Some((last, before)) = stores.split_last() else {
            return;
        };
        if self.rules == Rules::Visible {
            let pieces = before.iter().filter_map(|op| op.what.piece());
            pieces.for_each(|piece| self.durable.store(&piece));
            return self.perform(last);
        }
        stores.iter().for_each(|op| self.perform(op));
        for line in lines(stores).collect::<BTreeSet<_>>() {
            let Some(line) = self.lines.get_mut(&line) else {
                continue;
            };
            let mut own = line
                .items
                .iter_mut()
                .rev()
                .take_while(|item| item.serial == self.serial);
            own.by_ref().take(1).for_each(drop);
            own.for_each(|item| item.glued = true);
        }
    }

    /// Memory with everything durable.
    #[must_use]
    pub fn all_durable(mut self) -> Image {
        for item in self.lines.values().flat_map(|line| &line.items) {
            self.durable.store(&item.piece);
        }
        self.durable
    }

    /// What an aligned word holds with everything durable.
    pub fn word(&self, word: PmPlace) -> [u8; 8] {
        let line = self.lines.get(&(word & !(LINE - 1)));
        let items = line.into_iter().flat_map(|line| &line.items);
        let own = items.filter(|item| item.piece.word == word);
        own.fold(self.durable.word(word), |bytes, item| item.piece.over(bytes))
    }

    /// Makes stores durable that need no flush.
    pub fn settle_due(&mut self) {
        if let Some((line, serial)) = self.due.take() {
            self.make_durable(line, |item| item.serial == serial);
        }
    }

    fn store(&mut self, op: &PmOp, piece: Piece, nt: bool) {
        let at = piece.line();
        let serial = self.serial;
        let thread = &mut self.threads[op.thread as usize];
        if nt && thread.nts.last() != Some(&at) {
            thread.nts.push(at);
        }
        let line = self.lines.entry(at).or_default();
        // If threads share a line, this treats other threads' stores to it as ordered, too.
        if line.items.is_empty() || thread.barrier.is_some_and(|barrier| barrier > line.segment.1) {
            line.segment = (line.segment.0 + 1, serial);
        }
        line.items.push(Item {
            serial,
            thread: op.thread,
            at: op.at,
            rest: op.rest,
            piece,
            nt,
            segment: line.segment.0,
            glued: false,
        });
        self.taken_together |= line.take_together();
        let stays = self
            .hosts
            .as_ref()
            .is_some_and(|hosts| !hosts.threads.contains(&op.thread));
        if stays {
            self.settle_due();
        }
        if stays || (self.rules == Rules::Visible && !nt) {
            self.due = Some((at, serial));
        }
    }

    fn flush(&mut self, op: &PmOp, kind: Flush, line: PmPlace) {
        if kind == Flush::Clflush {
            self.threads[op.thread as usize].barrier = Some(self.serial);
            return self.make_durable(line, self.reach(op.thread));
        }
        let Some(pending) = self.lines.get_mut(&line) else {
            return;
        };
        pending.covered = self.serial;
        let flush = (line, self.serial, op.at, kind);
        self.threads[op.thread as usize].flushed.push(flush);
    }

    fn fence(&mut self, thread: u32) {
        let own = std::mem::take(&mut self.threads[thread as usize]);
        let reaches = self.reach(thread);
        self.threads[thread as usize].barrier = Some(self.serial);
        for (line, before, ..) in own.flushed {
            self.make_durable(line, |item| reaches(item) && item.serial < before);
        }
        for line in own.nts {
            self.make_durable(line, |item| item.nt && item.thread == thread);
        }
    }

    fn make_durable(&mut self, at: PmPlace, which: impl Fn(&Item) -> bool) {
        let Some(line) = self.lines.get_mut(&at) else { return };
        let durable = line::close(&line.items, line.items.iter().map(which).collect());
        if durable.first() == Some(&true) {
            line.taken_together.clear();
        }
        let mut durable = durable.into_iter();
        let image = &mut self.durable;
        line.items.retain(|item| {
            let gone = durable.next() == Some(true);
            if gone {
                image.store(&item.piece);
            }
            !gone
        });
        if line.items.is_empty() {
            self.lines.remove(&at);
        }
    }
}

impl Line {
    /// Merges the older half of too many stores; returns whether it did.
    fn take_together(&mut self) -> bool {
        let first = self.items.partition_point(|item| item.serial <= self.covered);
        if self.items.len() - first < MOST_ITEMS || self.items[first..].iter().any(|item| item.nt) {
            return false;
        }
        let older: Vec<Item> = self.items.drain(first..first + MOST_ITEMS / 2).collect();
        let mut words: Vec<Item> = Vec::new();
        for item in older {
            match words.iter().position(|other| other.piece.word == item.piece.word) {
                Some(index) => {
                    let before = words.remove(index);
                    let times = self.taken_together.entry((before.piece.word, before.at)).or_default();
                    *times += u64::from(!before.rest);
                    words.push(over(&before, item));
                }
                None => words.push(item),
            }
        }
        // All in one segment: a later non-temporal store may appear ordered after more of them than it is.
        let segment = words.iter().map(|item| item.segment).min().unwrap_or_default();
        words.iter_mut().for_each(|item| item.segment = segment);
        let last = words.len() - 1;
        words[..last].iter_mut().for_each(|item| item.glued = true);
        words[last].glued = false;
        self.items.splice(first..first, words);
        true
    }
}

/// The lines of these stores.
fn lines(stores: &[PmOp]) -> impl Iterator<Item = PmPlace> + '_ {
    stores.iter().filter_map(|op| Some(op.what.piece()?.line()))
}

/// A store merged with a later one to the same word.
fn over(before: &Item, mut item: Item) -> Item {
    for byte in (0..8).filter(|byte| item.piece.mask >> byte & 1 == 0) {
        item.piece.bytes[byte] = before.piece.bytes[byte];
    }
    item.piece.mask |= before.piece.mask;
    item
}

fn range(start: PmPlace, bytes: u64) -> std::ops::Range<PmPlace> {
    start & !(LINE - 1)..start.saturating_add(bytes)
}

#[cfg(test)]
#[path = "pending_tests.rs"]
mod tests;
