//! Undo logging by log-update pairs (StrandWeaver, ISCA 2020, Figure 5): transactions, outermost critical sections and
//! synchronization-free regions.
//!
//! A pair is an entry with the old word of a store, flushed, ordered before the store, and then a new
//! strand. Or ([`LogUnit::Line`]) its entries hold the words of a line that a step may update, and
//! order before all consecutive stores to the line. The unit of undo and commit is a *section*:
//!
//! - `txn`: a transaction, between an entry that begins it and one that ends it. Its lines are flushed at its end, once each.
//!   Locks are the program's own affair: they are held until it is committed, so it depends on nothing that could be undone.
//! - `atlas`: from the outermost lock to its unlock, with an entry for each lock and unlock, which hold the stamp found or left.
//!   Lines are flushed in their pairs. A batch of sections is committed at once ([`super::ledger`] says which).
//! - `sfr`: up to the first acquire or release behind an update. Its one entry beside the pairs is written there, with the stamps
//!   that may still be undone. That is enough: only when a section ends does anyone ask what it depends on, and a section that has
//!   written nothing leaves no entry at all, unless it passes on at a release what it has found undoable.
//!
//! Between the end of a section's updates and its commit all of it is made durable
//! ([`strandline_isa::Intent::Durable`]). So are the writes of an open section when it releases one
//! of its locks: happens-before does not order persists (section III-A).

use super::batches::Batches;
use super::entry::{field, LogEntryKind, ENTRY_WORDS};
use super::layout::ModelLayout;
use super::ledger::Ledger;
use super::ring::Ring;
use super::set::Set;
use crate::lock::Hand;
use crate::region::store;
use crate::{LogUnit, Runtime, Step};
use strandline_isa::{sites, Addr, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{keeps, Rule};

sites! {
    LOCK_IS_OUTERMOST = 0xef6f_b519;
    UNLOCK_IS_OUTERMOST = 0xe87f_3eec;
    BEGINS_UNLOCKED = 0x80e1_1c82;
    SAME_LINE = 0xb573_049a;
    ALL_WORDS_ARE_NEW = 0xd4a2_fbad;
    NO_WORD_IS_NEW = 0xdab6_cece;
    WORD_IS_KNOWN = 0x4e0c_0e59;
    ENDS_UNLOCKED = 0x7a58_d4c9;
    MORE_LINES_TO_FLUSH = 0x785b_559d;
}

/// The shift of the number of words in the state of a line; the offset of the first is below it.
const WORDS_SHIFT: u64 = 8;

/// One lane's log of pairs.
pub struct PairLog<'c, C: Cpu> {
    pub(crate) cpu: &'c C,
    pub(crate) hand: Hand,
    runtime: Runtime,
    unit: LogUnit,
    batch: u64,
    ring: Ring<'c, C>,
    ledger: Ledger<'c, C>,
    /// The lines that the step may update.
    spans: Set<'c, C>,
    /// The lines that the section has updated, and which of their words it has logged.
    updated: Set<'c, C>,
    /// The line of the open pair.
    open: Option<W<'c, C>>,
    /// Locks held.
    depth: W<'c, C>,
    /// The clock when the newest section ended.
    stamp: W<'c, C>,
    /// A region has begun and written nothing yet.
    fresh: bool,
    /// The open section has entries.
    written: bool,
    /// Regions of the open section that have ended.
    ended: u64,
}

impl<'c, C: Cpu> PairLog<'c, C> {
    /// Opens the log of `lane` at its end.
    pub(crate) fn open(cpu: &'c C, layout: &ModelLayout, lane: usize, hand: Hand) -> Self {
        PairLog {
            cpu,
            hand,
            runtime: layout.logging.runtime,
            unit: layout.logging.unit,
            batch: layout.logging.batch,
            ring: Ring::open(cpu, layout, lane),
            ledger: Ledger::new(cpu, layout, lane),
            spans: Set::of_lines(cpu, layout.set(lane, 0)),
            updated: Set::of_lines(cpu, layout.set(lane, 1)),
            open: None,
            depth: cpu.word(0),
            stamp: cpu.word(0),
            fresh: false,
            written: false,
            ended: 0,
        }
    }

    /// Locks are not part of the log.
    fn is_bare(&self) -> bool {
        self.runtime == Runtime::Txn || !self.cpu.lowering().log
    }

    pub(crate) fn lock(&mut self, lock: W<'c, C>) {
        if self.is_bare() {
            return self.hand.lock(self.cpu, lock);
        }
        if self.depth.is(0).branch(LOCK_IS_OUTERMOST) {
            self.make_room();
        } else if self.runtime == Runtime::Sfr && self.written {
            self.end_section();
        }
        let stamp = self.hand.lock_stamped(self.cpu, lock);
        self.depth = self.depth + 1;
        self.ledger.depends(stamp);
        self.ledger.tick();
        if self.runtime == Runtime::Atlas {
            self.synchronize(LogEntryKind::Acquire, lock, stamp);
        }
    }

    pub(crate) fn unlock(&mut self, lock: W<'c, C>) {
        if self.is_bare() {
            return self.hand.unlock(self.cpu, lock);
        }
        self.depth = self.depth - 1;
        let ends = match self.runtime {
            Runtime::Atlas => {
                self.synchronize(LogEntryKind::Release, lock, self.ledger.clock);
                self.depth.is(0).branch(UNLOCK_IS_OUTERMOST)
            }
            _ => self.written || self.ledger.is_bound(),
        };
        if ends {
            self.end_section();
        } else if self.written {
            // The next holder logs this section's writes: that entry may not be durable before this
            // section's own.
            self.ring.durable();
        }
        let stamp = match self.runtime {
            // The clock of a section that has not ended will be no less.
            Runtime::Atlas if !ends => self.ledger.clock,
            _ => self.stamp,
        };
        self.hand.unlock_stamped(self.cpu, lock, stamp);
        if ends && self.ledger.is_due(self.batch) {
            self.commit_sections();
        }
    }

    /// The stamp of memory that the lane passes on.
    pub(crate) fn stamp(&self) -> Option<W<'c, C>> {
        (!self.is_bare()).then_some(self.stamp)
    }

    /// Records that later regions depend on this stamp.
    pub(crate) fn depends(&mut self, stamp: W<'c, C>) {
        self.ledger.depends(stamp);
    }

    /// An entry about a lock.
    fn synchronize(&mut self, kind: LogEntryKind, lock: W<'c, C>, stamp: W<'c, C>) {
        let entry = self.ring.append();
        entry.at(field::ADDR).store(lock);
        entry.at(field::CLOCK).store(self.ledger.clock);
        entry.at(field::VALUES).store(stamp);
        self.ring.seal(entry, kind, 1);
    }

    pub(crate) fn begin(&mut self) {
        self.cpu.note(Note::RegionBegin);
        self.fresh = true;
    }

    /// Prepares the region's first entry.
    fn start(&mut self) {
        self.fresh = false;
        if !self.cpu.lowering().log {
            return;
        }
        self.written = true;
        if self.runtime == Runtime::Txn || self.depth.is(0).branch(BEGINS_UNLOCKED) {
            self.make_room();
            self.ledger.tick();
        }
        if self.runtime == Runtime::Txn {
            let entry = self.ring.append();
            entry.at(field::CLOCK).store(self.ledger.clock);
            self.ring.seal(entry, LogEntryKind::TxBegin, 0);
        }
    }

    /// Whether the words that a step may update must be known before.
    pub(crate) fn needs_lines(&self) -> bool {
        self.unit == LogUnit::Line
    }

    /// Remembers the words of a line that the step may update, where they are logged with the line.
    pub(crate) fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        if !self.needs_lines() {
            return;
        }
        let _call = line.call(3);
        if self.fresh {
            self.start();
        }
        let span = self.cpu.word(from | bytes.div_ceil(8) << WORDS_SHIFT);
        self.spans.insert(line, span, self.cpu.word(0));
    }

    /// Stores: a pair of its own, or where lines are logged, one with the consecutive stores to a remembered line.
    pub(crate) fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        if self.unit == LogUnit::Store {
            return self.write(at, value, size);
        }
        let _call = at.call(3);
        let line = at & !(LINE_BYTES - 1);
        let open = match self.open {
            Some(open) => open.equals(line).branch(SAME_LINE),
            None => false,
        };
        if !open {
            self.close_pair();
            let Some(span) = self.spans.find(line) else {
                not_logged(Addr(at.bits()));
            };
            let span = span.data();
            let words = (span >> WORDS_SHIFT).bits();
            self.open_pair(line, line + (span & (LINE_BYTES - 1)), words);
        }
        store(self.cpu, at, value, size);
    }

    /// A pair of its own.
    pub(crate) fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        let _call = at.call(3);
        if self.fresh {
            self.start();
        }
        self.close_pair();
        self.open_pair(at & !(LINE_BYTES - 1), at & !7, 1);
        store(self.cpu, at, value, size);
        self.close_pair();
    }

    /// Logs `words` words at `at`, before an update of their line, except those that the section
    /// has logged. A word is logged once: entries of two strands are not ordered, and a later one
    /// would hold the section's own write.
    fn open_pair(&mut self, line: W<'c, C>, at: W<'c, C>, words: u64) {
        let _call = line.call(3);
        self.open = Some(line);
        let wanted = self.cpu.word((1 << words) - 1) << ((at >> 3) & 7);
        let known = match self.updated.find(line) {
            None => {
                let zero = self.cpu.word(0);
                self.updated.insert(line, wanted, zero);
                None
            }
            Some(item) => {
                let known = item.data();
                item.set_data(known | wanted);
                Some(known)
            }
        };
        if !self.cpu.lowering().log {
            return;
        }
        let all = match known {
            None => true,
            Some(known) => (known & wanted).is(0).branch(ALL_WORDS_ARE_NEW),
        };
        if all {
            for first in (0..words).step_by(ENTRY_WORDS as usize) {
                self.log_words(at, first, ENTRY_WORDS.min(words - first));
            }
        } else {
            let missing = (wanted & (known.unwrap_or(wanted) ^ u64::MAX)) >> ((at >> 3) & 7);
            if missing.is(0).branch(NO_WORD_IS_NEW) {
                return;
            }
            for word in 0..words {
                if !((missing >> word) & 1).is(0).branch(WORD_IS_KNOWN) {
                    self.log_words(at, word, 1);
                }
            }
        }
        self.cpu.intent(Intent::LogBeforeUpdate);
    }

    /// An entry with `count` words from the word `first` at `at` on.
    fn log_words(&mut self, at: W<'c, C>, first: u64, count: u64) {
        let _call = at.call(3);
        let entry = self.ring.append();
        let addr = if first == 0 { at } else { at + 8 * first };
        entry.at(field::ADDR).store(addr);
        entry.at(field::CLOCK).store(self.ledger.clock);
        for i in 0..count {
            let old = at.at(8 * (first + i)).load();
            entry.at(field::VALUES + 8 * i).store(old);
        }
        self.ring.seal(entry, LogEntryKind::Store, count);
    }

    fn close_pair(&mut self) {
        let _call = self.cpu.call(0);
        let Some(line) = self.open.take() else { return };
        if self.runtime != Runtime::Txn {
            line.flush();
        }
        self.cpu.intent(Intent::NewStrand);
    }

    pub(crate) fn finish(&mut self, step: Step) {
        self.close_pair();
        self.spans.clear();
        if step == Step::Last {
            self.end();
        }
    }

    pub(crate) fn end(&mut self) {
        let _call = self.cpu.call(0);
        if self.fresh {
            self.start();
        }
        if self.is_bare() {
            return self.end_transaction();
        }
        self.cpu.note(Note::RegionEnd);
        self.ended += 1;
        if self.depth.is(0).branch(ENDS_UNLOCKED) {
            if self.runtime == Runtime::Atlas {
                self.synchronize(LogEntryKind::Release, self.cpu.word(0), self.ledger.clock);
            }
            self.end_section();
            if self.ledger.is_due(self.batch) {
                self.commit_sections();
            }
        }
    }

    /// Flushes the transaction's updates, makes it durable and commits it.
    fn end_transaction(&mut self) {
        let logs = self.cpu.lowering().log;
        if logs {
            let entry = self.ring.append();
            entry.at(field::CLOCK).store(self.ledger.clock);
            self.ring.seal(entry, LogEntryKind::TxEnd, 0);
            // No update may leave the caches before all entries are durable.
            self.cpu.intent(Intent::Commit);
        }
        keeps(Rule::LinesFlushedAtEnd, || self.flush_updated());
        self.updated.clear();
        let end = self.ring.end_section();
        if logs {
            self.ring.mark(end);
        }
        self.cpu.note(Note::RegionDurable);
        if logs {
            self.ring.retire(end);
        }
    }

    fn flush_updated(&mut self) {
        let mut at = self.cpu.word(0);
        while at.less(self.updated.end).branch(MORE_LINES_TO_FLUSH) {
            self.updated.item(at).key().flush();
            at = at + super::set::LINE_ITEM;
        }
    }

    /// Makes all of the section durable. Sections of synchronization-free regions get their entry.
    fn end_section(&mut self) {
        if self.runtime == Runtime::Sfr {
            self.combine();
        }
        let end = self.ring.end_section();
        self.ledger.end(end, std::mem::take(&mut self.ended));
        self.stamp = self.ledger.clock;
        self.ledger.tick();
        self.updated.clear();
        self.written = false;
        if self.batch == 1 {
            self.commit_sections();
        }
    }

    /// Writes one entry with the section's stamps that may still be undone, or several for more
    /// stamps.
    fn combine(&mut self) {
        let mut index = self.ledger.open();
        loop {
            let entry = self.ring.append();
            entry.at(field::CLOCK).store(self.ledger.clock);
            let mut count = 0;
            while count < ENTRY_WORDS && self.ledger.has(index) {
                let stamp = self.ledger.found(index);
                entry.at(field::VALUES + 8 * count).store(stamp);
                index = index + 1;
                count += 1;
            }
            self.ring.seal(entry, LogEntryKind::Release, count);
            if count < ENTRY_WORDS {
                break;
            }
        }
    }

    /// Commits the sections that may be committed; whether there were any.
    fn commit_sections(&mut self) -> bool {
        let Some(ready) = self.ledger.ready() else {
            return false;
        };
        self.ring.mark(ready.end);
        for _ in 0..ready.regions {
            self.cpu.note(Note::RegionDurable);
        }
        self.ledger.publish(&ready);
        self.ring.retire(ready.end);
        true
    }
}

impl<'c, C: Cpu> Batches<'c, C> for PairLog<'c, C> {
    fn parts(&self) -> (&'c C, &Ring<'c, C>, &Ledger<'c, C>) {
        (self.cpu, &self.ring, &self.ledger)
    }

    fn commit(&mut self) -> bool {
        self.commit_sections()
    }
}

#[cold]
#[inline(never)]
pub(super) fn not_logged(at: Addr) -> ! {
    panic!("{at} was not logged in this step of its region");
}
