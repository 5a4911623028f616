//! What a host's cache may hold, and what it has not written back.

use super::fault::Kept;
use crate::order::{Clock, Flush, PmPlace};
use crate::At;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A moment of a host: which one, and its time.
pub type Moment = (u32, u64);

/// A store to a line that hosts share.
#[derive(Debug)]
pub struct Store {
    pub by: Moment,
    pub at: At,
    pub word: PmPlace,
    /// What its host knew, for those that read it.
    pub known: Rc<Clock>,
    /// When its host flushed the line, if it has.
    pub flushed: Cell<Option<u64>>,
    /// From when on the device has it: its host's flush is fenced, or another host has read it.
    pub fenced: Cell<Option<u64>>,
    pub reached: Cell<Option<Moment>>,
}

impl Store {
    /// Whether the device has it as far as this clock knows.
    pub fn is_out(&self, clock: &Clock) -> bool {
        let fenced = self.fenced.get().map(|time| (self.by.0, time));
        fenced
            .into_iter()
            .chain(self.reached.get())
            .any(|moment| knows(clock, moment))
    }
}

/// Whether a clock has come to a moment.
pub fn knows(clock: &Clock, (host, time): Moment) -> bool {
    clock[host as usize] >= time
}

/// A flush as an invalidate: what its host knew, and the instruction.
#[derive(Clone, Debug)]
pub struct Tried {
    pub known: Rc<Clock>,
    pub at: At,
}

/// What a host's cache may hold of a line.
#[derive(Debug, Default)]
pub struct Copy {
    /// It is no older than this: the last invalidate before which no load is done.
    pub invalidated: Option<Tried>,
    /// A flush that no `mfence` has ordered yet.
    pub unordered: Option<Tried>,
    /// The last `clwb`.
    pub written_back: Option<Tried>,
    /// The last store of each other host that it was read to have.
    pub seen: BTreeMap<u32, u64>,
    /// Words that were loaded since the last invalidate.
    pub loaded: HashMap<PmPlace, Loaded>,
}

/// How a word was loaded.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    pub first: At,
    pub last: At,
    /// The store that was read; `None` if there was none yet.
    pub saw: Option<Moment>,
}

impl Copy {
    /// Whether it is known to have a store.
    pub fn has(&self, (host, time): Moment) -> bool {
        self.seen.get(&host).is_some_and(|seen| *seen >= time)
    }

    pub fn saw(&mut self, (host, time): Moment) {
        let seen = self.seen.entry(host).or_default();
        *seen = time.max(*seen);
    }

    /// A load reads this store of a word.
    pub fn load(&mut self, word: PmPlace, at: At, saw: Option<Moment>) {
        let first = self.loaded.get(&word).map_or(at, |loaded| loaded.first);
        self.loaded.insert(word, Loaded { first, last: at, saw });
    }

    /// Why it may be older than what an invalidate would bring of which `fits` is true, and where.
    pub fn kept(&self, fits: impl Fn(&Clock) -> bool) -> (Kept, Option<At>) {
        let tried = |tried: &Option<Tried>| tried.as_ref().filter(|tried| fits(&tried.known)).map(|tried| tried.at);
        if let Some(at) = tried(&self.unordered) {
            return (Kept::Unordered, Some(at));
        }
        if let Some(at) = tried(&self.written_back) {
            return (Kept::WrittenBack, Some(at));
        }
        match &self.invalidated {
            Some(early) => (Kept::Early, Some(early.at)),
            None => (Kept::Always, None),
        }
    }
}

/// One host.
#[derive(Debug, Default)]
pub struct Host {
    /// What it knew when it began, with an empty cache.
    pub began: Rc<Clock>,
    pub copies: HashMap<PmPlace, Copy>,
    /// Stores in its cache alone.
    dirty: HashMap<PmPlace, Vec<Rc<Store>>>,
    /// Flushed and non-temporal stores that wait for a fence.
    leaving: Vec<Rc<Store>>,
    /// Lines with a flush that waits for an `mfence`.
    unordered: Vec<PmPlace>,
}

impl Host {
    /// Among this number of hosts, of which it knows nothing.
    pub fn new(hosts: usize) -> Host {
        Host {
            began: Rc::new(vec![0; hosts]),
            ..Host::default()
        }
    }

    /// The host has stored to a line.
    pub fn stored(&mut self, line: PmPlace, store: Rc<Store>, nt: bool) {
        match nt {
            true => {
                store.flushed.set(Some(store.by.1));
                self.leaving.push(store);
            }
            false => self.dirty.entry(line).or_default().push(store),
        }
    }

    /// The host flushes a line at this time.
    pub fn flush(&mut self, line: PmPlace, kind: Flush, now: u64, tried: Tried) {
        let stores = self.dirty.remove(&line).unwrap_or_default();
        for store in &stores {
            store.flushed.set(Some(now));
        }
        // A later store or flush of its own does not pass a `clflush`.
        match kind {
            Flush::Clflush => stores.iter().for_each(|store| store.fenced.set(Some(now))),
            _ => self.leaving.extend(stores),
        }
        let copy = self.copies.entry(line).or_default();
        match kind {
            Flush::Clwb => copy.written_back = Some(tried),
            Flush::ClflushOpt | Flush::Clflush => {
                copy.unordered = Some(tried);
                self.unordered.push(line);
            }
        }
    }

    /// The host fences at this time; loads wait for flushes, too, unless it is an `sfence`.
    pub fn fence(&mut self, now: u64, orders_loads: bool) {
        for store in self.leaving.drain(..) {
            store.fenced.set(Some(now));
        }
        for line in self
            .unordered
            .drain(..if orders_loads { self.unordered.len() } else { 0 })
        {
            if let Some(copy) = self.copies.get_mut(&line) {
                copy.invalidated = copy.unordered.take().or(copy.invalidated.take());
                copy.loaded.clear();
            }
        }
    }
}
