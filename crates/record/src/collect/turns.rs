//! The order in which threads accessed synchronisation words.
//!
//! Atomic instructions have tickets. A plain store to a word of atomic instructions (a lock release by `mov`) lies
//! between two tickets of its thread. The values that other threads' atomic instructions read narrow its position.
//!
//! Every access has a time: an atomic instruction its ticket, a store a position just before a ticket. Times grow along
//! each thread and each word, so turns cannot deadlock.

use super::packets::Wrong;
use super::threads::Shared;
use crate::format::TurnAt;
use crate::recording::Turn;
use std::collections::HashSet;

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

    fn add(&mut self, word: u64) {
        if !self.contains(word) {
            let (place, bit) = Words::hash(word);
            self.hint[place] |= bit;
            self.words.insert(word);
        }
    }
}

/// An access to a word.
#[derive(Clone, Copy, Debug)]
struct At {
    step: u64,
    access: u16,
    store: bool,
    word: u64,
    /// The first ticket that may follow it, given many threads, and the thread's next ticket; for an atomic instruction
    /// both are its own.
    after: u64,
    until: u64,
    /// For an atomic instruction: the value that it read.
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
    /// The list index of the first access after it.
    from: usize,
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
        self.last = ticket;
        self.first = ticket + 1;
        Ok(())
    }

    /// The previous step accessed the word of a thread that ended with this ticket.
    pub fn accessed_ended(&mut self, step: u64, address: u64, ended: u64) {
        let known = |join: &Join| join.address == address && join.ended == ended;
        if !self.joins.iter().chain(&self.open_joins).any(known) {
            let from = self.list.len();
            self.open_joins.push(Join {
                step,
                address,
                ended,
                from,
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
        if ticket < self.first {
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
                store: false,
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
        let (step, access, word) = (self.step, index as u16, Turn::word(address));
        let (after, until, old) = (self.first, u64::MAX, Part::default());
        self.list.push(At {
            step,
            access,
            store: true,
            word,
            after,
            until,
            old,
            new,
        });
    }
}

/// An access to a shared word, with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Time {
    word: u64,
    /// The ticket, or the ticket just after it.
    ticket: u64,
    /// Stores precede the atomic instruction of the ticket.
    atomic: bool,
    thread: u32,
    index: u32,
}

/// Assigns each access its turn, for each thread in the order of steps and accesses.
pub(super) fn place(threads: Vec<Turns>) -> Vec<Vec<TurnAt>> {
    let atomics = shared_words(&threads);
    let mut times = Vec::new();
    for (thread, turns) in threads.iter().enumerate() {
        times_of(thread as u32, turns, &threads, &atomics, &mut times);
    }
    times.sort_unstable();
    let mut placed: Vec<Vec<TurnAt>> = vec![Vec::new(); threads.len()];
    let (mut word, mut before) = (None, 0u32);
    for time in times {
        before = if word == Some(time.word) {
            before.saturating_add(1)
        } else {
            0
        };
        word = Some(time.word);
        let At { step, access, .. } = threads[time.thread as usize].list[time.index as usize];
        placed[time.thread as usize].push(TurnAt {
            step,
            turn: Turn { access, before },
        });
    }
    for turns in &mut placed {
        turns.sort_unstable_by_key(|at| (at.step, at.turn.access));
    }
    placed
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
                atomic: !at.store,
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
        let ticket = match at.store {
            false => at.until,
            true => {
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
                atomic: !at.store,
                thread,
                index: index as u32,
            });
        }
    }
}
