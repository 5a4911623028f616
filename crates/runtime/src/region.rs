//! A failure-atomic region, as a program writes it: steps of log, order, update, finish.

use crate::layout::{OWN_WORD, RECORD_WORDS};
use crate::{UndoLog, PAYLOAD_BYTES, TRAILER};
use strandline_isa::{Addr, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{breaks, in_order, keeps, kept, Rule};

/// Whether more steps of the region follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More steps follow.
    More,
    /// More steps follow, and the next one's order is also that of this one's updates: they persist with the next one's
    /// records, so that a fence serves both.
    Shared,
    /// The region ends with this step.
    Last,
}

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// Begins a failure-atomic region.
    ///
    /// For each step: [`UndoLog::log`] or [`UndoLog::log_row`], [`UndoLog::order`], [`UndoLog::update`],
    /// [`UndoLog::finish`]. The step that ends the region is ordered as [`Step::Last`].
    #[inline]
    pub(crate) fn begin(&mut self) {
        breaks(Rule::DurableBeforeRelease, || self.settle_late());
        self.cpu.note(Note::RegionBegin);
        if self.cpu.lowering().log {
            self.region = self.region + 1;
            self.used = (0, self.used.0);
            self.begun = self.clock;
            self.packs = false;
        }
    }

    /// Logs `bytes` from `from` on of the line at `line`: multiples of 8, before the trailer.
    #[inline]
    pub(crate) fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        let _call = line.call(2);
        debug_assert!(line.bits() % LINE_BYTES == 0 && from % 8 == 0 && from + bytes <= PAYLOAD_BYTES);
        let Some(trailer) = self.adds(line) else { return };
        let mut done = 0;
        let words = bytes.div_ceil(8);
        let words = kept(Rule::EveryWordLogged, words, || words.min(RECORD_WORDS));
        while done < words {
            let now = (words - done).min(RECORD_WORDS);
            self.record(line, from + 8 * done, now, trailer);
            done += now;
        }
    }

    /// Adds a line to the step; its trailer, if the line is to be logged.
    #[inline(always)]
    fn adds(&mut self, line: W<'c, C>) -> Option<W<'c, C>> {
        self.look_for_interrupt();
        self.keep(line);
        if !self.cpu.lowering().log {
            return None;
        }
        let trailer = line.at(TRAILER).load();
        self.follow_own_step(trailer);
        keeps(Rule::ClockPassesTrailers, || self.clock = self.clock.max(trailer));
        let is_first = || self.lists.records.end(self.cpu).bits() == 0;
        kept(Rule::EveryLineLogged, true, is_first).then_some(trailer)
    }

    /// As [`crate::Region::log_packed`].
    #[inline]
    pub(crate) fn log_packed(&mut self, row: W<'c, C>, payload: u64, written: u64) {
        let _call = row.call(2);
        debug_assert!(written <= payload.min(PAYLOAD_BYTES));
        if let Some(trailer) = self.adds(row) {
            self.record_row(row, payload.div_ceil(8), trailer);
        }
    }

    /// Flushes the step's records and orders them before its updates; `step` tells whether more
    /// steps follow.
    #[inline]
    pub(crate) fn order(&mut self, step: Step) {
        let _call = self.cpu.call(1);
        self.look_for_interrupt();
        let alone = !std::mem::replace(&mut self.stepped, step != Step::Last);
        let intent = match step {
            Step::Last if !alone => Intent::LastStep,
            _ => Intent::LogBeforeUpdate,
        };
        let cpu = self.cpu;
        in_order(Rule::FlushBeforeFence, || self.seal(step), || cpu.intent(intent));
    }

    /// Loads `size` bytes at `at` as the region sees them: with its own writes.
    #[inline]
    pub(crate) fn read(&mut self, at: W<'c, C>, size: u8) -> W<'c, C> {
        self.look_for_interrupt();
        at.load_sized(size)
    }

    /// A step of its own, which logs the word at `at` and stores.
    #[inline]
    pub(crate) fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        let _call = at.call(3);
        if let Some(trailer) = self.adds(at & !(LINE_BYTES - 1)) {
            self.record(at & !7, 0, 1, trailer);
        }
        self.order(Step::More);
        self.update(at, value, size);
        self.finish(Step::More);
    }

    /// Commits a region of [`UndoLog::write`]s: a last step that writes only a line of the log's own.
    #[inline]
    pub(crate) fn end(&mut self) {
        let _call = self.cpu.call(0);
        self.log(self.cpu.word(self.own.0), OWN_WORD, 8);
        self.order(Step::Last);
        self.finish(Step::Last);
    }

    /// Stores the low `size` bytes of `value` at `at`, in a line that this step has logged.
    #[inline]
    pub(crate) fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        if self.needs_lines() {
            self.known.expect(at.bits());
        }
        self.look_for_interrupt();
        breaks(Rule::TrailerLast, || self.write_trailer_first(at));
        store(self.cpu, at, value, size);
    }

    /// Writes the trailers of the step's lines, flushes each once, and waits until they are durable. After the last
    /// step the region is committed.
    #[inline]
    pub(crate) fn finish(&mut self, step: Step) {
        let _call = self.cpu.call(1);
        if step == Step::Last {
            keeps(Rule::ValidateBeforeCommit, || self.validate());
        }
        self.write_trailers();
        match step {
            Step::More => self.cpu.intent(Intent::Step),
            Step::Shared => self.cpu.intent(Intent::NewStrand),
            Step::Last => keeps(Rule::DurableBeforeRelease, || self.settle()),
        }
    }
}

/// Writes words of a line that nothing reaches yet, and flushes it.
pub(crate) fn construct<'c, C: Cpu, const N: usize>(
    cpu: &'c C,
    line: W<'c, C>,
    words: [(u64, W<'c, C>); N],
    flushes: bool,
) {
    cpu.note(Note::RegionFresh {
        line: Addr(line.bits()).line(),
    });
    for (offset, value) in words {
        store(cpu, line.at(offset), value, 8);
    }
    if flushes {
        line.flush();
    }
}

/// Stores the low `size` bytes of `value` at `at`, for the open region.
#[inline(always)]
pub(crate) fn store<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, value: W<'c, C>, size: u8) {
    note_write(cpu, at, value, size);
    at.store_sized(value, size);
}

/// Says that the open region writes the low `size` bytes of `value` at `at`.
#[inline(always)]
pub(crate) fn note_write<'c, C: Cpu>(cpu: &'c C, at: W<'c, C>, value: W<'c, C>, size: u8) {
    cpu.note(Note::RegionWrite {
        addr: Addr(at.bits()),
        size,
        value: low_bytes(value.bits(), size),
    });
}

/// The low bytes of a value: those that a store of this size writes.
pub(crate) fn low_bytes(value: u64, size: u8) -> u64 {
    value & (u64::MAX >> (64 - 8 * u32::from(size)))
}
