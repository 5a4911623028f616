//! A recording's threads as hosts that share its persistent memory without coherence.
//!
//! Each thread is a host with a cache of its own, coherent in itself, and the persistent memory is one device. A store stays in
//! its host's cache until that flushes the line and fences, or evicts it at any time. A cache keeps a line from any time since
//! its host's last invalidate, and writes it back as a whole. What orders threads by other memory (locks, signals, thread
//! creation) stands for messages: it orders, and moves no bytes. A value that is read from persistent memory orders, too, as it
//! has come by the device.
//!
//! Judged is the recorded execution, each pair of a store and another host's read, or store, of the line once more. If the store
//! comes before the read by more than this read itself, the read has to see it. If not, the read may miss it, as that of one
//! who polls; it must not be bound to miss it, and the store must come out at last.

mod cache;
mod fault;

pub use fault::{Fault, Kept, Kind, Seen};

use crate::order::{Clock, Clocks, Detail, Entry, Fence, Interleaved, Places, PmOp, PmPlace, Sync, What, LINE};
use crate::{At, RecordError, Recording};
use cache::{knows, Host, Store, Tried};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// Reads of stores that may come out later, of which this many are kept.
const MOST_HANDED: usize = 1 << 16;

/// Reads of one pair of instructions that are kept.
const MOST_OF_PAIR: usize = 16;

/// What is known of the lines before the threads are judged.
#[derive(Debug, Default)]
struct Lines {
    /// Of each line the first thread that accesses it, or `None` if there are several.
    users: HashMap<PmPlace, Option<u32>>,
    /// Of each word the threads that use locked instructions on it, each with the first.
    locked: BTreeMap<PmPlace, BTreeMap<u32, At>>,
    /// The locked instruction that each thread is in.
    within: Vec<Option<At>>,
}

impl Lines {
    fn of(threads: usize) -> Lines {
        Lines {
            within: vec![None; threads],
            ..Lines::default()
        }
    }

    fn see(&mut self, op: &PmOp) {
        let within = &mut self.within[op.thread as usize];
        if let What::Fence(fence) = op.what {
            *within = (fence == Fence::Locked).then_some(op.at);
        }
        let Some(word) = word(op) else { return };
        if *within == Some(op.at) {
            let first = self.locked.entry(word).or_default();
            first.entry(op.thread).or_insert(op.at);
        }
        let user = self.users.entry(word & !(LINE - 1)).or_insert(Some(op.thread));
        if *user != Some(op.thread) {
            *user = None;
        }
    }

    fn are_shared(&self, line: PmPlace) -> bool {
        self.users.get(&line) == Some(&None)
    }

    /// Whether several hosts use locked instructions on a word, which is a fault of its own.
    fn contends(&self, word: PmPlace) -> bool {
        self.locked.get(&word).is_some_and(|threads| threads.len() > 1)
    }
}

/// The word that an operation loads or stores.
fn word(op: &PmOp) -> Option<PmPlace> {
    match op.what {
        What::Load { word, .. } => Some(word),
        what => what.piece().map(|piece| piece.word),
    }
}

/// A read of a store that its host has not brought to the device, as far as the reader knows.
#[derive(Debug)]
struct Handed {
    store: Rc<Store>,
    load: At,
    reader: u32,
    /// It has to see the store, and had come to know of its host's this time.
    known: Option<u64>,
    flag: Option<At>,
    acts: Cell<Option<At>>,
    times: Cell<u64>,
}

impl Handed {
    /// What is wrong, as the whole recording shows.
    fn kind(&self) -> Option<Kind> {
        let (flushed, fenced) = (self.store.flushed.get(), self.store.fenced.get());
        match (flushed, fenced, self.known) {
            (None, None, _) => Some(Kind::NeverFlushed),
            (Some(_), None, _) => Some(Kind::NeverFenced),
            (_, Some(_), None) => None,
            (Some(flushed), Some(_), Some(known)) if flushed > known => Some(Kind::FlushedLate),
            (_, Some(_), Some(_)) => Some(Kind::FencedLate),
        }
    }
}

/// How a host came to know of another one's time: by a store to persistent memory, or by a message.
type Learnt = (u64, Option<At>);

/// Sees a recording's order.
#[derive(Debug)]
struct Hosts {
    lines: Lines,
    clocks: Clocks,
    hosts: Vec<Host>,
    /// Whether a host has done anything. First a thread waits for its creation.
    begun: Vec<bool>,
    words: HashMap<PmPlace, Rc<Store>>,
    /// Of each line the last store of each host.
    writers: HashMap<PmPlace, BTreeMap<u32, Rc<Store>>>,
    learnt: HashMap<(u32, u32), Vec<Learnt>>,
    /// Reads that have to see their store, by both instructions; more than [`MOST_OF_PAIR`] are only counted.
    handed: BTreeMap<(At, At), Vec<Rc<Handed>>>,
    /// Reads that may miss it.
    polled: Vec<Rc<Handed>>,
    /// Of each host those since its last store.
    open: Vec<Vec<Rc<Handed>>>,
    found: BTreeMap<Fault, Seen>,
}

impl Hosts {
    fn new(lines: Lines, threads: usize) -> Hosts {
        Hosts {
            lines,
            clocks: Clocks::new(threads),
            hosts: (0..threads).map(|_| Host::new(threads)).collect(),
            begun: vec![false; threads],
            words: HashMap::new(),
            writers: HashMap::new(),
            learnt: HashMap::new(),
            handed: BTreeMap::new(),
            polled: Vec::new(),
            open: vec![Vec::new(); threads],
            found: BTreeMap::new(),
        }
    }

    fn sync(&mut self, sync: &Sync) {
        let before = self.clocks.of(sync.thread).clone();
        self.clocks.sync(sync);
        self.learns(sync.thread, &before, None);
        if !std::mem::replace(&mut self.begun[sync.thread as usize], true) {
            self.hosts[sync.thread as usize].began = Rc::new(self.clocks.of(sync.thread).clone());
        }
    }

    /// A host knows more of others than before, by a store or by a message.
    fn learns(&mut self, host: u32, before: &Clock, by: Option<At>) {
        for (other, (now, before)) in (0..).zip(self.clocks.of(host).iter().zip(before)) {
            if other == host || now <= before {
                continue;
            }
            let learnt = self.learnt.entry((host, other)).or_default();
            match learnt.last_mut() {
                Some((time, last)) if *last == by => *time = *now,
                _ => learnt.push((*now, by)),
            }
        }
    }

    fn see(&mut self, op: &PmOp) {
        self.begun[op.thread as usize] = true;
        let host = &mut self.hosts[op.thread as usize];
        let now = self.clocks.now(op.thread);
        match op.what {
            What::Fence(fence) => {
                host.fence(now, fence != Fence::Sfence);
            }
            What::Flush(kind, Some(line)) if self.lines.are_shared(line) => {
                let known = Rc::new(self.clocks.of(op.thread).clone());
                host.flush(line, kind, now, Tried { known, at: op.at });
            }
            What::Load { word, .. } if self.lines.are_shared(word & !(LINE - 1)) => self.load(op, word),
            What::Store(piece) => self.store(op, piece.word, false),
            What::StoreNt(piece) => self.store(op, piece.word, true),
            _ => {}
        }
    }

    fn load(&mut self, op: &PmOp, word: PmPlace) {
        let store = self.words.get(&word).map(Rc::clone);
        let remote = store.as_ref().filter(|store| store.by.0 != op.thread);
        if let Some(store) = remote {
            if !self.lines.contends(word) {
                self.read(op, store);
            }
            store
                .reached
                .set(store.reached.get().or(Some((op.thread, self.clocks.now(op.thread)))));
            let before = self.clocks.of(op.thread).clone();
            self.clocks.acquire(op.thread, &store.known);
            self.learns(op.thread, &before, Some(store.at));
        }
        let copies = &mut self.hosts[op.thread as usize].copies;
        let copy = copies.entry(word & !(LINE - 1)).or_default();
        copy.load(word, op.at, store.map(|store| store.by));
    }

    /// A host reads what another one has stored.
    fn read(&mut self, op: &PmOp, store: &Rc<Store>) {
        let host = &mut self.hosts[op.thread as usize];
        let copy = host.copies.entry(store.word & !(LINE - 1)).or_default();
        if copy.has(store.by) {
            return;
        }
        let clock = self.clocks.of(op.thread);
        let since = copy.invalidated.as_ref().map_or(&host.began, |tried| &tried.known);
        let mut stale = None;
        if knows(clock, store.by) {
            let is_out = store.is_out(clock);
            if !store.is_out(since) && (is_out || !knows(since, store.by)) {
                stale = Some(copy.kept(|clock| {
                    if is_out {
                        store.is_out(clock)
                    } else {
                        knows(clock, store.by)
                    }
                }));
            }
            copy.saw(store.by);
            if !is_out {
                self.hand(op, store, true);
            }
        } else {
            let before = copy
                .loaded
                .get(&store.word)
                .filter(|loaded| loaded.saw != Some(store.by));
            let kept = |last| if last == op.at { Kept::Spins } else { Kept::Again };
            stale = before.map(|loaded| (kept(loaded.last), Some(loaded.first)));
            copy.saw(store.by);
            self.hand(op, store, false);
        }
        if let Some((kept, since)) = stale {
            self.note(Kind::Stale(kept), store, op, since);
        }
    }

    /// A host reads a store that is not known to be on the device.
    fn hand(&mut self, op: &PmOp, store: &Rc<Store>, must_see: bool) {
        let (writer, time) = store.by;
        let learnt = self.learnt.get(&(op.thread, writer)).filter(|_| must_see);
        let flag = learnt.and_then(|learnt| learnt.get(learnt.partition_point(|(until, _)| *until < time)));
        let handed = Rc::new(Handed {
            store: Rc::clone(store),
            load: op.at,
            reader: op.thread,
            known: must_see.then(|| self.clocks.of(op.thread)[writer as usize]),
            flag: flag.and_then(|(_, by)| *by),
            acts: Cell::new(None),
            times: Cell::new(1),
        });
        if must_see {
            let all = self.handed.entry((store.at, op.at)).or_default();
            if all.len() == MOST_OF_PAIR {
                let last = &all[MOST_OF_PAIR - 1].times;
                return last.set(last.get() + 1);
            }
            all.push(Rc::clone(&handed));
        } else {
            if self.polled.len() >= MOST_HANDED {
                self.polled.retain(|handed| handed.kind().is_some());
            }
            if self.polled.len() < MOST_HANDED {
                self.polled.push(Rc::clone(&handed));
            }
        }
        self.open[op.thread as usize].push(handed);
    }

    fn store(&mut self, op: &PmOp, word: PmPlace, nt: bool) {
        for handed in self.open[op.thread as usize].drain(..) {
            handed.acts.set(Some(op.at));
        }
        let line = word & !(LINE - 1);
        if !self.lines.are_shared(line) {
            return;
        }
        let contends = self.lines.contends(word);
        if !contends && (!op.rest || word == line) {
            self.overwrite(op, word, nt);
        }
        let by = (op.thread, self.clocks.now(op.thread));
        let store = Rc::new(Store {
            by,
            at: op.at,
            word,
            known: self.clocks.release(op.thread),
            flushed: Cell::new(None),
            fenced: Cell::new(None),
            reached: Cell::new(None),
        });
        self.words.insert(word, Rc::clone(&store));
        if !contends {
            let writers = self.writers.entry(line).or_default();
            writers.insert(op.thread, Rc::clone(&store));
        }
        self.hosts[op.thread as usize].stored(line, store, nt);
    }

    /// A host stores to a line: its cache has to have what others have stored there, and theirs must not write it back again.
    fn overwrite(&mut self, op: &PmOp, word: PmPlace, nt: bool) {
        let host = &self.hosts[op.thread as usize];
        let line = word & !(LINE - 1);
        let copy = host.copies.get(&line);
        let since = copy.and_then(|copy| copy.invalidated.as_ref());
        let since = since.map_or(&host.began, |tried| &tried.known);
        // A non-temporal store takes no line into the cache.
        let since: &Clock = if nt { self.clocks.of(op.thread) } else { since };
        let undone = |store: &&Rc<Store>| {
            store.by.0 != op.thread && !store.is_out(since) && !copy.is_some_and(|copy| copy.has(store.by))
        };
        let others = self.writers.get(&line).into_iter().flat_map(BTreeMap::values);
        let undone: Vec<Rc<Store>> = others.filter(undone).map(Rc::clone).collect();
        for store in undone {
            let kind = if store.word == word {
                Kind::LostUpdate
            } else {
                Kind::FalseSharing
            };
            self.note(kind, &store, op, None);
        }
    }

    fn note(&mut self, kind: Kind, store: &Store, op: &PmOp, since: Option<At>) {
        let (mut one, mut other) = ((store.at, store.by.0), (op.at, op.thread));
        // Which host came first is chance.
        if matches!(kind, Kind::LostUpdate | Kind::FalseSharing) && one > other {
            std::mem::swap(&mut one, &mut other);
        }
        let fault = Fault {
            kind,
            store: one.0,
            other: other.0,
        };
        let seen = Seen {
            since,
            ..Seen::new((one.1, other.1), store.word)
        };
        self.found.entry(fault).or_insert(seen).times += 1;
    }

    /// All faults, at the recording's end.
    fn finish(mut self) -> BTreeMap<Fault, Seen> {
        for handed in self.handed.values().flatten().chain(&self.polled) {
            let Some(kind) = handed.kind() else { continue };
            let fault = Fault {
                kind,
                store: handed.store.at,
                other: handed.load,
            };
            let seen = Seen {
                flag: handed.flag,
                acts: handed.acts.get(),
                ..Seen::new((handed.store.by.0, handed.reader), handed.store.word)
            };
            self.found.entry(fault).or_insert(seen).times += handed.times.get();
        }
        for (word, threads) in self.lines.locked.iter().filter(|(_, threads)| threads.len() > 1) {
            let mut threads = threads.iter();
            let Some((first, store)) = threads.next() else { continue };
            for (thread, other) in threads {
                let fault = Fault {
                    kind: Kind::Locked,
                    store: *store,
                    other: *other,
                };
                let seen = Seen::new((*first, *thread), *word);
                self.found.entry(fault).or_insert(seen).times += 1;
            }
        }
        self.found
    }
}

/// A recording whose threads are hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Threads that store to persistent memory.
    pub storing: BTreeSet<u32>,
    /// What is wrong, by instructions.
    pub faults: BTreeMap<Fault, Seen>,
}

/// What is wrong if each thread of a recording runs on a host of its own.
///
/// # Errors
/// The recording cannot be read.
pub fn judge(recording: &Recording) -> Result<Judged, RecordError> {
    let threads = recording.threads().len();
    let places = Arc::new(Places::of(recording.regions()));
    let recording = Arc::new(recording.clone());
    let order = || Interleaved::with(&recording, &places, Detail::Hosts);
    let mut lines = Lines::of(threads);
    let mut storing = BTreeSet::new();
    for op in order()? {
        let op = op?;
        lines.see(&op);
        storing.extend(op.what.piece().map(|_| op.thread));
    }
    let mut hosts = Hosts::new(lines, threads);
    for entry in order()?.entries() {
        match entry? {
            Entry::Op(op) => hosts.see(&op),
            Entry::Sync(sync) => hosts.sync(&sync),
            Entry::Access(_) => {}
        }
    }
    Ok(Judged {
        storing,
        faults: hosts.finish(),
    })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
