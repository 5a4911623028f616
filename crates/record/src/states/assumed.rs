//! Loads whose place among the stores of other threads is assumed: nothing recorded orders the two.
//!
//! Each thread has a clock: how far it knows each other thread to have come, by turns, links and signals. If a load and another
//! thread's store to one of its words know nothing of each other, the order that is explored is one of several.

use crate::order::{Access, Detail, Entry, Interleaved, Places, Sync, SyncKind};
use crate::{RecordError, Recording};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::rc::Rc;
use std::sync::Arc;
use strandline_kernel::NumberHasher;

/// What is assumed of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// Loads of the program's own code, of stores of that.
    pub loads: u64,
    /// The address of the first one's instruction.
    pub load: u64,
    /// That of the store.
    pub store: u64,
}

/// How far threads have come: for each the number of its releases so far.
type Clock = Vec<u64>;

/// A load or store of a word.
#[derive(Clone, Copy, Debug)]
struct Last {
    thread: u32,
    time: u64,
    pc: u64,
}

#[derive(Debug, Default)]
struct Word {
    store: Option<Last>,
    loads: Vec<Last>,
}

type Numbers<T> = HashMap<u64, T, BuildHasherDefault<NumberHasher>>;

/// Sees a recording's order.
#[derive(Debug)]
struct Races {
    clocks: Vec<Clock>,
    /// Of each signal, what who waited for it this often knows.
    signals: HashMap<u32, Vec<Rc<Clock>>>,
    /// Of each word with turns, what who comes behind its last store knows.
    turns: Numbers<Rc<Clock>>,
    words: Numbers<Word>,
    found: Assumed,
}

fn join(into: &mut Clock, other: &Clock) {
    for (own, other) in into.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

impl Races {
    fn new(threads: usize) -> Races {
        let own = |thread| (0..threads).map(|other| u64::from(other == thread)).collect();
        Races {
            clocks: (0..threads).map(own).collect(),
            signals: HashMap::new(),
            turns: Numbers::default(),
            words: Numbers::default(),
            found: Assumed::default(),
        }
    }

    /// What a thread knows, for others; what it does next is later.
    fn release(&mut self, thread: u32) -> Rc<Clock> {
        let clock = &mut self.clocks[thread as usize];
        let known = Rc::new(clock.clone());
        clock[thread as usize] += 1;
        known
    }

    fn sync(&mut self, sync: &Sync) {
        let own = sync.thread as usize;
        match sync.kind {
            SyncKind::Gives(number) => {
                let mut known = self.release(sync.thread);
                let given = self.signals.entry(number).or_default();
                if let Some(before) = given.last() {
                    join(Rc::make_mut(&mut known), before);
                }
                given.push(known);
            }
            SyncKind::Waits(number, times) => {
                let given = self
                    .signals
                    .get(&number)
                    .and_then(|given| given.get(times.wrapping_sub(1) as usize));
                if let Some(known) = given {
                    join(&mut self.clocks[own], known);
                }
            }
            SyncKind::Turn { word, writes } => {
                if let Some(known) = self.turns.get(&word) {
                    join(&mut self.clocks[own], known);
                }
                if writes {
                    let known = self.release(sync.thread);
                    self.turns.insert(word, known);
                }
            }
        }
    }

    fn access(&mut self, access: &Access) {
        let clock = &self.clocks[access.thread as usize];
        let unknown = |last: &Last| last.thread != access.thread && clock[last.thread as usize] < last.time;
        let own = Last {
            thread: access.thread,
            time: clock[access.thread as usize],
            pc: access.pc,
        };
        let mut races = Vec::new();
        for number in access.first..=access.last {
            let word = self.words.entry(number).or_default();
            if access.writes {
                races.extend(word.loads.drain(..).filter(unknown).map(|load| (load, own)));
                word.store = Some(own);
            } else {
                races.extend(word.store.filter(unknown).map(|store| (own, store)));
                word.loads.retain(|load| load.thread != access.thread);
                word.loads.push(own);
            }
        }
        // A wide access is one load.
        // The dynamic loader's stores to tables of addresses tell a program nothing.
        let is_own = |(load, store): &&(Last, Last)| load.pc != 0 && store.pc != 0;
        for (load, store) in races
            .iter()
            .filter(is_own)
            .take(if access.writes { usize::MAX } else { 1 })
        {
            if self.found.loads == 0 {
                (self.found.load, self.found.store) = (load.pc, store.pc);
            }
            self.found.loads += 1;
        }
    }
}

/// What is assumed of the recorded order.
///
/// # Errors
/// The recording cannot be read.
pub fn assumed(recording: &Recording) -> Result<Assumed, RecordError> {
    let threads = recording.threads().len();
    let mut races = Races::new(threads);
    if threads > 1 {
        let places = Arc::new(Places::of(recording.regions()));
        let recording = Arc::new(recording.clone());
        for entry in Interleaved::with(&recording, &places, Detail::Synchronisation)?.entries() {
            match entry? {
                Entry::Access(access) if !access.has_turn => races.access(&access),
                Entry::Sync(sync) => races.sync(&sync),
                Entry::Access(_) | Entry::Op(_) => {}
            }
        }
    }
    Ok(races.found)
}

#[cfg(test)]
#[path = "assumed_tests.rs"]
mod tests;
