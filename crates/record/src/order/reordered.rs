//! Another order of a recording's operations, which its synchronisation allows.
//!
//! It keeps each thread's program order, and the order of any two conflicting accesses ([`super::Access`]). So each
//! load reads the same store as in the given order, and each thread behaves as recorded. A flush or a fence has no
//! conflict, so another thread may go on before it.
//!
//! Threads have priorities. The first thread that need not wait executes, so the last one executes only if all others
//! wait for it: each of its flushes is as late as it can be. At most [`WINDOW`] entries are looked ahead.

use super::entry::{Access, Entry};
use super::op::{Fence, What};
use crate::RecordError;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use strandline_kernel::{NumberHasher, Rng};

/// Maximum number of entries that wait for others.
pub const WINDOW: usize = 1 << 18;

/// An entry by its thread and its number in the thread.
type At = (u32, u64);

/// The last accesses to a word.
#[derive(Debug, Default)]
struct Word {
    writer: Option<At>,
    /// The last reader of each thread since the writer.
    readers: Vec<At>,
}

/// An entry, and the ones before which it may not execute.
#[derive(Debug)]
struct Queued {
    entry: Entry,
    waits: Vec<At>,
}

/// The entries of a thread that were looked ahead.
#[derive(Debug, Default)]
struct Queue {
    entries: VecDeque<Queued>,
    /// Number of executed entries.
    done: u64,
}

/// Which thread executes.
#[derive(Debug)]
struct Priorities {
    /// Threads, the first one first.
    threads: Vec<u32>,
    /// Some flushes and fences make their thread the last one.
    rng: Option<Rng>,
    /// The entry of each thread that was drawn for.
    drawn: Vec<Option<u64>>,
}

/// Another order of these entries.
pub struct Reordered<E> {
    base: E,
    priorities: Priorities,
    queues: Vec<Queue>,
    words: HashMap<u64, Word, BuildHasherDefault<NumberHasher>>,
    held: usize,
    window: usize,
    /// The thread that executed last.
    current: u32,
    /// The base has ended, perhaps by an error.
    end: Option<Option<RecordError>>,
}

impl Priorities {
    /// The first orders have each thread as the last one once; the others draw it at flushes and fences.
    fn new(number: u32, threads: u32) -> Priorities {
        let last = number.saturating_sub(1) % threads.max(1);
        Priorities {
            threads: (1..=threads).map(|ahead| (last + ahead) % threads).collect(),
            rng: (number > threads).then(|| Rng::new(u64::from(number))),
            drawn: vec![None; threads as usize],
        }
    }

    /// Whether another thread may go before the entry of this number in its thread: drawn once for each flush and fence.
    fn yields(&mut self, entry: &Entry, number: u64) -> bool {
        let Some(rng) = &mut self.rng else { return false };
        let thread = entry.thread();
        let drawn = &mut self.drawn[thread as usize];
        let is_point = matches!(entry, Entry::Op(op) if matches!(op.what, What::Flush(..) | What::Fence(Fence::Sfence | Fence::Mfence)));
        if !is_point || *drawn == Some(number) {
            return false;
        }
        *drawn = Some(number);
        let yields = rng.one_in(2);
        if yields {
            self.threads.retain(|other| *other != thread);
            self.threads.push(thread);
        }
        yields
    }
}

impl<E: Iterator<Item = Result<Entry, RecordError>>> Reordered<E> {
    /// The order of this number, from 1 on, of a recording of `threads`.
    pub fn new(base: E, number: u32, threads: usize) -> Reordered<E> {
        Reordered::within(base, number, threads, WINDOW)
    }

    /// With another window.
    pub(super) fn within(base: E, number: u32, threads: usize, window: usize) -> Reordered<E> {
        Reordered {
            base,
            priorities: Priorities::new(number, threads as u32),
            queues: (0..threads).map(|_| Queue::default()).collect(),
            words: HashMap::default(),
            held: 0,
            window,
            current: 0,
            end: None,
        }
    }

    fn fill(&mut self) {
        while self.end.is_none() && self.held < self.window {
            match self.base.next() {
                Some(Ok(entry)) => self.queue(entry),
                Some(Err(error)) => self.end = Some(Some(error)),
                None => self.end = Some(None),
            }
        }
    }

    fn queue(&mut self, entry: Entry) {
        let queue = &self.queues[entry.thread() as usize];
        let number = queue.done + queue.entries.len() as u64;
        let waits = match &entry {
            Entry::Access(access) => self.follow(access, number),
            Entry::Op(_) | Entry::Sync(_) => Vec::new(),
        };
        let queue = &mut self.queues[entry.thread() as usize];
        queue.entries.push_back(Queued { entry, waits });
        self.held += 1;
    }

    /// The entries that an access must follow.
    fn follow(&mut self, access: &Access, number: u64) -> Vec<At> {
        if self.words.len() > 4 * self.window {
            self.forget();
        }
        let mut waits = Vec::new();
        let queues = &self.queues;
        let mut wait = |at: &At| {
            if at.0 != access.thread && queues[at.0 as usize].done <= at.1 {
                waits.push(*at);
            }
        };
        for word in access.first..=access.last {
            let word = self.words.entry(word).or_default();
            word.writer.iter().for_each(&mut wait);
            let own = (access.thread, number);
            if access.writes {
                word.readers.iter().for_each(&mut wait);
                word.readers.clear();
                word.writer = Some(own);
            } else {
                word.readers.retain(|reader| reader.0 != access.thread);
                word.readers.push(own);
            }
        }
        waits
    }

    /// Drops words whose accesses have all executed.
    fn forget(&mut self) {
        let queues = &self.queues;
        let waits = |at: &At| queues[at.0 as usize].done <= at.1;
        self.words
            .retain(|_, word| word.writer.iter().chain(&word.readers).any(waits));
    }

    fn is_ready(&self, thread: u32) -> bool {
        let done = |at: &At| self.queues[at.0 as usize].done > at.1;
        let first = self.queues[thread as usize].entries.front();
        first.is_some_and(|queued| queued.waits.iter().all(done))
    }

    /// Whether a thread's next operation belongs to the access that it has just executed. Nothing may come in between.
    fn is_within(&self, thread: u32) -> bool {
        let first = self.queues.get(thread as usize).and_then(|queue| queue.entries.front());
        let Some(Entry::Op(op)) = first.map(|queued| queued.entry) else {
            return false;
        };
        match op.what {
            What::Load { .. } | What::Store(_) | What::StoreNt(_) | What::Unknown | What::Fence(Fence::Locked) => true,
            What::Flush(..) | What::Fence(_) | What::Sync { .. } | What::Marker(_) | What::Exit => false,
        }
    }

    /// The thread that executes: the earliest entry of the base waits for none, so there is one.
    fn pick(&mut self) -> Option<u32> {
        if self.is_within(self.current) {
            return Some(self.current);
        }
        loop {
            let thread = *self.priorities.threads.iter().find(|thread| self.is_ready(**thread))?;
            let queue = &self.queues[thread as usize];
            let entry = queue.entries.front()?.entry;
            if !self.priorities.yields(&entry, queue.done) {
                return Some(thread);
            }
        }
    }
}

impl<E: Iterator<Item = Result<Entry, RecordError>>> Iterator for Reordered<E> {
    type Item = Result<Entry, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.fill();
        let Some(thread) = self.pick() else {
            return self.end.as_mut()?.take().map(Err);
        };
        let queue = &mut self.queues[thread as usize];
        let queued = queue.entries.pop_front()?;
        queue.done += 1;
        self.current = thread;
        self.held -= 1;
        Some(Ok(queued.entry))
    }
}

impl<E> std::fmt::Debug for Reordered<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reordered")
            .field("priorities", &self.priorities)
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "reordered_tests.rs"]
mod tests;
