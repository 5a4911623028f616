//! Loads whose place among the stores of other threads is assumed: nothing recorded orders the two.
//!
//! Each thread has a clock: how far it knows each other thread to have come, by turns, links and signals. If a load and another
//! thread's store to one of its words know nothing of each other, the order that is explored is one of several.

use crate::order::{Access, Clocks, Detail, Entry, Interleaved, Numbers, Places};
use crate::{RecordError, Recording};
use std::sync::Arc;

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

/// Sees a recording's order.
#[derive(Debug)]
struct Races {
    clocks: Clocks,
    words: Numbers<Word>,
    found: Assumed,
}

impl Races {
    fn new(threads: usize) -> Races {
        Races {
            clocks: Clocks::new(threads),
            words: Numbers::default(),
            found: Assumed::default(),
        }
    }

    fn access(&mut self, access: &Access) {
        let clock = self.clocks.of(access.thread);
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
                Entry::Sync(sync) => races.clocks.sync(&sync),
                Entry::Access(_) | Entry::Op(_) => {}
            }
        }
    }
    Ok(races.found)
}

#[cfg(test)]
#[path = "assumed_tests.rs"]
mod tests;
