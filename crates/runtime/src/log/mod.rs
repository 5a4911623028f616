//! The undo log of one lane (a thread, or one of the tasks that share it), as the program writes
//! it: COSPlay (MICRO 2021), Figure 4(a).
//!
//! A failure-atomic region is one or more steps. A step writes log records, flushes them, orders
//! them before its updates, updates, flushes and waits until that is durable. No commit record is
//! written: the lines' trailers commit.
//!
//! - The last word of every persistent line is its trailer, the sequence number of the step that wrote it. A step
//!   writes a line's payload first and its trailer last, so a durable line with the trailer has the payload.
//! - A record is a line that holds up to 32 old bytes and the old trailer of one line. Its own
//!   sequence number is written last, and zeroed first when the ring reuses it, so it is never a
//!   mixture. (Recovery would pass over a mixture, too: the ring keeps the records of the previous region, so that a
//!   line it reuses has the number of an older one.)
//! - A packed record ([`row`]) is that of a row: such a line, and further lines of seven old words, which end in the
//!   same number with a bit that no number has.
//! - A step's number is greater than the lane's last and than all trailers that it logged (a Lamport clock).
//!
//! Both require that stores of one core to one line become visible in program order.

use crate::abort::Unwinding;
use crate::layout::{field, Meta, StepLists, FURTHER_SHIFT, LENGTH_TO_COUNT, MAX_LANES, REGION_SHIFT};
use crate::list::{KnownLines, List};
use crate::lock::Hand;
use crate::mutants::first_half;
use crate::{LogLayout, Step, TRAILER};
use strandline_isa::{sites, Addr, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{keeps, kept, Rule};

sites! {
    TRAILER_IS_OWN = 0xf4ce_3a2f;
    TRAILER_IS_OF_REGION = 0x0021_b276;
    RING_WRAPS = 0x2ee7_ccfc;
    MORE_TO_SEAL = 0xa758_bebf;
    MORE_LINES_TO_FLUSH = 0xd622_87cf;
    LINE_IS_FURTHER = 0x27c0_2937;
}

mod row;

/// One lane's undo log.
pub struct UndoLog<'c, C: Cpu> {
    pub(crate) cpu: &'c C,
    pub(crate) hand: Hand,
    lane: u64,
    pub(crate) ring: (u64, u64),
    /// Records that the ring holds.
    capacity: u64,
    pub(crate) next: W<'c, C>,
    pub(crate) region: W<'c, C>,
    pub(crate) clock: W<'c, C>,
    /// Records of the open region, and of the one before it.
    pub(crate) used: (u64, u64),
    pub(crate) lists: StepLists,
    pub(crate) known: KnownLines,
    /// The open region has ordered a step that is not its last.
    pub(crate) stepped: bool,
    /// The open region has packed records.
    pub(crate) packs: bool,
    /// The clock when the open region began.
    pub(crate) begun: W<'c, C>,
    /// The line of the settled region.
    pub(crate) own: Addr,
    /// The state that an abort undoes besides.
    pub(crate) unwinding: Unwinding<'c, C>,
}

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// Opens the log of `lane` at its start; region numbers continue after those that recovery has
    /// settled.
    pub fn open(cpu: &'c C, layout: &LogLayout, lane: usize) -> Self {
        let ring = layout.ring(lane);
        let ring = kept(Rule::RingHoldsTwoRegions, ring.clone(), || first_half(&ring));
        let region = match cpu.lowering().log {
            true => cpu.word(layout.settled(lane).0).load(),
            false => cpu.word(0),
        };
        let log = UndoLog {
            cpu,
            hand: layout.hand(lane),
            lane: lane as u64,
            ring: (ring.start, ring.end),
            capacity: layout.records(),
            next: cpu.word(ring.start),
            region,
            clock: cpu.word(0),
            used: (0, 0),
            lists: layout.step_lists(lane),
            known: KnownLines::default(),
            stepped: false,
            packs: false,
            begun: cpu.word(0),
            own: layout.settled(lane),
            unwinding: Unwinding::default(),
        };
        log.heed();
        log
    }

    /// The registers that outlive a region: place in the ring, region, clock, and the number of the last region's
    /// records.
    pub(crate) fn save(&self) -> [W<'c, C>; 4] {
        [self.next, self.region, self.clock, self.cpu.word(self.used.0)]
    }

    /// Continues from saved registers.
    pub(crate) fn load(&mut self, from: &mut impl Iterator<Item = W<'c, C>>) {
        let mut next = || from.next().expect("saved by this log");
        (self.next, self.region, self.clock) = (next(), next(), next());
        self.used = (next().bits(), 0);
    }

    /// Acquires the lock at this address ([`crate::LockKind`]).
    #[inline]
    pub fn lock(&mut self, lock: W<'c, C>) {
        self.hand.lock(self.cpu, lock);
        self.holds(lock);
    }

    /// Releases the lock at this address ([`crate::LockKind`]).
    #[inline]
    pub fn unlock(&mut self, lock: W<'c, C>) {
        self.frees(lock);
        self.hand.unlock(self.cpu, lock);
    }

    /// Waits until the region, whose lines are written and flushed, is durable, and acknowledges it.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        self.cpu.intent(Intent::Durable);
        self.look_behind_fence();
        self.cpu.note(Note::RegionDurable);
        self.acknowledged();
    }

    /// Prepares to log a line with this trailer. Where steps are on strands of their own, and an
    /// earlier step of the region has written the line, that step must persist first: the new
    /// record holds its writes.
    #[inline]
    pub(crate) fn follow_own_step(&mut self, trailer: W<'c, C>) {
        if !self.stepped || self.cpu.lowering().new_strand.is_empty() {
            return;
        }
        let own = (trailer & (MAX_LANES as u64 - 1)).is(self.lane).branch(TRAILER_IS_OWN);
        if own && self.begun.less(trailer).branch(TRAILER_IS_OF_REGION) {
            self.cpu.intent(Intent::Commit);
        }
    }

    /// The next line of the ring.
    #[inline]
    fn advance(&mut self) -> W<'c, C> {
        let slot = self.next;
        let next = slot + LINE_BYTES;
        self.next = match next.is(self.ring.1).branch(RING_WRAPS) {
            true => self.cpu.word(self.ring.0),
            false => next,
        };
        self.used.0 += 1;
        slot
    }

    /// Writes the record of up to four words at `at`, except for the fields of the whole step.
    #[inline]
    pub(crate) fn record(&mut self, at: W<'c, C>, offset: u64, words: u64, trailer: W<'c, C>) {
        let _call = at.call(3);
        self.first_line(at, offset, Meta { words, ..Meta::NOTHING }, trailer);
    }

    /// Writes the first line of a record, with the words that `own` counts.
    #[inline(always)]
    fn first_line(&mut self, at: W<'c, C>, offset: u64, own: Meta, trailer: W<'c, C>) {
        let slot = self.advance();
        slot.at(field::SEQUENCE).store(self.cpu.word(0));
        let target = if offset == 0 { at } else { at + offset };
        slot.at(field::TARGET).store(target);
        let old_trailer = kept(Rule::RecordKeepsTrailer, trailer, || self.cpu.word(0));
        slot.at(field::OLD_TRAILER).store(old_trailer);
        for i in 0..own.words {
            let old = at.at(offset + 8 * i).load();
            slot.at(field::PAYLOAD + 8 * i).store(old);
        }
        let list = self.lists.records;
        let index = list.end(self.cpu);
        // Its words, and its index: its place in the list.
        list.push(self.cpu, index, [slot, index + own.pack()]);
    }

    /// Numbers the step and writes the number, with the remaining fields, into each record; flushes
    /// them.
    #[inline]
    pub(crate) fn seal(&mut self, step: Step) {
        if !self.cpu.lowering().log {
            return;
        }
        // If a record overwrites one of the previous region while this region has no durable
        // record, a committed region looks unfinished. This step has updated nothing yet.
        let (before, now) = (self.used.1, self.used.0);
        if before + now > self.capacity {
            ring_too_small(before, now);
        }
        self.clock = (self.clock | (MAX_LANES as u64 - 1)) + (1 + self.lane);
        let list = self.lists.records;
        let end = list.end(self.cpu);
        let common = self.common(step, end);
        let mut at = self.cpu.word(0);
        while at.less(end).branch(MORE_TO_SEAL) {
            let (slot, own) = (list.get(at, 0), list.get(at, 1));
            if self.packs && !(own >> FURTHER_SHIFT).is(0).branch(LINE_IS_FURTHER) {
                slot.at(field::SEQUENCE).store(self.clock + own);
            } else {
                slot.at(field::META).store(common + own);
                slot.at(field::SEQUENCE).store(self.clock);
            }
            keeps(Rule::RecordsFlushed, || slot.flush());
            at = at + List::<2>::ITEM;
        }
        list.clear(self.cpu);
    }

    /// The common part of the meta words of the step's records; `end` is the end of their list.
    #[inline(always)]
    fn common(&self, step: Step, end: W<'c, C>) -> W<'c, C> {
        let common = (self.region << REGION_SHIFT) + (end << LENGTH_TO_COUNT);
        match step {
            Step::More | Step::Shared => common,
            Step::Last => {
                common
                    + Meta {
                        last: true,
                        ..Meta::NOTHING
                    }
                    .pack()
            }
        }
    }

    /// Whether the program needs the lines of the step: it writes their trailers, or flushes them.
    #[inline(always)]
    #[must_use]
    pub fn needs_lines(&self) -> bool {
        let lowering = self.cpu.lowering();
        lowering.log || lowering.flush.is_some()
    }

    /// Remembers a line of the step.
    #[inline(always)]
    pub(crate) fn keep(&mut self, line: W<'c, C>) {
        self.known.add(line.bits());
        if self.needs_lines() {
            let list = self.lists.lines;
            let end = list.end(self.cpu);
            list.push(self.cpu, end, [line]);
        }
    }

    /// Writes the trailers of the step's lines and flushes each once.
    #[inline(always)]
    pub(crate) fn write_trailers(&mut self) {
        self.known.clear();
        if !self.needs_lines() {
            return;
        }
        let list = self.lists.lines;
        let end = list.end(self.cpu);
        let mut at = self.cpu.word(0);
        while at.less(end).branch(MORE_LINES_TO_FLUSH) {
            let line = list.get(at, 0);
            let next = at + List::<1>::ITEM;
            if self.cpu.lowering().log && kept(Rule::EveryTrailerWritten, true, || at.bits() == 0) {
                line.at(TRAILER).store(self.clock);
            }
            if kept(Rule::EveryUpdateFlushed, true, || next.bits() != end.bits()) {
                line.flush();
            }
            at = next;
        }
        list.clear(self.cpu);
    }
}

#[cold]
#[inline(never)]
fn ring_too_small(before: u64, now: u64) -> ! {
    panic!("the undo log's ring is too small for two regions of {before} and {now} records");
}

#[cfg(test)]
mod tests;
