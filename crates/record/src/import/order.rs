//! In which order threads got to the words that they synchronise by, as far as the trace's timestamps tell.
//!
//! A trace holds no order of the atomics of several threads. It has timestamps: between two of them a thread's instructions are
//! taken to be evenly spread. All accesses with a turn are put in the order of these times; ties go by thread and program order.
//! So the order agrees with every thread's own, and no two threads wait for each other.

use crate::collect::locks::Held;
use crate::recording::Turn;
use crate::{TurnAt, WaitAt};
use std::collections::{HashMap, HashSet, VecDeque};
use strandline_capture::AccessKind;

/// An access to a word that threads may synchronise by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Touch {
    word: u64,
    step: u64,
    access: u16,
    /// How many instructions its thread had executed.
    at: u64,
}

/// The same, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    time: u64,
    thread: u32,
    step: u64,
    access: u16,
    word: u64,
}

/// A thread was perhaps started here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    time: u64,
    thread: u32,
    taken: bool,
}

/// What all threads did to words that they may synchronise by.
#[derive(Debug, Default)]
pub struct Order {
    placed: Vec<Placed>,
    starts: Vec<Start>,
    /// A thread had no timestamps.
    pub untimed: bool,
}

/// Whether an access to a word acquires or releases something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// Neither: no other thread is told anything.
    No,
    /// It is among those whose order counts.
    Ordered,
    /// It is, and what was held is released.
    Releases,
}

/// A thread's part of it.
#[derive(Debug, Default)]
pub struct Clock {
    /// The last timestamp, and how many instructions were executed by then.
    last: Option<(u64, u64)>,
    /// Timestamps inside of code that was not accounted for yet.
    marks: VecDeque<(u64, u64)>,
    pending: VecDeque<Touch>,
    /// Words that the thread accessed by locked instructions.
    words: HashSet<u64>,
    /// Those of them that are taken for locks that it holds.
    held: Held,
    /// One bit for many words: whether one of them is in `words`.
    filter: Vec<u64>,
}

/// Words of [`Clock::filter`].
const FILTER: usize = 64;

impl Clock {
    /// What an access is to others. The first atomic of a word is taken for an acquisition, the thread's next store or atomic there
    /// for the release, and so on.
    pub fn sync(&mut self, kind: AccessKind, address: u64) -> Sync {
        let word = Turn::word(address);
        let bit = (word >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        let (slot, bit) = (bit as usize / 64, 1 << (bit % 64));
        if kind == AccessKind::Atomic {
            self.filter.resize(FILTER, 0);
            self.filter[slot] |= bit;
            self.words.insert(word);
            return match self.held.changed(word) {
                true => Sync::Releases,
                false => Sync::Ordered,
            };
        }
        if !kind.writes() || self.filter.get(slot).is_none_or(|bits| bits & bit == 0) {
            return Sync::No;
        }
        match self.words.contains(&word) {
            true if self.held.stored(word) => Sync::Releases,
            true => Sync::Ordered,
            false => Sync::No,
        }
    }

    /// Notes an access whose order counts, made when so many instructions had been executed.
    pub fn touch(&mut self, address: u64, step: u64, access: usize, at: u64) {
        self.pending.push_back(Touch {
            word: Turn::word(address),
            step,
            access: access as u16,
            at,
        });
    }

    /// A timestamp, when so many instructions had been executed. Parts of a trace repeat the last one, which says nothing new.
    pub fn time(&mut self, time: u64, now: u64) {
        let newest = self.marks.back().copied().or(self.last);
        if newest.is_none_or(|(newest, _)| newest < time) {
            self.marks.push_back((time, now));
        }
    }

    /// All accesses of so many instructions were noted.
    pub fn settle(&mut self, thread: u32, executed: u64, order: &mut Order) {
        while let Some(mark) = self.marks.front().copied().filter(|(_, now)| *now <= executed) {
            self.marks.pop_front();
            self.place(thread, mark, order);
            self.last = Some(mark);
        }
    }

    /// Places what was accessed before a timestamp.
    fn place(&mut self, thread: u32, (to, now): (u64, u64), order: &mut Order) {
        let (from, since) = self.last.unwrap_or((to, 0));
        while let Some(touch) = self.pending.front().copied().filter(|touch| touch.at < now) {
            self.pending.pop_front();
            let done = u128::from(touch.at.saturating_sub(since)) * u128::from(to - from);
            let instructions = u128::from((now - since).max(1));
            order.placed.push(Placed {
                time: from + (done / instructions) as u64,
                thread,
                step: touch.step,
                access: touch.access,
                word: touch.word,
            });
        }
    }

    /// A system call that may start a thread; the signal of this number is given.
    pub fn starts(&self, thread: u32, order: &mut Order) -> u32 {
        let time = self.marks.back().copied().or(self.last).map_or(0, |(time, _)| time);
        order.starts.push(Start {
            time,
            thread,
            taken: false,
        });
        order.starts.len() as u32 - 1
    }

    /// The thread has ended.
    pub fn finish(mut self, thread: u32, order: &mut Order) {
        self.settle(thread, u64::MAX, order);
        match self.last {
            Some((last, _)) => self.place(thread, (last, u64::MAX), order),
            None => order.untimed = true,
        }
    }
}

impl Order {
    /// The turns of each thread. Words that one thread alone accessed need none.
    pub fn turns(&mut self, threads: usize) -> Vec<Vec<TurnAt>> {
        let mut turns = vec![Vec::new(); threads];
        if self.untimed {
            return turns;
        }
        let mut first: HashMap<u64, u32> = HashMap::new();
        let mut shared: HashSet<u64> = HashSet::new();
        for placed in &self.placed {
            if *first.entry(placed.word).or_insert(placed.thread) != placed.thread {
                shared.insert(placed.word);
            }
        }
        self.placed.retain(|placed| shared.contains(&placed.word));
        self.placed.sort_unstable();
        let mut writes: HashMap<u64, u32> = HashMap::new();
        for placed in &self.placed {
            let before = writes.entry(placed.word).or_insert(0);
            let turn = Turn {
                access: placed.access,
                before: *before,
            };
            *before = before.saturating_add(1);
            let step = placed.step;
            turns[placed.thread as usize].push(TurnAt { step, turn });
        }
        turns
    }

    /// What each thread waits for before it begins: the last system call of an earlier thread that may have started it. `began`
    /// are the first timestamps, in order.
    pub fn waits(&mut self, began: &[Option<u64>]) -> Vec<Vec<WaitAt>> {
        let mut waits = vec![Vec::new(); began.len()];
        for (thread, began) in began.iter().enumerate() {
            let Some(began) = *began else { continue };
            let may = |start: &Start| !start.taken && start.time <= began && (start.thread as usize) < thread;
            let starts = self.starts.iter_mut().enumerate().filter(|(_, start)| may(start));
            if let Some((number, start)) = starts.max_by_key(|(_, start)| start.time) {
                start.taken = true;
                waits[thread].push(WaitAt {
                    step: 0,
                    number: number as u32,
                    times: 1,
                });
            }
        }
        waits
    }
}
