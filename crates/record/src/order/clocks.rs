//! How far threads know each other to have come.

use super::entry::{Sync, SyncKind};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::rc::Rc;
use strandline_kernel::NumberHasher;

/// A map by number.
pub(crate) type Numbers<T> = HashMap<u64, T, BuildHasherDefault<NumberHasher>>;

/// How far a thread knows threads to have come: for each the number of its releases so far.
pub(crate) type Clock = Vec<u64>;

/// The clocks of all threads.
#[derive(Debug)]
pub(crate) struct Clocks {
    of: Vec<Clock>,
    /// Of each signal, what who waited for it this often knows.
    signals: HashMap<u32, Vec<Rc<Clock>>>,
    /// Of each word with turns, what who comes behind its last store knows.
    turns: Numbers<Rc<Clock>>,
}

fn join(into: &mut Clock, other: &Clock) {
    for (own, other) in into.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

impl Clocks {
    /// Of threads that know nothing of each other.
    pub fn new(threads: usize) -> Clocks {
        let own = |thread| (0..threads).map(|other| u64::from(other == thread)).collect();
        Clocks {
            of: (0..threads).map(own).collect(),
            signals: HashMap::new(),
            turns: Numbers::default(),
        }
    }

    /// What a thread knows.
    pub fn of(&self, thread: u32) -> &Clock {
        &self.of[thread as usize]
    }

    /// A thread's present.
    pub fn now(&self, thread: u32) -> u64 {
        self.of(thread)[thread as usize]
    }

    /// What a thread knows, for others; what it does next is later.
    pub fn release(&mut self, thread: u32) -> Rc<Clock> {
        let clock = &mut self.of[thread as usize];
        let known = Rc::new(clock.clone());
        clock[thread as usize] += 1;
        known
    }

    /// A thread learns this.
    pub fn acquire(&mut self, thread: u32, known: &Clock) {
        join(&mut self.of[thread as usize], known);
    }

    /// A thread tells others how far it has come, or learns it.
    pub fn sync(&mut self, sync: &Sync) {
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
                let given = self.signals.get(&number);
                let known = given.and_then(|given| given.get(times.wrapping_sub(1) as usize));
                if let Some(known) = known.map(Rc::clone) {
                    self.acquire(sync.thread, &known);
                }
            }
            SyncKind::Turn { word, writes } => {
                if let Some(known) = self.turns.get(&word).map(Rc::clone) {
                    self.acquire(sync.thread, &known);
                }
                if writes {
                    let known = self.release(sync.thread);
                    self.turns.insert(word, known);
                }
            }
        }
    }
}
