//! Words that hold locks, told from data by the values that they take.
//!
//! A lock's word returns to the value with which it is free, takes few others, and is never flushed for its own sake. A
//! word that ends with another value, takes many, or points into persistent memory holds data: a stack's head, an
//! allocator's end. Where values do not decide, the audit accuses nothing and gives the reason.

use super::pending::Pending;
use super::process::Process;
use crate::order::{Fence, PmOp, PmPlace, What, LINE};
use crate::{At, Marker};
use std::collections::{BTreeSet, HashMap, HashSet};

/// More values than this are many.
const MOST_VALUES: usize = 8;

/// Maximum number of remembered instructions of a cell, and of cells of a line.
const MOST_CODE: usize = 8;
const MOST_CELLS: usize = 16;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A lock.
    Lock,
    /// A lock or data, and why that is open.
    Unclear(&'static str),
    /// Data, and why it is no lock; empty if nothing suggests one.
    Data(&'static str),
}

const ELSEWHERE: &str = "locked instructions or transactions store to it, but it is flushed elsewhere";
pub const ENDS: &str = "locked instructions or transactions store to it, but it ends with another value";
const MANY: &str = "locked instructions or transactions store to it, but it takes many values";
const POINTS: &str = "locked instructions or transactions store to it, but it points into persistent memory";
const POINTED: &str = "returns to its first value, but points into persistent memory: a queue of waiters, or a list?";
const COUNTED: &str = "returns to its first value, which is not 0: a count of references, or a lock?";
pub const HELD: &str = "changes between two values, and ends with the second: a lock that is held, or data?";
const TICKETS: &str = "two counters that end equal: the tickets of a lock, or a queue's ends?";
const WAITER: &str = "never flushed, where a lock's word may point: a waiter, or data?";

/// The bytes of a word that stores change together.
#[derive(Clone, Debug)]
struct Cell {
    word: PmPlace,
    mask: u8,
    /// What it held before the first store that is seen, and holds now.
    free: u64,
    now: u64,
    /// The others that it took, at most one more than [`MOST_VALUES`].
    values: Vec<u64>,
    /// It was `free` again.
    returned: bool,
    /// It has only been counted up and down, or up, by 1.
    counts: bool,
    rises: bool,
    /// A locked instruction has stored to it.
    locked: bool,
    /// It was flushed behind a store to it, before any other store of the thread.
    flushed: bool,
    /// Instructions that stored to it.
    code: Vec<u64>,
}

/// The words of locks, and those beside them.
#[derive(Debug, Default)]
pub struct Locks {
    lines: HashMap<PmPlace, Vec<Cell>>,
    /// The place of the locked instruction that each thread is in: others may act between its fence and its store.
    locked: Vec<Option<At>>,
    /// Threads in a hardware transaction, whose stores are as good as locked ones.
    transactions: HashSet<u32>,
    /// The last store of each thread.
    last: Vec<Option<(PmPlace, u8)>>,
    /// Lines to which words point that may be locks.
    waiters: BTreeSet<PmPlace>,
    /// Lines that were ever flushed.
    flushed: HashSet<PmPlace>,
}

/// The bytes under a mask, as a number.
pub fn number(bytes: [u8; 8], mask: u8) -> u64 {
    let chosen = (0..8).filter(|byte| mask >> byte & 1 == 1);
    chosen.rev().fold(0, |value, byte| value << 8 | u64::from(bytes[byte]))
}

impl Cell {
    fn new(word: PmPlace, mask: u8, before: [u8; 8]) -> Cell {
        let free = number(before, mask);
        Cell {
            word,
            mask,
            free,
            now: free,
            values: Vec::new(),
            returned: false,
            counts: true,
            rises: true,
            locked: false,
            flushed: false,
            code: Vec::new(),
        }
    }

    fn store(&mut self, value: u64, pc: u64) {
        if self.code.len() < MOST_CODE && !self.code.contains(&pc) {
            self.code.push(pc);
        }
        if value == self.now {
            return;
        }
        self.rises &= value == self.now.wrapping_add(1);
        self.counts &= value.abs_diff(self.now) == 1;
        self.returned |= value == self.free;
        if value != self.free && self.values.len() <= MOST_VALUES && !self.values.contains(&value) {
            self.values.push(value);
        }
        self.now = value;
    }

    fn pointed<'p>(&'p self, process: Option<&'p Process>) -> impl Iterator<Item = PmPlace> + 'p {
        let values = self.values.iter().filter(|_| self.mask == u8::MAX);
        values.filter_map(move |value| process?.place(*value))
    }

    fn judge(&self, mut process: Option<&mut Process>) -> Kind {
        let mut locks = |pc: &u64| process.as_mut().is_some_and(|process| process.locks(*pc, self.locked));
        if self.code.iter().any(&mut locks) {
            return Kind::Lock;
        }
        let process = process.as_deref();
        let points = self.pointed(process).next().is_some();
        let is_volatile = |value: &u64| *value == 0 || process.is_some_and(|process| process.is_volatile(*value));
        let at_rest = self.now == self.free;
        match self.values[..] {
            _ if !self.locked => Kind::Data(""),
            _ if self.flushed => Kind::Data(ELSEWHERE),
            [] => Kind::Data(""),
            // What is gone after a crash is no data.
            [..] if self.values != [0] && self.values.iter().all(is_volatile) => Kind::Lock,
            _ if at_rest && points => Kind::Unclear(POINTED),
            _ if at_rest && self.values.len() > MOST_VALUES && !self.counts => Kind::Data(MANY),
            _ if at_rest && self.free != 0 => Kind::Unclear(COUNTED),
            _ if at_rest => Kind::Lock,
            _ if points => Kind::Data(POINTS),
            [_] if self.returned => Kind::Unclear(HELD),
            _ => Kind::Data(ENDS),
        }
    }

    /// Where its bytes begin.
    fn place(&self) -> PmPlace {
        self.word + u64::from(self.mask.trailing_zeros())
    }

    /// Whether the two are the tickets of a lock: side by side, as they are declared.
    fn pairs(&self, other: &Cell) -> bool {
        let alike = |one: &Cell| (one.mask.count_ones(), one.free, one.now, one.rises);
        let apart = self.place().abs_diff(other.place());
        let beside = apart == u64::from(self.mask.count_ones());
        beside && alike(self) == alike(other) && self.rises && (self.locked || other.locked)
    }
}

impl Locks {
    /// Of a program with this number of threads.
    pub fn new(threads: usize) -> Locks {
        Locks {
            locked: vec![None; threads],
            last: vec![None; threads],
            ..Locks::default()
        }
    }

    /// Sees the next operation before it executes.
    pub fn see(&mut self, op: &PmOp, pending: &Pending, process: Option<&Process>) {
        let own = op.thread as usize;
        match op.what {
            What::Fence(Fence::Locked) => self.locked[own] = Some(op.at),
            What::Store(piece) | What::StoreNt(piece) => {
                let locked = self.locked[own] == Some(op.at) || self.transactions.contains(&op.thread);
                let in_library = process.is_some_and(|process| process.is_of_c_library(op.at.pc));
                // Fields of the C library's locks are that small. Without other threads, it takes them by plain stores.
                let may_lock = locked || (in_library && piece.mask.count_ones() <= 4);
                if may_lock || self.lines.contains_key(&piece.line()) {
                    let cells = self.lines.entry(piece.line()).or_default();
                    let before = pending.word(piece.word);
                    let known = cells
                        .iter()
                        .any(|cell| (cell.word, cell.mask) == (piece.word, piece.mask));
                    if !known && (locked || cells.len() < MOST_CELLS) {
                        cells.push(Cell::new(piece.word, piece.mask, before));
                    }
                    let after = piece.over(before);
                    for cell in cells
                        .iter_mut()
                        .filter(|cell| cell.word == piece.word && cell.mask & piece.mask != 0)
                    {
                        cell.locked |= locked && cell.mask == piece.mask;
                        cell.store(number(after, cell.mask), op.at.pc);
                    }
                }
                self.last[own] = Some((piece.word, piece.mask));
            }
            What::Flush(_, Some(line)) => {
                self.flushed.insert(line);
                let (Some(last), Some(cells)) = (self.last[own], self.lines.get_mut(&line)) else {
                    return;
                };
                let stored = cells.iter_mut().find(|cell| (cell.word, cell.mask) == last);
                stored.into_iter().for_each(|cell| cell.flushed = true);
            }
            What::Marker(Marker::TransactionBegin) => {
                self.transactions.insert(op.thread);
            }
            What::Marker(Marker::TransactionEnd) => {
                self.transactions.remove(&op.thread);
            }
            _ => self.locked[own] = None,
        }
    }

    /// Learns what words that may be locks point to, after the program has ended.
    pub fn follow(&mut self, mut process: Option<&mut Process>) {
        for cell in self.lines.values().flatten().filter(|cell| cell.locked) {
            if cell.judge(process.as_deref_mut()) == Kind::Unclear(POINTED) {
                self.waiters
                    .extend(cell.pointed(process.as_deref()).map(|place| place & !(LINE - 1)));
            }
        }
    }

    /// What these bytes of a word are; those that hold what is durable may be anything.
    pub fn kind(&self, word: PmPlace, mask: u8, pending: &Pending, mut process: Option<&mut Process>) -> Kind {
        let at = word & !(LINE - 1);
        let line = || self.lines.get(&at).into_iter().flatten();
        let (durable, now) = (pending.durable.word(word), pending.word(word));
        let (mut kind, mut left) = (None, mask);
        for cell in line().filter(|cell| cell.word == word && cell.mask & mask != 0) {
            let own = match cell.judge(process.as_deref_mut()) {
                Kind::Data(_) if line().any(|other| cell.pairs(other)) => Kind::Unclear(TICKETS),
                own => own,
            };
            kind = match (kind, own) {
                (Some(Kind::Data(_)), _) | (Some(Kind::Unclear(_)), Kind::Lock) => kind,
                _ => Some(own),
            };
            left &= !cell.mask;
        }
        let is_whole = (0..8).all(|byte| left >> byte & 1 == 0 || durable[byte] == now[byte]);
        match kind {
            Some(kind @ (Kind::Lock | Kind::Unclear(_))) if is_whole => kind,
            Some(kind @ Kind::Data(why)) if !why.is_empty() => kind,
            _ if self.waiters.contains(&at) && !self.flushed.contains(&at) => Kind::Unclear(WAITER),
            _ => Kind::Data(""),
        }
    }
}
