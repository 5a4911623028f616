//! One lane's write-ahead log, as the program writes it.

use super::layout::{Span, WalLayout, ADDRESS_SHIFT, DATA_SHIFT};
use super::Wal;
use crate::copy::copy_words;
use crate::list::{KnownLines, List};
use crate::lock::Hand;
use crate::model::set::Set;
use strandline_isa::{sites, Addr, Cpu, Intent, Note, LINE_BYTES, W};
use strandline_rules::{keeps, Rule};

sites! {
    MORE_RECORDS_TO_FLUSH = 0x3c1d_77e9;
    MORE_ADDRESSES_TO_FLUSH = 0x92e5_0b64;
    MORE_LINES_TO_FLUSH = 0x5ab8_c31f;
}

/// The write-ahead log of one lane (a thread, or one of the tasks that share it).
pub struct WalLog<'c, C: Cpu> {
    pub(crate) cpu: &'c C,
    pub(crate) hand: Hand,
    pub(super) variant: Wal,
    /// The program writes the log, and flushes.
    pub(super) logs: bool,
    pub(crate) flushes: bool,
    logged: Addr,
    addresses: Addr,
    data: Addr,
    stack: Addr,
    /// Data lines.
    capacity: u64,
    /// The records of the open region. Its length is in memory, as that of the lines is: variables of the log's code.
    pub(super) records: List<1>,
    /// The end of those that the logged word counts.
    counted: W<'c, C>,
    /// The lines to flush.
    lines: List<1>,
    /// The lines that the open region has logged by single writes.
    pub(super) written: Set<'c, C>,
    pub(super) known: KnownLines,
}

impl<'c, C: Cpu> WalLog<'c, C> {
    /// The log of `lane`, which holds no region: recovery has cleared the logged word.
    pub(crate) fn open(cpu: &'c C, layout: &WalLayout, lane: usize, hand: Hand) -> Self {
        let zero = cpu.word(0);
        WalLog {
            cpu,
            hand,
            variant: layout.variant,
            logs: layout.variant.logs(cpu.lowering()),
            flushes: layout.variant.flushes(cpu.lowering()),
            logged: layout.logged(lane),
            addresses: layout.addresses(lane),
            data: layout.data(lane),
            stack: layout.stack(lane),
            capacity: layout.records,
            records: layout.list(lane),
            counted: zero,
            lines: layout.lines(lane),
            written: Set::of_lines(cpu, layout.set(lane)),
            known: KnownLines::default(),
        }
    }

    /// Whether the program needs the lines of a step: it logs them, or flushes them.
    #[inline(always)]
    #[must_use]
    pub fn needs_lines(&self) -> bool {
        self.logs || self.flushes
    }

    /// Acquires the lock at this address. A variant that orders nothing does not annotate it either.
    pub(crate) fn lock(&mut self, lock: W<'c, C>) {
        self.hand.acquire(self.cpu, lock, self.variant == Wal::LogPSf);
    }

    /// Releases the lock at this address.
    pub(crate) fn unlock(&mut self, lock: W<'c, C>) {
        self.hand.release(self.cpu, lock, self.variant == Wal::LogPSf);
    }

    /// Begins a region.
    pub(crate) fn begin(&mut self) {
        self.cpu.note(Note::RegionBegin);
        self.known.clear();
    }

    /// Flushes a line, if the variant flushes.
    #[inline(always)]
    pub(crate) fn flush(&self, line: W<'c, C>) {
        if self.flushes {
            line.flush();
        }
    }

    /// Orders, if the variant does.
    #[inline(always)]
    pub(crate) fn order(&self, intent: Intent) {
        self.variant.order(self.cpu, intent);
    }

    /// Copies a span of a line to the next data line, and appends its address.
    pub(super) fn record(&mut self, line: W<'c, C>, span: Span) {
        let _call = line.call(3);
        let end = self.records.end(self.cpu);
        if end.bits() >= self.capacity << ADDRESS_SHIFT {
            log_too_small(self.capacity);
        }
        let slot = (end << DATA_SHIFT).at(self.data.0);
        let (from, bytes) = (8 * span.first, 8 * span.words);
        copy_words(self.cpu.word(self.stack.0), slot.at(from), line.at(from), bytes);
        // For all that a compiler knows, the call has changed it.
        let end = self.records.end(self.cpu);
        let address = if span.bits() == 0 { line } else { line | span.bits() };
        self.records.push(self.cpu, end, [address]);
    }

    /// Remembers a line of the step, which `finish` flushes.
    pub(super) fn keep(&mut self, line: W<'c, C>) {
        let _call = line.call(1);
        self.known.add(line.bits());
        if !self.flushes {
            return;
        }
        let end = self.lines.end(self.cpu);
        if end.bits() >= 8 * self.capacity {
            log_too_small(self.capacity);
        }
        self.lines.push(self.cpu, end, [line]);
    }

    /// Steps 1 and 2 of section 3.1: makes the records durable that the logged word does not count yet, then the logged
    /// word that counts them.
    pub(crate) fn set_logged(&mut self) {
        let _call = self.cpu.call(0);
        if !self.logs {
            return;
        }
        if self.flushes {
            keeps(Rule::WalRecordsFlushed, || self.flush_records());
        }
        keeps(Rule::WalRecordsBeforeBit, || self.order(Intent::LogBeforeUpdate));
        self.counted = self.records.end(self.cpu);
        self.write_logged(self.counted >> ADDRESS_SHIFT);
        keeps(Rule::WalBitBeforeUpdates, || self.order(Intent::LogBeforeUpdate));
    }

    /// Flushes each data line and each address line of the records that are not counted. A compiler does not know what
    /// a flush leaves in memory: each lap loads the number of records again.
    fn flush_records(&self) {
        let (mut at, mut slot) = (self.counted, self.counted << DATA_SHIFT);
        while at.less(self.records.end(self.cpu)).branch(MORE_RECORDS_TO_FLUSH) {
            slot.at(self.data.0).flush();
            slot = slot + LINE_BYTES;
            at = at + List::<1>::ITEM;
        }
        let mut at = self.counted & !(LINE_BYTES - 1);
        while at.less(self.records.end(self.cpu)).branch(MORE_ADDRESSES_TO_FLUSH) {
            at.at(self.addresses.0).flush();
            at = at + LINE_BYTES;
        }
    }

    /// Flushes the lines of the step, each once.
    pub(super) fn flush_lines(&mut self) {
        self.known.clear();
        if !self.flushes {
            return;
        }
        let mut at = self.cpu.word(0);
        while at.less(self.lines.end(self.cpu)).branch(MORE_LINES_TO_FLUSH) {
            self.lines.get(at, 0).flush();
            at = at + List::<1>::ITEM;
        }
        self.lines.clear(self.cpu);
    }

    /// Steps 3 and 4 of section 3.1: the updates, which are flushed, are made durable; then the cleared word.
    pub(super) fn commit(&mut self) {
        let _call = self.cpu.call(0);
        if self.logs {
            keeps(Rule::WalUpdatesBeforeClear, || self.order(Intent::Commit));
            self.write_logged(self.cpu.word(0));
        }
        self.order(Intent::Durable);
        self.cpu.note(Note::RegionDurable);
        if self.logs {
            self.records.clear(self.cpu);
        }
        self.counted = self.cpu.word(0);
        self.written.clear();
    }

    fn write_logged(&self, count: W<'c, C>) {
        let logged = self.cpu.word(self.logged.0);
        logged.store(count);
        self.flush(logged);
    }
}

#[cold]
#[inline(never)]
fn log_too_small(capacity: u64) -> ! {
    panic!("a region of more than {capacity} lines: workload.log_records is too small for it");
}
