//! A failure-atomic region, as a program writes it: steps of log, order, update, finish.

use crate::alloc::Taken;
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

/// An open failure-atomic region of an undo log. See [`UndoLog::begin`].
pub struct UndoRegion<'l, 'c, C: Cpu> {
    pub(crate) log: &'l mut UndoLog<'c, C>,
    pub(crate) step: Step,
}

impl<'c, C: Cpu> UndoRegion<'_, 'c, C> {
    /// Logs `bytes` from `from` on of the line at `line`: multiples of 8, before the trailer.
    #[inline]
    pub fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        let _call = line.call(2);
        debug_assert!(line.bits() % LINE_BYTES == 0 && from % 8 == 0 && from + bytes <= PAYLOAD_BYTES);
        let Some(trailer) = self.adds(line) else { return };
        let log = &mut *self.log;
        let mut done = 0;
        let words = bytes.div_ceil(8);
        let words = kept(Rule::EveryWordLogged, words, || words.min(RECORD_WORDS));
        while done < words {
            let now = (words - done).min(RECORD_WORDS);
            log.record(line, from + 8 * done, now, trailer);
            done += now;
        }
    }

    /// Adds a line to the step; its trailer, if the line is to be logged.
    #[inline(always)]
    fn adds(&mut self, line: W<'c, C>) -> Option<W<'c, C>> {
        let log = &mut *self.log;
        log.look_for_interrupt();
        log.keep(line);
        if !log.cpu.lowering().log {
            return None;
        }
        let trailer = line.at(TRAILER).load();
        log.follow_own_step(trailer);
        keeps(Rule::ClockPassesTrailers, || log.clock = log.clock.max(trailer));
        let is_first = || log.lists.records.end(log.cpu).bits() == 0;
        kept(Rule::EveryLineLogged, true, is_first).then_some(trailer)
    }

    /// As [`crate::Region::log_packed`].
    #[inline]
    pub fn log_packed(&mut self, row: W<'c, C>, payload: u64, written: u64) {
        let _call = row.call(2);
        debug_assert!(written <= payload.min(PAYLOAD_BYTES));
        if let Some(trailer) = self.adds(row) {
            self.log.record_row(row, payload.div_ceil(8), trailer);
        }
    }

    /// Adds a free line to the step. It is logged as any other: its trailer must decide with those of the others.
    #[inline]
    pub fn fresh(&mut self, line: W<'c, C>) {
        self.log(line, 0, PAYLOAD_BYTES);
    }

    /// As [`crate::Region::construct`].
    #[inline]
    pub fn construct<const N: usize>(&mut self, line: W<'c, C>, words: [(u64, W<'c, C>); N]) {
        construct(self.log.cpu, line, words, true);
    }

    /// As [`crate::Region::constructed`].
    #[inline]
    pub fn constructed(&mut self) {
        self.log.cpu.intent(Intent::Durable);
    }

    /// Logs the whole row at `row`, of `payload` bytes.
    #[inline]
    pub fn log_row(&mut self, row: W<'c, C>, payload: u64) {
        let _call = row.call(2);
        let (full, rest) = (payload / PAYLOAD_BYTES, payload % PAYLOAD_BYTES);
        for i in 0..full {
            let line = if i == 0 { row } else { row + i * LINE_BYTES };
            self.log(line, 0, PAYLOAD_BYTES);
        }
        if rest > 0 {
            let line = if full == 0 { row } else { row + full * LINE_BYTES };
            self.log(line, 0, rest);
        }
    }

    /// Flushes the step's records and orders them before its updates; `step` tells whether more
    /// steps follow.
    #[inline]
    pub fn order(&mut self, step: Step) {
        let _call = self.log.cpu.call(1);
        self.log.look_for_interrupt();
        self.step = step;
        let alone = !std::mem::replace(&mut self.log.stepped, step != Step::Last);
        let intent = match step {
            Step::Last if !alone => Intent::LastStep,
            _ => Intent::LogBeforeUpdate,
        };
        let cpu = self.log.cpu;
        in_order(Rule::FlushBeforeFence, || self.log.seal(step), || cpu.intent(intent));
    }

    /// Loads `size` bytes at `at` as the region sees them: with its own writes.
    #[inline]
    pub fn read(&mut self, at: W<'c, C>, size: u8) -> W<'c, C> {
        self.log.look_for_interrupt();
        at.load_sized(size)
    }

    /// Stores the low `size` bytes of `value` at `at`, which no step has logged: the word is logged
    /// first. Any number of these, and then [`UndoRegion::end`], form a region whose writes are not
    /// known beforehand.
    #[inline]
    pub fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        let _call = at.call(3);
        self.log_word(at);
        self.order(Step::More);
        self.update(at, value, size);
        self.finish();
    }

    /// As [`UndoLog::takes`].
    #[inline]
    pub fn takes(&mut self, row: Taken<'c, C>) {
        self.log.takes(row);
    }

    /// Commits a region of [`UndoRegion::write`]s: a last step that writes only a line of the log's
    /// own.
    #[inline]
    pub fn end(&mut self) {
        let _call = self.log.cpu.call(0);
        let own = self.log.cpu.word(self.log.own.0);
        self.log(own, OWN_WORD, 8);
        self.order(Step::Last);
        self.finish();
    }

    /// Logs the word that holds `at`.
    #[inline]
    fn log_word(&mut self, at: W<'c, C>) {
        if let Some(trailer) = self.adds(at & !(LINE_BYTES - 1)) {
            self.log.record(at & !7, 0, 1, trailer);
        }
    }

    /// Stores the low `size` bytes of `value` at `at`, in a line that this step has logged.
    #[inline]
    pub fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        debug_assert!(
            !self.log.needs_lines() || self.log.logged.contains(&Addr(at.bits()).line()),
            "{} was not logged",
            Addr(at.bits())
        );
        self.log.look_for_interrupt();
        self.log.cpu.note(Note::RegionWrite {
            addr: Addr(at.bits()),
            size,
            value: low_bytes(value.bits(), size),
        });
        breaks(Rule::TrailerLast, || self.log.write_trailer_first(at));
        at.store_sized(value, size);
    }

    /// Writes the trailers of the step's lines, flushes each once, and waits until they are durable. After the last
    /// step the region is committed.
    #[inline]
    pub fn finish(&mut self) {
        let _call = self.log.cpu.call(1);
        if self.step == Step::Last {
            keeps(Rule::ValidateBeforeCommit, || self.log.validate());
        }
        self.log.write_trailers();
        match self.step {
            Step::More => self.log.cpu.intent(Intent::Step),
            Step::Shared => self.log.cpu.intent(Intent::NewStrand),
            Step::Last => keeps(Rule::DurableBeforeRelease, || self.log.settle()),
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
        cpu.note(Note::RegionWrite {
            addr: Addr(line.bits() + offset),
            size: 8,
            value: value.bits(),
        });
        line.at(offset).store(value);
    }
    if flushes {
        line.flush();
    }
}

/// The low bytes of a value: those that a store of this size writes.
pub(crate) fn low_bytes(value: u64, size: u8) -> u64 {
    value & (u64::MAX >> (64 - 8 * u32::from(size)))
}
