//! Redo logging on strands with group commit (StrandWeaver's future work).
//!
//! A region's updates are kept in a set in volatile memory. At its end each is written to the log,
//! with the entry that commits the region. That entry holds the number of the region's entries, so
//! it needs no order after them. All of them are ordered before the updates in place, on the same
//! strand, and then a new strand begins. A group of regions becomes durable at once; only then are
//! they acknowledged.
//!
//! A region may have read another lane's updates in place whose entries are not durable yet. So its
//! entries name its dependences, and hold old words beside the new: recovery restores them where a
//! dependence was lost ([`super::replay`]). A line's trailer is the clock of the region that wrote
//! it last, so recovery knows where it was written at all: elsewhere the old word may be the lost
//! region's own.

use super::batches::Batches;
use super::entry::{field, LogEntryKind, ENTRY_STAMPS};
use super::layout::ModelLayout;
use super::ledger::Ledger;
use super::ring::Ring;
use super::set::{Set, LINE_ITEM};
use crate::lock::Hand;
use crate::region::{low_bytes, note_write};
use crate::{Step, TRAILER};
use strandline_isa::{sites, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{keeps, Rule};

sites! {
    LOCK_IS_OUTERMOST = 0x2d09_bd3b;
    UNLOCK_IS_OUTERMOST = 0x70c4_526b;
    ENDS_UNLOCKED = 0x36b7_ffec;
    MORE_TO_LOG = 0x2223_7735;
    MORE_IN_ENTRY = 0x781b_5533;
    MORE_TO_WRITE = 0x9c5d_da78;
    SAME_LINE = 0x6b48_7bcd;
}

/// One lane's redo log.
pub struct RedoLog<'c, C: Cpu> {
    pub(crate) cpu: &'c C,
    pub(crate) hand: Hand,
    group: u64,
    ring: Ring<'c, C>,
    ledger: Ledger<'c, C>,
    /// The words that the open region writes: the new word and the old one.
    writes: Set<'c, C>,
    /// Locks held.
    depth: W<'c, C>,
    /// The clock of the newest region that has ended.
    stamp: W<'c, C>,
}

impl<'c, C: Cpu> RedoLog<'c, C> {
    /// Opens the log of `lane` at its end.
    pub(crate) fn open(cpu: &'c C, layout: &ModelLayout, lane: usize, hand: Hand) -> Self {
        let ring = Ring::open(cpu, layout, lane);
        let mut ledger = Ledger::new(cpu, layout, lane);
        if cpu.lowering().log {
            // Clocks continue after those that recovery has settled: recovery skips settled clocks.
            ledger.clock = ring.settled().load();
        }
        RedoLog {
            cpu,
            hand,
            group: layout.logging.batch,
            ring,
            ledger,
            writes: Set::of_words(cpu, layout.set(lane, 0)),
            depth: cpu.word(0),
            stamp: cpu.word(0),
        }
    }

    fn logs(&self) -> bool {
        self.cpu.lowering().log
    }

    pub(crate) fn lock(&mut self, lock: W<'c, C>) {
        if !self.logs() {
            return self.hand.lock(self.cpu, lock);
        }
        if self.depth.is(0).branch(LOCK_IS_OUTERMOST) {
            self.make_room();
        }
        let stamp = self.hand.lock_stamped(self.cpu, lock);
        self.depth = self.depth + 1;
        self.ledger.depends(stamp);
    }

    pub(crate) fn unlock(&mut self, lock: W<'c, C>) {
        if !self.logs() {
            return self.hand.unlock(self.cpu, lock);
        }
        // A region that has only read what may still be lost passes the dependence on.
        if self.ledger.is_bound() {
            self.commit_region(0);
        }
        self.depth = self.depth - 1;
        let outermost = self.depth.is(0).branch(UNLOCK_IS_OUTERMOST);
        if self.group == 1 && !self.ledger.is_settled() {
            self.acknowledge();
        }
        self.hand.unlock_stamped(self.cpu, lock, self.stamp);
        if outermost && self.ledger.is_due(self.group) {
            self.acknowledge();
        }
    }

    /// The stamp of memory that the lane passes on.
    pub(crate) fn stamp(&self) -> Option<W<'c, C>> {
        self.logs().then_some(self.stamp)
    }

    /// Records that later regions depend on this stamp.
    pub(crate) fn depends(&mut self, stamp: W<'c, C>) {
        self.ledger.depends(stamp);
    }

    pub(crate) fn begin(&mut self) {
        self.cpu.note(Note::RegionBegin);
    }

    /// Loads as the region sees memory.
    pub(crate) fn read(&mut self, at: W<'c, C>, size: u8) -> W<'c, C> {
        let _call = at.call(2);
        let Some(item) = self.writes.find(at & !7) else {
            return at.load_sized(size);
        };
        let word = item.data();
        if size == 8 {
            return word;
        }
        (word >> ((at.bits() & 7) * 8)) & low_bytes(u64::MAX, size)
    }

    /// Writes to the region's set.
    pub(crate) fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        let _call = at.call(3);
        note_write(self.cpu, at, value, size);
        if !self.logs() {
            at.store_sized(value, size);
            return at.flush();
        }
        let word = at & !7;
        let Some(item) = self.writes.find(word) else {
            let old = word.load();
            let new = merged(old, at, value, size);
            return self.writes.insert(word, new, old);
        };
        let new = match size {
            8 => value,
            _ => merged(item.data(), at, value, size),
        };
        item.set_data(new);
    }

    pub(crate) fn finish(&mut self, step: Step) {
        if step == Step::Last {
            self.end();
        }
    }

    /// Commits the region and writes in place.
    pub(crate) fn end(&mut self) {
        let _call = self.cpu.call(0);
        if !self.logs() {
            self.cpu.intent(Intent::Durable);
            self.cpu.note(Note::RegionDurable);
            return;
        }
        let unlocked = self.depth.is(0).branch(ENDS_UNLOCKED);
        if unlocked {
            self.make_room();
        }
        self.commit_region(1);
        self.cpu.note(Note::RegionEnd);
        if unlocked && self.ledger.is_due(self.group) {
            self.acknowledge();
        }
    }

    /// Logs the region and writes in place. It may have dependences without writes.
    fn commit_region(&mut self, regions: u64) {
        let _call = self.cpu.call(1);
        self.ledger.tick();
        let before = self.ring.position;
        self.log_writes();
        self.log_dependences();
        let entry = self.ring.append();
        entry.at(field::CLOCK).store(self.ledger.clock);
        let count = self.ring.position - before - 1;
        self.ring.seal_counted(entry, LogEntryKind::Commit, count);
        self.cpu.intent(Intent::LogBeforeUpdate);
        self.write_in_place();
        self.cpu.intent(Intent::NewStrand);
        self.ledger.end(self.ring.end(), regions);
        self.stamp = self.ledger.clock;
    }

    fn log_writes(&mut self) {
        let mut at = self.cpu.word(0);
        while at.less(self.writes.end).branch(MORE_TO_LOG) {
            let entry = self.ring.append();
            let mut count = 0;
            while count < 2 && at.less(self.writes.end).branch(MORE_IN_ENTRY) {
                let item = self.writes.item(at);
                let place = entry.at(count * field::WRITE_BYTES);
                place.store(item.key());
                place.at(8).store(item.data());
                place.at(16).store(item.extra());
                at = at + LINE_ITEM;
                count += 1;
            }
            self.ring.seal(entry, LogEntryKind::Write, count);
        }
    }

    fn log_dependences(&mut self) {
        let mut index = self.ledger.open();
        while self.ledger.has(index) {
            let entry = self.ring.append();
            let mut count = 0;
            while count < ENTRY_STAMPS && self.ledger.has(index) {
                let stamp = self.ledger.found(index);
                entry.at(8 * count).store(stamp);
                index = index + 1;
                count += 1;
            }
            self.ring.seal(entry, LogEntryKind::Depends, count);
        }
    }

    /// Stores the new words, and flushes a line when the next word is in another.
    fn write_in_place(&mut self) {
        let mut at = self.cpu.word(0);
        let mut line: Option<W<'c, C>> = None;
        while at.less(self.writes.end).branch(MORE_TO_WRITE) {
            let item = self.writes.item(at);
            let word = item.key();
            let own = word & !(LINE_BYTES - 1);
            if let Some(before) = line {
                if !before.equals(own).branch(SAME_LINE) {
                    self.leave_line(before);
                }
            }
            word.store(item.data());
            line = Some(own);
            at = at + LINE_ITEM;
        }
        if let Some(line) = line {
            self.leave_line(line);
        }
        self.writes.clear();
    }

    /// Writes the line's trailer, the clock of this region, and flushes it: recovery restores only
    /// lines that were written.
    fn leave_line(&self, line: W<'c, C>) {
        line.at(TRAILER).store(self.ledger.clock);
        line.flush();
    }

    /// Makes all regions durable and acknowledges those that depend on nothing that may still be
    /// lost; whether there were any. Before other lanes build on that, it is durable that these
    /// need no replay.
    fn acknowledge(&mut self) -> bool {
        keeps(Rule::GroupDurable, || self.ring.durable());
        let Some(ready) = self.ledger.ready() else {
            return false;
        };
        for _ in 0..ready.regions {
            self.cpu.note(Note::RegionDurable);
        }
        self.ring.settled().store(ready.clock);
        self.ring.skip(ready.end);
        self.ring.durable();
        self.ledger.publish(&ready);
        true
    }
}

impl<'c, C: Cpu> Batches<'c, C> for RedoLog<'c, C> {
    fn parts(&self) -> (&'c C, &Ring<'c, C>, &Ledger<'c, C>) {
        (self.cpu, &self.ring, &self.ledger)
    }

    fn commit(&mut self) -> bool {
        self.acknowledge()
    }
}

/// A word with `size` bytes at `at` replaced.
fn merged<'c, C: Cpu>(word: W<'c, C>, at: W<'c, C>, value: W<'c, C>, size: u8) -> W<'c, C> {
    if size == 8 {
        return value;
    }
    let (shift, low) = ((at.bits() & 7) * 8, low_bytes(u64::MAX, size));
    (word & !(low << shift)) | ((value & low) << shift)
}
