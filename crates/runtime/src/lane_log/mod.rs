//! A lane's log, for any runtime, and its regions: the interface for workloads.

use crate::alloc::Taken;
use crate::layout::Instead;
use crate::lock::Hand;
use crate::model::batches::Batches as _;
use crate::model::pairs::PairLog;
use crate::model::redo::RedoLog;
use crate::region::{construct, Step};
use crate::{LogLayout, Runtime, UndoLog, WalLog, PAYLOAD_BYTES};
use strandline_isa::{Cpu, Intent, LINE_BYTES, W};

/// The log of one lane (a thread, or one of the tasks that share it).
pub enum Log<'c, C: Cpu> {
    /// COSPlay's undo log.
    Undo(UndoLog<'c, C>),
    /// Undo logging by pairs: transactions, outermost critical sections, synchronization-free regions.
    Pairs(PairLog<'c, C>),
    /// Redo logging.
    Redo(RedoLog<'c, C>),
    /// Write-ahead logging with a logged bit.
    Wal(WalLog<'c, C>),
}

/// What a log of any kind does in the same words.
macro_rules! any {
    ($log:expr, $own:ident => $does:expr) => {
        match $log {
            Log::Undo($own) => $does,
            Log::Pairs($own) => $does,
            Log::Redo($own) => $does,
            Log::Wal($own) => $does,
        }
    };
}

impl<'c, C: Cpu> Log<'c, C> {
    /// Opens the log of `lane` at its end.
    pub fn open(cpu: &'c C, layout: &LogLayout, lane: usize) -> Self {
        match &layout.instead {
            Instead::Nothing => Log::Undo(UndoLog::open(cpu, layout, lane)),
            Instead::Model(model) if model.logging.runtime == Runtime::Redo => {
                Log::Redo(RedoLog::open(cpu, model, lane, layout.hand(lane)))
            }
            Instead::Model(model) => Log::Pairs(PairLog::open(cpu, model, lane, layout.hand(lane))),
            Instead::Wal(wal) => Log::Wal(WalLog::open(cpu, wal, lane, layout.hand(lane))),
        }
    }

    /// How the lane takes locks that guard no region.
    #[inline]
    #[must_use]
    pub fn hand(&self) -> Hand {
        any!(self, log => log.hand)
    }

    /// Acquires the lock at this address. Locks acquired so guard what a region reads or writes.
    #[inline]
    pub fn lock(&mut self, lock: W<'c, C>) {
        let _call = lock.call(1);
        any!(self, log => log.lock(lock));
    }

    /// Releases the lock at this address.
    #[inline]
    pub fn unlock(&mut self, lock: W<'c, C>) {
        let _call = lock.call(1);
        any!(self, log => log.unlock(lock));
    }

    /// Begins a failure-atomic region. The locks of all that it reads or writes are held until it is finished.
    ///
    /// It is a number of steps, each [`Region::log`] or [`Region::log_row`], [`Region::order`],
    /// [`Region::update`], [`Region::finish`], the last one ordered as [`Step::Last`]; or a number
    /// of [`Region::write`]s, and [`Region::end`].
    #[inline]
    pub fn begin(&mut self) -> Region<'_, 'c, C> {
        any!(self, log => log.begin());
        Region {
            log: self,
            step: Step::More,
        }
    }

    /// The stamp that this lane leaves in volatile memory that it passes on without a lock of its
    /// log's, if any. The lane that receives the memory calls [`Log::takes`] with it.
    #[inline]
    pub fn stamp(&self) -> Option<W<'c, C>> {
        match self {
            Log::Pairs(log) => log.stamp(),
            Log::Redo(log) => log.stamp(),
            // Their regions are acknowledged when they end.
            Log::Undo(_) | Log::Wal(_) => None,
        }
    }

    /// This lane has allocated a row for its next region, which depends on the region that freed
    /// the row.
    #[inline]
    pub fn takes(&mut self, row: Taken<'c, C>) {
        match (self, row.stamp()) {
            (Log::Undo(log), _) => log.allocates(row),
            (Log::Pairs(log), Some(stamp)) => log.depends(stamp),
            (Log::Redo(log), Some(stamp)) => log.depends(stamp),
            (Log::Wal(_), _) | (_, None) => {}
        }
    }

    /// Whether a task may be left, since its open region is interrupted: the log can abort it then ([`Log::abort`]), and
    /// hardware interrupts.
    pub(crate) fn may_abort(&self) -> bool {
        match self {
            Log::Undo(log) => log.cpu.lowering().interrupts(),
            Log::Pairs(_) | Log::Redo(_) | Log::Wal(_) => false,
        }
    }

    /// Aborts the open region, whose task has been left: no effect of it is left, and its locks are
    /// free.
    pub(crate) fn abort(&mut self) {
        if let Log::Undo(log) = self {
            log.abort();
        }
    }

    /// Whether a step's lines must be logged before its updates. Otherwise a program need not look for them.
    #[inline]
    #[must_use]
    pub fn needs_lines(&self) -> bool {
        match self {
            Log::Undo(log) => log.needs_lines(),
            Log::Pairs(log) => log.needs_lines(),
            Log::Redo(_) => false,
            Log::Wal(log) => log.needs_lines(),
        }
    }

    /// Whether every region that has ended is acknowledged.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match self {
            Log::Undo(_) | Log::Wal(_) => true,
            Log::Pairs(log) => log.is_settled(),
            Log::Redo(log) => log.is_settled(),
        }
    }

    /// Adds the log's registers to `into`: its state between two tasks, beside what is in memory. `false` for logs that
    /// keep more than that between tasks.
    pub fn save(&self, into: &mut Vec<W<'c, C>>) -> bool {
        match self {
            Log::Undo(log) => into.extend(log.save()),
            Log::Pairs(_) | Log::Redo(_) => return false,
            // Its region is over: it holds no record, and its list is empty.
            Log::Wal(_) => {}
        }
        true
    }

    /// Continues from the state that [`Log::save`] has saved, which it takes from `from`.
    pub fn load(&mut self, from: &mut impl Iterator<Item = W<'c, C>>) {
        if let Log::Undo(log) = self {
            log.load(from);
        }
    }

    /// Acknowledges all regions, and waits for other lanes on which they depend. The lane holds no
    /// lock.
    pub fn close(&mut self) {
        match self {
            Log::Pairs(log) => log.close(),
            Log::Redo(log) => log.close(),
            Log::Undo(_) | Log::Wal(_) => {}
        }
    }
}

/// An open failure-atomic region. See [`Log::begin`].
pub struct Region<'l, 'c, C: Cpu> {
    log: &'l mut Log<'c, C>,
    /// The open step.
    step: Step,
}

impl<'c, C: Cpu> Region<'_, 'c, C> {
    /// Logs `bytes` from `from` on of the line at `line`: multiples of 8, before the trailer.
    #[inline]
    pub fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        match self.log {
            Log::Undo(log) => log.log(line, from, bytes),
            Log::Pairs(log) => log.log(line, from, bytes),
            Log::Redo(_) => {}
            Log::Wal(log) => log.log(line, from, bytes),
        }
    }

    /// Adds the line at `line` to the step: a free one, which nothing reaches before the region has
    /// linked it, so that a log need not keep what it holds. An undo log does: the line's trailer must decide with those
    /// of the others.
    #[inline]
    pub fn fresh(&mut self, line: W<'c, C>) {
        match self.log {
            Log::Wal(log) => log.fresh(line),
            _ => self.log(line, 0, PAYLOAD_BYTES),
        }
    }

    /// Logs the whole row at `row`, of `payload` bytes.
    #[inline]
    pub fn log_row(&mut self, row: W<'c, C>, payload: u64) {
        let _call = matches!(self.log, Log::Undo(_)).then(|| row.call(2));
        let mut done = 0;
        while done < payload {
            let line = done / PAYLOAD_BYTES * LINE_BYTES;
            let at = if line == 0 { row } else { row + line };
            self.log(at, 0, (payload - done).min(PAYLOAD_BYTES));
            done += PAYLOAD_BYTES;
        }
    }

    /// Logs the whole row at `row`, of `payload` bytes, in one packed record, as a program does that copies the row.
    /// The step updates only its first `written` bytes, in the row's first line, which is therefore the only one that
    /// it flushes. Logs of pairs, which log what is stored (StrandWeaver, ISCA 2020, Figure 5), log these bytes only.
    #[inline]
    pub fn log_packed(&mut self, row: W<'c, C>, payload: u64, written: u64) {
        match self.log {
            Log::Undo(log) => log.log_packed(row, payload, written),
            Log::Pairs(log) => log.log(row, 0, written),
            Log::Redo(_) => {}
            Log::Wal(log) => log.log_packed(row, payload),
        }
    }

    /// Orders the log before the step's updates; `step` tells whether more steps follow.
    #[inline]
    pub fn order(&mut self, step: Step) {
        self.step = step;
        match self.log {
            Log::Undo(log) => log.order(step),
            Log::Pairs(_) | Log::Redo(_) => {}
            Log::Wal(log) => log.set_logged(),
        }
    }

    /// Stores the low `size` bytes of `value` at `at`, in a line that this step has logged.
    #[inline]
    pub fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        match self.log {
            Log::Undo(log) => log.update(at, value, size),
            Log::Pairs(log) => log.update(at, value, size),
            Log::Redo(log) => log.write(at, value, size),
            Log::Wal(log) => log.update(at, value, size),
        }
    }

    /// Ends the step, and after the last one the region.
    #[inline]
    pub fn finish(&mut self) {
        any!(self.log, log => log.finish(self.step));
    }

    /// Loads `size` bytes at `at` as the region sees them: with its own writes.
    #[inline]
    pub fn read(&mut self, at: W<'c, C>, size: u8) -> W<'c, C> {
        match self.log {
            Log::Undo(log) => log.read(at, size),
            Log::Pairs(_) | Log::Wal(_) => at.load_sized(size),
            Log::Redo(log) => log.read(at, size),
        }
    }

    /// Stores the low `size` bytes of `value` at `at`, which no step has logged: the word is logged
    /// first. Any number of these, and then [`Region::end`], form a region whose writes are not
    /// known beforehand.
    #[inline]
    pub fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        any!(self.log, log => log.write(at, value, size));
    }

    /// As [`Log::takes`].
    #[inline]
    pub fn takes(&mut self, row: Taken<'c, C>) {
        self.log.takes(row);
    }

    /// Writes these words of the line at `line`, at offsets, beside the log, and flushes the line: part of a large
    /// structure that nothing reaches before the region has linked it. If the region does not commit, the line may hold
    /// anything, so the program must not go by what such a line held.
    #[inline]
    pub fn construct<const N: usize>(&mut self, line: W<'c, C>, words: [(u64, W<'c, C>); N]) {
        let flushes = match self.log {
            Log::Wal(log) => log.flushes,
            _ => true,
        };
        any!(self.log, log => construct(log.cpu, line, words, flushes));
    }

    /// Waits until all that the region has constructed is durable.
    #[inline]
    pub fn constructed(&mut self) {
        match &self.log {
            Log::Wal(log) => log.order(Intent::Durable),
            log => any!(log, log => log.cpu.intent(Intent::Durable)),
        }
    }

    /// Ends a region of [`Region::write`]s.
    #[inline]
    pub fn end(&mut self) {
        any!(self.log, log => log.end());
    }
}

#[cfg(test)]
mod crashes;
#[cfg(test)]
mod tests;
