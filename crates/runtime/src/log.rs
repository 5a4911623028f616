//! The undo log of one lane (a thread, or one of the tasks that share it), as the program writes it: COSPlay (MICRO 2021), Figure 4(a).
//!
//! A failure-atomic region is one or more steps; a step writes log records, flushes them, orders them before its
//! updates, updates, flushes and waits until that is durable. Nothing is written to commit: the lines themselves tell.
//!
//! - The last word of every persistent line is its trailer, the sequence number of the step that wrote it. A step
//!   writes a line's payload first and its trailer last, so a durable line with the trailer has the payload.
//! - A record is a line that holds up to 32 old bytes and the old trailer of one line. Its own sequence number is
//!   written last, and zeroed first when the ring comes round to it again, so it is never a mixture.
//! - A step's number is greater than the lane's last and than all trailers that it logged (a Lamport clock).
//!
//! Both rest on stores of one core to one line becoming visible in program order.

use crate::layout::{field, Meta, MAX_LANES, RECORD_WORDS, REGION_SHIFT, STEP_RECORDS};
use crate::list::List;
use crate::rules::{Broken, Rule};
use crate::{LogLayout, PAYLOAD_BYTES, TRAILER};
use strandline_isa::{Addr, Cpu, Intent, Line, Note, LINE_BYTES, W};

/// Whether more steps of the region follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More steps follow.
    More,
    /// The region ends with this step.
    Last,
}

/// A register value without its back end, which a list need not repeat for each of its items.
type Held<C> = (u64, <C as Cpu>::Tag);

#[inline(always)]
fn hold<C: Cpu>(value: W<'_, C>) -> Held<C> {
    (value.bits(), value.tag())
}

/// One lane's undo log.
pub struct UndoLog<'c, C: Cpu> {
    cpu: &'c C,
    lane: u64,
    ring: (u64, u64),
    /// Records that the ring holds.
    capacity: u64,
    next: Held<C>,
    region: W<'c, C>,
    clock: W<'c, C>,
    /// Records of the open region, and of the one before it.
    used: (u64, u64),
    /// Each with what its meta word says of it alone.
    records: List<(Held<C>, u64), STEP_RECORDS>,
    lines: List<Held<C>, STEP_RECORDS>,
    broken: Broken,
    /// The region before has not been waited for: a broken rule.
    owes: bool,
}

/// An open failure-atomic region. See [`UndoLog::begin`].
pub struct Region<'l, 'c, C: Cpu> {
    log: &'l mut UndoLog<'c, C>,
    step: Step,
}

impl<'c, C: Cpu> UndoLog<'c, C> {
    /// Opens the log of `lane` where it begins; regions are counted on from those that recovery has settled.
    pub async fn open(cpu: &'c C, layout: &LogLayout, lane: usize) -> Self {
        let ring = layout.ring(lane);
        let region = match cpu.lowering().log {
            true => cpu.word(layout.settled(lane).0).load().await,
            false => cpu.word(0),
        };
        UndoLog {
            cpu,
            lane: lane as u64,
            ring: (ring.start, ring.end),
            capacity: layout.records(),
            next: hold(cpu.word(ring.start)),
            region,
            clock: cpu.word(0),
            used: (0, 0),
            records: List::new((hold(cpu.word(0)), 0)),
            lines: List::new(hold(cpu.word(0))),
            broken: layout.broken,
            owes: false,
        }
    }

    /// Begins a failure-atomic region. The locks of all that it writes are held until it is finished.
    ///
    /// For each step: [`Region::log`] or [`Region::log_row`], [`Region::order`], [`Region::update`],
    /// [`Region::finish`]. The step that ends the region is ordered as [`Step::Last`].
    #[inline]
    pub fn begin(&mut self) -> Region<'_, 'c, C> {
        // A region that owes the wait for the one before begins once it has waited.
        if !(self.broken.is(Rule::DurableBeforeRelease) && self.owes) {
            self.cpu.note(Note::RegionBegin);
        }
        if self.cpu.lowering().log {
            self.region = self.region + 1;
            self.used = (0, self.used.0);
        }
        Region {
            log: self,
            step: Step::More,
        }
    }

    /// Waits for the region before, which should have been waited for: a broken rule. The open region begins here.
    #[cfg(feature = "mutants")]
    async fn pay(&mut self) {
        self.cpu.intent(Intent::Durable).await;
        self.cpu.note(Note::RegionDurable);
        self.cpu.note(Note::RegionBegin);
        self.owes = false;
    }

    /// The next line of the ring.
    #[inline]
    fn advance(&mut self) -> W<'c, C> {
        let slot = W::new(self.cpu, self.next.0, self.next.1);
        let next = slot + LINE_BYTES;
        self.next = hold(match next.is(self.ring.1).branch() {
            true => self.cpu.word(self.ring.0),
            false => next,
        });
        self.used.0 += 1;
        slot
    }

    /// Writes the record of up to four words at `at`, all but what only the whole step knows.
    #[inline]
    async fn record(&mut self, at: W<'c, C>, offset: u64, words: u64, trailer: W<'c, C>) {
        let slot = self.advance();
        slot.at(field::SEQUENCE).store(self.cpu.word(0)).await;
        let target = if offset == 0 { at } else { at + offset };
        slot.at(field::TARGET).store(target).await;
        let trailer = match self.broken.is(Rule::RecordKeepsTrailer) {
            true => self.cpu.word(0),
            false => trailer,
        };
        slot.at(field::OLD_TRAILER).store(trailer).await;
        for i in 0..words {
            let old = at.at(offset + 8 * i).load().await;
            slot.at(field::PAYLOAD + 8 * i).store(old).await;
        }
        let index = self.records.as_slice().len() as u64;
        self.records.push((
            hold(slot),
            Meta {
                words,
                index,
                ..Meta::NOTHING
            }
            .pack(),
        ));
    }

    /// Gives the step its number and writes it, with the rest, into each record; flushes them.
    #[inline]
    async fn seal(&mut self, step: Step) {
        let count = self.records.as_slice().len();
        // A record that overwrote one of the region before, while none of its own region is durable yet, would make
        // a committed region look unfinished; the step has updated nothing yet.
        let (before, now) = (self.used.1, self.used.0);
        if before + now > self.capacity {
            ring_too_small(before, now);
        }
        self.clock = (self.clock | (MAX_LANES as u64 - 1)) + (1 + self.lane);
        let region = self.region << REGION_SHIFT;
        // What all records of the step have in common.
        let step = Meta {
            last: step == Step::Last,
            count: count as u64,
            ..Meta::NOTHING
        };
        for ((bits, tag), own) in self.records.as_slice() {
            let slot = W::new(self.cpu, *bits, *tag);
            slot.at(field::META).store(region + (step.pack() | own)).await;
            slot.at(field::SEQUENCE).store(self.clock).await;
            if !self.broken.is(Rule::RecordsFlushed) && !self.broken.is(Rule::FlushBeforeFence) {
                slot.flush().await;
            }
        }
        #[cfg(feature = "mutants")]
        if self.broken.is(Rule::FlushBeforeFence) {
            self.cpu.intent(Intent::LogBeforeUpdate).await;
            for ((bits, tag), _) in self.records.as_slice() {
                W::new(self.cpu, *bits, *tag).flush().await;
            }
        }
        self.records.clear();
    }
}

impl<'c, C: Cpu> Region<'_, 'c, C> {
    /// Logs `bytes` from `from` on of the line at `line`: multiples of 8, before the trailer.
    #[inline]
    pub async fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        debug_assert!(line.bits() % LINE_BYTES == 0 && from % 8 == 0 && from + bytes <= PAYLOAD_BYTES);
        let log = &mut *self.log;
        #[cfg(feature = "mutants")]
        if log.owes {
            log.pay().await;
        }
        debug_assert!(
            !log.lines.as_slice().iter().any(|(known, _)| *known == line.bits()),
            "{} is logged twice in a step",
            Addr(line.bits())
        );
        log.lines.push(hold(line));
        if !log.cpu.lowering().log {
            return;
        }
        let trailer = line.at(TRAILER).load().await;
        if !log.broken.is(Rule::ClockPassesTrailers) {
            log.clock = log.clock.max(trailer);
        }
        if log.broken.is(Rule::EveryLineLogged) && !log.records.as_slice().is_empty() {
            return;
        }
        let mut done = 0;
        let mut words = bytes.div_ceil(8);
        if log.broken.is(Rule::EveryWordLogged) {
            words = words.min(RECORD_WORDS);
        }
        while done < words {
            let now = (words - done).min(RECORD_WORDS);
            log.record(line, from + 8 * done, now, trailer).await;
            done += now;
        }
    }

    /// Logs the whole row at `row`, of `payload` bytes.
    #[inline]
    pub async fn log_row(&mut self, row: W<'c, C>, payload: u64) {
        let (full, rest) = (payload / PAYLOAD_BYTES, payload % PAYLOAD_BYTES);
        for i in 0..full {
            let line = if i == 0 { row } else { row + i * LINE_BYTES };
            self.log(line, 0, PAYLOAD_BYTES).await;
        }
        if rest > 0 {
            let line = if full == 0 { row } else { row + full * LINE_BYTES };
            self.log(line, 0, rest).await;
        }
    }

    /// Flushes the step's records and orders them before its updates; says whether more steps follow.
    #[inline]
    pub async fn order(&mut self, step: Step) {
        self.step = step;
        if self.log.cpu.lowering().log {
            self.log.seal(step).await;
        }
        if self.log.broken.is(Rule::FlushBeforeFence) {
            return;
        }
        self.log.cpu.intent(Intent::LogBeforeUpdate).await;
    }

    /// Stores the low `size` bytes of `value` at `at`, in a line that this step has logged.
    #[inline]
    pub async fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        debug_assert!(
            self.logged(Addr(at.bits()).line()),
            "{} was not logged",
            Addr(at.bits())
        );
        self.log.cpu.note(Note::RegionWrite {
            addr: Addr(at.bits()),
            size,
            value: if size == 8 {
                value.bits()
            } else {
                value.bits() & ((1 << (8 * size)) - 1)
            },
        });
        #[cfg(feature = "mutants")]
        if self.log.broken.is(Rule::TrailerLast) && self.log.cpu.lowering().log {
            let line = self.log.cpu.word(Addr(at.bits()).line().addr().0);
            line.at(TRAILER).store(self.log.clock).await;
        }
        at.store_sized(value, size).await;
    }

    fn logged(&self, line: Line) -> bool {
        self.log
            .lines
            .as_slice()
            .iter()
            .any(|(known, _)| Addr(*known).line() == line)
    }

    /// Writes the trailers of the step's lines, flushes each once, and waits until they are durable. After the last
    /// step the region is committed.
    #[inline]
    pub async fn finish(&mut self) {
        let cpu = self.log.cpu;
        let broken = self.log.broken;
        let last = self.log.lines.as_slice().len().saturating_sub(1);
        for (index, (bits, tag)) in self.log.lines.as_slice().iter().enumerate() {
            let line = W::new(cpu, *bits, *tag);
            if cpu.lowering().log && !(broken.is(Rule::EveryTrailerWritten) && index > 0) {
                line.at(TRAILER).store(self.log.clock).await;
            }
            if !(broken.is(Rule::EveryUpdateFlushed) && index == last) {
                line.flush().await;
            }
        }
        self.log.lines.clear();
        if broken.is(Rule::DurableBeforeRelease) && self.step == Step::Last {
            self.log.owes = true;
            return;
        }
        cpu.intent(Intent::Durable).await;
        if self.step == Step::Last {
            cpu.note(Note::RegionDurable);
        }
    }
}

#[cold]
#[inline(never)]
fn ring_too_small(before: u64, now: u64) -> ! {
    panic!("the undo log's ring is too small for two regions of {before} and {now} records");
}

#[cfg(test)]
mod tests;
