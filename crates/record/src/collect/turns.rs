//! The order in which threads accessed synchronisation words.
//!
//! Atomic instructions have tickets. A plain store to a word of atomic instructions (a lock release by `mov`) lies
//! between two tickets of its thread. The values that other threads' atomic instructions read narrow its position.
//!
//! A load has a ticket if threads may wait by it.
//!
//! Every access has a time: an atomic instruction or a load its ticket, a store a position just before a ticket. Times grow along
//! each thread and each word, so turns cannot deadlock.

use super::links::Place;
use super::packets::Wrong;
use super::threads::Shared;
use crate::format::TurnAt;
use crate::recording::Turn;
use std::collections::{HashMap, HashSet};

/// Some bytes of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Ones where there are bytes.
    mask: u64,
    bytes: u64,
}

/// The bytes of an access of this size that lie in the word of its address; `value` is its first eight bytes.
pub(super) fn part(address: u64, size: u16, value: u64) -> Part {
    let bits = |size: u16| if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 };
    let shift = 8 * (address & 7);
    let mask = bits(size) << shift;
    Part {
        mask,
        bytes: value << shift & mask,
    }
}

impl Part {
    /// Whether the common bytes are equal, and there are any.
    fn agrees(self, other: Part) -> bool {
        let both = self.mask & other.mask;
        both != 0 && (self.bytes ^ other.bytes) & both == 0
    }

    /// Whether the found bytes show another write than the known ones.
    fn news(self, found: Part) -> bool {
        let both = self.mask & found.mask;
        both == 0 || (self.bytes ^ found.bytes) & both != 0
    }

    /// These bytes, overwritten by others.
    fn then(self, written: Part) -> Part {
        Part {
            mask: self.mask | written.mask,
            bytes: self.bytes & !written.mask | written.bytes,
        }
    }
}

/// A thread's last plain stores and watched loads of words that nobody is known to wait for. Threads write their traces when
/// they like, so that a wait may come behind the store that ended it.
#[derive(Debug, Default)]
struct Recent {
    /// A ring.
    accesses: Vec<At>,
    /// How many there were, of which those from `open` on lack the ticket after them.
    count: usize,
    open: usize,
    /// How many awaited words were looked for.
    searched: usize,
    /// Those of awaited words.
    late: Vec<At>,
}

/// The most of them: the stores of some buffers.
const MOST_RECENT: usize = 1 << 16;

/// The most words of which a thread remembers what it found.
const MOST_FOUND: usize = 1 << 12;

/// The most words to look for: each takes a look at all of them.
const MOST_SEARCHES: usize = 1 << 12;

impl Recent {
    fn add(&mut self, at: At) {
        match self.accesses.get_mut(self.count % MOST_RECENT) {
            Some(oldest) => *oldest = at,
            None => self.accesses.push(at),
        }
        self.count += 1;
    }

    /// Changes the accesses from this one on.
    fn change(&mut self, from: usize, change: impl Fn(&mut At)) {
        for number in from.max(self.count.saturating_sub(MOST_RECENT))..self.count {
            change(&mut self.accesses[number % MOST_RECENT]);
        }
    }

    /// The thread took a ticket.
    fn ticket(&mut self, ticket: u64) {
        self.change(self.open, |at| at.until = ticket.max(at.after));
        self.open = self.count;
    }
}

/// A set of words, fast for few words.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// A Bloom filter: a bit for each of some thousand hashes.
    hint: Vec<u64>,
    words: HashSet<u64>,
}

impl Default for Words {
    fn default() -> Words {
        Words {
            hint: vec![0; 1 << 10],
            words: HashSet::new(),
        }
    }
}

impl Words {
    #[inline]
    fn hash(word: u64) -> (usize, u64) {
        let hash = (word >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        (hash as usize >> 6, 1 << (hash & 63))
    }

    /// Whether it is there.
    #[inline]
    pub fn contains(&self, word: u64) -> bool {
        let (place, bit) = Words::hash(word);
        self.hint[place] & bit != 0 && self.words.contains(&word)
    }

    /// Adds it; `false` if it was there.
    pub fn add(&mut self, word: u64) -> bool {
        if self.contains(word) {
            return false;
        }
        let (place, bit) = Words::hash(word);
        self.hint[place] |= bit;
        self.words.insert(word)
    }
}

/// What accesses a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtKind {
    /// An atomic instruction.
    Atomic,
    /// A plain store.
    Store,
    /// A load by which a thread may wait.
    Load,
}

/// An access to a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    step: u64,
    access: u16,
    kind: AtKind,
    word: u64,
    /// The first ticket that may follow it, given many threads, and the thread's next ticket; for an atomic instruction
    /// and a load both are its own.
    after: u64,
    until: u64,
    /// For an atomic instruction and a load: the value that it read.
    old: Part,
    new: Part,
}

/// A thread accessed the word that the kernel cleared at another thread's end. It may have seen the end instead of
/// waiting for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Join {
    /// The step after the access.
    pub step: u64,
    /// The word.
    pub address: u64,
    /// The other's last ticket.
    pub ended: u64,
    /// The first access after it, in the list and among the recent ones.
    from: usize,
    recent: usize,
}

/// A thread's accesses to synchronisation words.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Possible joins. They are none if the other thread ended after this thread's next ticket.
    open_joins: Vec<Join>,
    /// Threads that surely had ended.
    pub joins: Vec<Join>,
    /// The step that is read.
    pub step: u64,
    last: u64,
    /// The minimum ticket of the next atomic instruction.
    first: u64,
    list: Vec<At>,
    recent: Recent,
    /// What watched loads last found in some words, or the thread stored there since.
    found: HashMap<u64, Part>,
    /// From this index on, stores lack the ticket after them.
    open: usize,
}

impl Turns {
    /// The thread took a ticket.
    pub fn ticket(&mut self, ticket: u64) -> Result<(), Wrong> {
        if ticket < self.last || ticket >> 63 != 0 {
            return Err(format!("ticket {ticket} comes after ticket {}", self.last).into());
        }
        self.join_before(ticket);
        for at in &mut self.list[self.open..] {
            at.until = ticket.max(at.after);
        }
        self.open = self.list.len();
        self.recent.ticket(ticket);
        self.last = ticket;
        self.first = ticket + 1;
        Ok(())
    }

    /// The previous step accessed the word of a thread that ended with this ticket.
    pub fn accessed_ended(&mut self, step: u64, address: u64, ended: u64) {
        let known = |join: &Join| join.address == address && join.ended == ended;
        if !self.joins.iter().chain(&self.open_joins).any(known) {
            let (from, recent) = (self.list.len(), self.recent.count);
            self.open_joins.push(Join {
                step,
                address,
                ended,
                from,
                recent,
            });
        }
    }

    /// Sets the thread's next ticket. Stores between a join and this ticket follow the other thread's end; otherwise
    /// replay would deadlock.
    pub fn join_before(&mut self, ticket: u64) {
        for join in std::mem::take(&mut self.open_joins) {
            if join.ended < ticket {
                for at in &mut self.list[join.from.max(self.open)..] {
                    at.after = at.after.max(join.ended + 1);
                }
                let open = join.recent.max(self.recent.open);
                self.recent.change(open, |at| at.after = at.after.max(join.ended + 1));
                self.joins.push(join);
            }
        }
    }

    /// An atomic instruction.
    pub fn atomic(
        &mut self,
        index: usize,
        address: u64,
        old: Part,
        new: Part,
        ticket: u64,
        shared: &mut Shared,
    ) -> Result<(), Wrong> {
        // Laps of a loop may have one in common, if they change nothing.
        let is_repeated = ticket == self.last && old == new;
        if ticket < self.first && !is_repeated {
            return Err(format!("ticket {ticket} comes after ticket {}", self.last).into());
        }
        self.ticket(ticket)?;
        let word = Turn::word(address);
        shared.atomics.add(word);
        if shared.several {
            let (step, access) = (self.step, index as u16);
            self.list.push(At {
                step,
                access,
                kind: AtKind::Atomic,
                word,
                after: ticket,
                until: ticket,
                old,
                new,
            });
            self.open = self.list.len();
        }
        Ok(())
    }

    /// A plain store to a word of atomic instructions.
    pub fn store(&mut self, index: usize, address: u64, new: Part) {
        let at = self.store_at(index, address, new);
        self.list.push(at);
    }

    /// A plain store to a word that nobody is known to wait for.
    pub fn store_elsewhere(&mut self, index: usize, address: u64, new: Part) {
        let at = self.store_at(index, address, new);
        self.recent.add(at);
        if let Some(found) = self.found.get_mut(&at.word) {
            *found = found.then(new);
        }
    }

    /// Whether a watched load finds something else in a word than this thread knows to be there.
    pub fn is_news(&mut self, address: u64, found: Part) -> bool {
        if self.found.len() >= MOST_FOUND {
            self.found.clear();
        }
        let known = self.found.insert(Turn::word(address), found);
        known.is_some_and(|known| known.mask & found.mask != 0 && known.news(found))
    }

    fn store_at(&self, index: usize, address: u64, new: Part) -> At {
        At {
            step: self.step,
            access: index as u16,
            kind: AtKind::Store,
            word: Turn::word(address),
            after: self.first,
            until: u64::MAX,
            old: Part::default(),
            new,
        }
    }

    /// A load by which a thread may wait; it has just taken a ticket.
    pub fn load(&mut self, index: usize, address: u64, found: Part, is_awaited: bool) {
        let at = At {
            step: self.step,
            access: index as u16,
            kind: AtKind::Load,
            word: Turn::word(address),
            after: self.last,
            until: self.last,
            old: found,
            new: found,
        };
        match is_awaited {
            true => {
                self.list.push(at);
                self.open = self.list.len();
            }
            false => {
                self.recent.add(at);
                self.recent.open = self.recent.count;
            }
        }
    }

    /// Looks for what the thread has done with words that have since been found to be awaited.
    pub fn search(&mut self, awaited: &[u64]) {
        let recent = &mut self.recent;
        let fresh = awaited.get(recent.searched..awaited.len().min(MOST_SEARCHES));
        for word in fresh.unwrap_or_default() {
            let found = recent.accesses.iter().filter(|at| at.word == *word);
            recent.late.extend(found);
        }
        recent.searched = awaited.len();
    }

    /// Adds what was found.
    pub fn insert_late(&mut self) {
        if !self.recent.late.is_empty() {
            self.list.append(&mut self.recent.late);
            self.list.sort_by_key(|at| (at.step, at.access));
        }
    }
}

/// An access to a shared word, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Time {
    word: u64,
    /// The ticket, or the ticket just after it.
    ticket: u64,
    /// Stores precede the atomic instruction or the load of the ticket.
    atomic: bool,
    thread: u32,
    index: u32,
}

/// An access that has a turn, and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub ticket: u64,
    /// It is just before the ticket otherwise.
    pub at_ticket: bool,
    pub thread: u32,
    pub place: Place,
    pub word: u64,
    pub writes: bool,
}

/// Assigns each access its turn, for each thread in the order of steps and accesses. Returns their times, too.
pub(super) fn place(threads: &[Turns]) -> (Vec<Vec<TurnAt>>, Vec<Timed>) {
    let atomics = shared_words(threads);
    let mut times = Vec::new();
    for (thread, turns) in threads.iter().enumerate() {
        times_of(thread as u32, turns, threads, &atomics, &mut times);
    }
    times.sort_unstable();
    let mut placed: Vec<Vec<TurnAt>> = vec![Vec::new(); threads.len()];
    let mut timed = Vec::with_capacity(times.len());
    let (mut word, mut before) = (None, 0u32);
    for time in times {
        if word.replace(time.word) != Some(time.word) {
            before = 0;
        }
        let At { step, access, kind, .. } = threads[time.thread as usize].list[time.index as usize];
        placed[time.thread as usize].push(TurnAt {
            step,
            turn: Turn { access, before },
        });
        before = before.saturating_add(u32::from(kind != AtKind::Load));
        timed.push(Timed {
            ticket: time.ticket,
            at_ticket: time.atomic,
            thread: time.thread,
            place: Place { step, access },
            word: time.word,
            writes: kind != AtKind::Load,
        });
    }
    for turns in &mut placed {
        turns.sort_unstable_by_key(|at| (at.step, at.turn.access));
    }
    (placed, timed)
}

/// The atomic instructions on words that several threads access, sorted by word and ticket; each by its thread and
/// index.
fn shared_words(threads: &[Turns]) -> Vec<Time> {
    let mut all = Vec::new();
    for (thread, turns) in threads.iter().enumerate() {
        for (index, at) in turns.list.iter().enumerate() {
            let (thread, index) = (thread as u32, index as u32);
            all.push(Time {
                word: at.word,
                ticket: at.until,
                atomic: at.kind != AtKind::Store,
                thread,
                index,
            });
        }
    }
    all.sort_unstable();
    let several = |group: &&[Time]| group.iter().any(|time| time.thread != group[0].thread);
    let groups = all.chunk_by(|a, b| a.word == b.word).filter(several);
    groups.flatten().filter(|time| time.atomic).copied().collect()
}

/// The atomic instructions of a word with tickets from `after` to below `until`, and the previous one.
fn between(atomics: &[Time], word: u64, after: u64, until: u64) -> (&[Time], Option<&Time>) {
    let from = atomics.partition_point(|time| (time.word, time.ticket) < (word, after));
    let to = atomics.partition_point(|time| (time.word, time.ticket) < (word, until));
    let before = from
        .checked_sub(1)
        .map(|before| &atomics[before])
        .filter(|time| time.word == word);
    (&atomics[from..to.max(from)], before)
}

/// Adds the times of a thread's accesses to shared words. It goes backwards, because a store must precede its thread's
/// later accesses.
fn times_of(thread: u32, turns: &Turns, threads: &[Turns], atomics: &[Time], times: &mut Vec<Time>) {
    let found = |time: &Time| &threads[time.thread as usize].list[time.index as usize];
    let mut bound = u64::MAX;
    for (index, at) in turns.list.iter().enumerate().rev() {
        let known = atomics.partition_point(|time| time.word < at.word);
        let ticket = match at.kind {
            AtKind::Atomic | AtKind::Load => at.until,
            AtKind::Store => {
                bound = bound.min(at.until);
                let (between, before) = between(atomics, at.word, at.after, bound);
                let mut left = before.map_or(Part::default(), |time| found(time).new);
                let mut shown = None;
                for time in between {
                    let old = found(time).old;
                    if left.news(old) && old.agrees(at.new) {
                        shown = Some(time.ticket);
                        break;
                    }
                    left = left.then(found(time).new);
                }
                shown.unwrap_or(bound)
            }
        };
        bound = ticket;
        // Words of a single thread are not among the atomic instructions.
        if atomics.get(known).is_some_and(|time| time.word == at.word) {
            times.push(Time {
                word: at.word,
                ticket,
                atomic: at.kind != AtKind::Store,
                thread,
                index: index as u32,
            });
        }
    }
}
