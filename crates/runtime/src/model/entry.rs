//! A log entry: the content of its line, and its reading by recovery.
//!
//! An entry is a line. Its last word is written last: its position in the log (counted from 1 and
//! never reused), its valid bit, and the commit marker. Stores of one core to one line become
//! visible in program order, so a durable line whose last word holds the position has the whole
//! entry. A line with another position is an older lap's, or was not written completely.

use strandline_isa::{Addr, Image};

/// Offsets of an entry's words.
pub(crate) mod field {
    /// Undo entries: the address of the first word, or of the lock.
    pub const ADDR: u64 = 0;
    /// Undo entries: the lane's clock.
    pub const CLOCK: u64 = 8;
    /// Undo entries: up to four old words, or the stamps that a synchronisation found.
    pub const VALUES: u64 = 16;
    /// The kind, and the number of its items.
    pub const INFO: u64 = 48;
    /// Position, commit marker, valid bit.
    pub const STATE: u64 = 56;
    /// Redo entries hold two writes: address, new word, old word each.
    pub const WRITE_BYTES: u64 = 24;
}

/// Words that an undo entry holds.
pub(crate) const ENTRY_WORDS: u64 = 4;

/// Stamps that an entry of dependences holds.
pub(crate) const ENTRY_STAMPS: u64 = 6;

/// In the state: the entry is valid.
pub(crate) const VALID: u64 = 1;
/// In the state: the log is committed up to here.
pub(crate) const MARKER: u64 = 2;
/// The position's shift in the state.
pub(crate) const POSITION_SHIFT: u64 = 2;

/// The count's shift in the info word.
pub(crate) const COUNT_SHIFT: u64 = 8;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogEntryKind {
    /// Old words of an update.
    Store = 1,
    /// A transaction begins.
    TxBegin = 2,
    /// A transaction has ended.
    TxEnd = 3,
    /// A lock was acquired; holds the stamp found in it.
    Acquire = 4,
    /// A lock is about to be released, or a region has ended; holds the stamp left there.
    Release = 5,
    /// Redo: up to two writes.
    Write = 6,
    /// Redo: stamps that the region depends on.
    Depends = 7,
    /// Redo: commits the region, whose entries before this one are counted in it.
    Commit = 8,
}

impl LogEntryKind {
    /// The info word of an entry with `count` items.
    pub const fn info(self, count: u64) -> u64 {
        self as u64 | count << COUNT_SHIFT
    }
}

/// An entry as recovery reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its line.
    pub at: Addr,
    /// Its position in the log.
    pub position: u64,
    pub valid: bool,
    pub marker: bool,
    /// Its kind and count, packed.
    pub info: u64,
    /// The words before the info word.
    pub body: [u64; 6],
}

impl Entry {
    /// The entry in the line at `at`.
    pub fn read(image: &dyn Image, at: Addr) -> Entry {
        let word = |offset| image.word(Addr(at.0 + offset));
        let state = word(field::STATE);
        Entry {
            at,
            position: state >> POSITION_SHIFT,
            valid: state & VALID != 0,
            marker: state & MARKER != 0,
            info: word(field::INFO),
            body: std::array::from_fn(|i| word(8 * i as u64)),
        }
    }

    pub fn is(&self, kind: LogEntryKind) -> bool {
        self.info & ((1 << COUNT_SHIFT) - 1) == kind as u64
    }

    pub fn count(&self) -> u64 {
        self.info >> COUNT_SHIFT
    }

    /// The clock of an undo entry.
    pub fn clock(&self) -> u64 {
        self.body[1]
    }

    /// Restores the old words.
    pub fn undo(&self, image: &dyn Image) {
        if self.is(LogEntryKind::Store) {
            for i in 0..self.count().min(ENTRY_WORDS) {
                image.set_word(Addr(self.body[0] + 8 * i), self.body[2 + i as usize]);
            }
        }
    }

    /// Invalidates the entry.
    pub fn invalidate(&self, image: &dyn Image) {
        let state = Addr(self.at.0 + field::STATE);
        image.set_word(state, image.word(state) & !VALID);
    }
}
