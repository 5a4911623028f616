//! An open region of a write-ahead log: its steps, or its single writes.

use super::layout::Span;
use super::WalLog;
use crate::region::store;
use crate::{place, Step, PAYLOAD_BYTES};
use strandline_isa::{sites, Addr, Cpu, Note, LINE_BYTES, W};

sites! {
    NOTHING_IS_LOGGED = 0x70c4_e2ad;
}

impl<'c, C: Cpu> WalLog<'c, C> {
    /// Logs `bytes` from `from` on of the line at `line`.
    pub(crate) fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        let _call = line.call(3);
        debug_assert!(line.bits() % LINE_BYTES == 0 && from % 8 == 0 && from + bytes <= LINE_BYTES);
        self.keep(line);
        if self.logs {
            self.record(line, Span::of(from, bytes));
        }
    }

    /// Logs a row of `payload` bytes, of which the step updates only the first line.
    pub(crate) fn log_packed(&mut self, row: W<'c, C>, payload: u64) {
        let _call = row.call(2);
        self.keep(row);
        if !self.logs {
            return;
        }
        let mut done = 0;
        while done < payload {
            let now = (payload - done).min(PAYLOAD_BYTES);
            let line = if done == 0 { row } else { row + place(done) };
            self.record(line, Span::of(0, now));
            done += now;
        }
    }

    /// Adds a free line to the step. What it held is not kept.
    pub(crate) fn fresh(&mut self, line: W<'c, C>) {
        self.cpu.note(Note::RegionFresh {
            line: Addr(line.bits()).line(),
        });
        self.keep(line);
    }

    /// Stores into a line that the step has logged.
    pub(crate) fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        if self.needs_lines() {
            self.known.expect(at.bits());
        }
        store(self.cpu, at, value, size);
    }

    /// Stores into a line that is logged, whole, at the region's first write to it.
    pub(crate) fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        let _call = at.call(3);
        if self.needs_lines() {
            let line = at & !(LINE_BYTES - 1);
            if self.written.find(line).is_none() {
                let zero = self.cpu.word(0);
                self.written.insert(line, zero, zero);
                self.log(line, 0, LINE_BYTES);
                self.set_logged();
            }
        }
        store(self.cpu, at, value, size);
    }

    /// Flushes the step's lines; commits after the last step.
    pub(crate) fn finish(&mut self, step: Step) {
        self.flush_lines();
        if step == Step::Last {
            self.commit();
        }
    }

    /// Commits a region of single writes. One that has written nothing has nothing to commit.
    pub(crate) fn end(&mut self) {
        if self.logs && self.records.end(self.cpu).is(0).branch(NOTHING_IS_LOGGED) {
            return self.cpu.note(Note::RegionDurable);
        }
        self.finish(Step::Last);
    }
}
