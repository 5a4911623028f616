//! A lane's log, for any runtime, and its regions: the interface for workloads.

use crate::alloc::Taken;
use crate::layout::Instead;
use crate::lock::Hand;
use crate::model::batches::Batches as _;
use crate::model::pairs::PairLog;
use crate::model::redo::RedoLog;
use crate::region::{construct, Step};
use crate::{LogLayout, Runtime, UndoLog, UndoRegion, WalLog, PAYLOAD_BYTES};
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
        match self {
            Log::Undo(log) => log.hand,
            Log::Pairs(log) => log.hand,
            Log::Redo(log) => log.hand,
            Log::Wal(log) => log.hand,
        }
    }

    /// Acquires the lock at this address. Locks acquired so guard what a region reads or writes.
    #[inline]
    pub fn lock(&mut self, lock: W<'c, C>) {
        let _call = lock.call(1);
        match self {
            Log::Undo(log) => log.lock(lock),
            Log::Pairs(log) => log.lock(lock),
            Log::Redo(log) => log.lock(lock),
            Log::Wal(log) => log.lock(lock),
        }
    }

    /// Releases the lock at this address.
    #[inline]
    pub fn unlock(&mut self, lock: W<'c, C>) {
        let _call = lock.call(1);
        match self {
            Log::Undo(log) => log.unlock(lock),
            Log::Pairs(log) => log.unlock(lock),
            Log::Redo(log) => log.unlock(lock),
            Log::Wal(log) => log.unlock(lock),
        }
    }

    /// Begins a failure-atomic region. The locks of all that it reads or writes are held until it is finished.
    ///
    /// It is a number of steps, each [`Region::log`] or [`Region::log_row`], [`Region::order`],
    /// [`Region::update`], [`Region::finish`], the last one ordered as [`Step::Last`]; or a number
    /// of [`Region::write`]s, and [`Region::end`].
    #[inline]
    pub fn begin(&mut self) -> Region<'_, 'c, C> {
        match self {
            Log::Undo(log) => Region::Undo(log.begin()),
            Log::Pairs(log) => {
                log.begin();
                Region::Pairs(log, Step::More)
            }
            Log::Redo(log) => {
                log.begin();
                Region::Redo(log, Step::More)
            }
            Log::Wal(log) => {
                log.begin();
                Region::Wal(log, Step::More)
            }
        }
    }

    /// The stamp that this lane leaves in volatile memory that it passes on without a lock of its
    /// log's, if any. The lane that receives the memory calls [`Log::takes`] with it.
    #[inline]
    pub fn stamp(&self) -> Option<W<'c, C>> {
        match self {
            Log::Undo(log) => log.stamp(),
            Log::Pairs(log) => log.stamp(),
            Log::Redo(log) => log.stamp(),
            Log::Wal(_) => None,
        }
    }

    /// This lane has allocated a row for its next region, which depends on the region that freed
    /// the row.
    #[inline]
    pub fn takes(&mut self, row: Taken<'c, C>) {
        match (self, row.stamp()) {
            (Log::Undo(log), _) => log.takes(row),
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
            Log::Undo(log) => log.close(),
            Log::Pairs(log) => log.close(),
            Log::Redo(log) => log.close(),
            Log::Wal(_) => {}
        }
    }
}

/// An open failure-atomic region. See [`Log::begin`].
pub enum Region<'l, 'c, C: Cpu> {
    /// Of an undo log.
    Undo(UndoRegion<'l, 'c, C>),
    /// Of a log of pairs, and the open step.
    Pairs(&'l mut PairLog<'c, C>, Step),
    /// Of a redo log, and the open step.
    Redo(&'l mut RedoLog<'c, C>, Step),
    /// Of a write-ahead log, and the open step.
    Wal(&'l mut WalLog<'c, C>, Step),
}

impl<'c, C: Cpu> Region<'_, 'c, C> {
    /// Logs `bytes` from `from` on of the line at `line`: multiples of 8, before the trailer.
    #[inline]
    pub fn log(&mut self, line: W<'c, C>, from: u64, bytes: u64) {
        match self {
            Region::Undo(region) => region.log(line, from, bytes),
            Region::Pairs(log, _) => log.log(line, from, bytes),
            Region::Redo(..) => {}
            Region::Wal(log, _) => log.log(line, from, bytes),
        }
    }

    /// Adds the line at `line` to the step: a free one, which nothing reaches before the region has
    /// linked it, so that a log need not keep what it holds.
    #[inline]
    pub fn fresh(&mut self, line: W<'c, C>) {
        match self {
            Region::Undo(region) => region.fresh(line),
            Region::Pairs(log, _) => log.log(line, 0, PAYLOAD_BYTES),
            Region::Redo(..) => {}
            Region::Wal(log, _) => log.fresh(line),
        }
    }

    /// Logs the whole row at `row`, of `payload` bytes.
    #[inline]
    pub fn log_row(&mut self, row: W<'c, C>, payload: u64) {
        if let Region::Undo(region) = self {
            return region.log_row(row, payload);
        }
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
        match self {
            Region::Undo(region) => region.log_packed(row, payload, written),
            Region::Pairs(log, _) => log.log(row, 0, written),
            Region::Redo(..) => {}
            Region::Wal(log, _) => log.log_packed(row, payload),
        }
    }

    /// Orders the log before the step's updates; `step` tells whether more steps follow.
    #[inline]
    pub fn order(&mut self, step: Step) {
        match self {
            Region::Undo(region) => region.order(step),
            Region::Pairs(_, open) | Region::Redo(_, open) => *open = step,
            Region::Wal(log, open) => {
                *open = step;
                log.set_logged();
            }
        }
    }

    /// Stores the low `size` bytes of `value` at `at`, in a line that this step has logged.
    #[inline]
    pub fn update(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        match self {
            Region::Undo(region) => region.update(at, value, size),
            Region::Pairs(log, _) => log.update(at, value, size),
            Region::Redo(log, _) => log.write(at, value, size),
            Region::Wal(log, _) => log.update(at, value, size),
        }
    }

    /// Ends the step, and after the last one the region.
    #[inline]
    pub fn finish(&mut self) {
        match self {
            Region::Undo(region) => region.finish(),
            Region::Pairs(log, step) => log.finish(*step),
            Region::Redo(log, step) => log.finish(*step),
            Region::Wal(log, step) => log.finish(*step),
        }
    }

    /// Loads `size` bytes at `at` as the region sees them: with its own writes.
    #[inline]
    pub fn read(&mut self, at: W<'c, C>, size: u8) -> W<'c, C> {
        match self {
            Region::Undo(region) => region.read(at, size),
            Region::Pairs(..) | Region::Wal(..) => at.load_sized(size),
            Region::Redo(log, _) => log.read(at, size),
        }
    }

    /// Stores the low `size` bytes of `value` at `at`, which no step has logged: the word is logged
    /// first. Any number of these, and then [`Region::end`], form a region whose writes are not
    /// known beforehand.
    #[inline]
    pub fn write(&mut self, at: W<'c, C>, value: W<'c, C>, size: u8) {
        match self {
            Region::Undo(region) => region.write(at, value, size),
            Region::Pairs(log, _) => log.write(at, value, size),
            Region::Redo(log, _) => log.write(at, value, size),
            Region::Wal(log, _) => log.write(at, value, size),
        }
    }

    /// As [`Log::takes`].
    #[inline]
    pub fn takes(&mut self, row: Taken<'c, C>) {
        match (self, row.stamp()) {
            (Region::Undo(region), _) => region.takes(row),
            (Region::Pairs(log, _), Some(stamp)) => log.depends(stamp),
            (Region::Redo(log, _), Some(stamp)) => log.depends(stamp),
            (Region::Wal(..), _) | (_, None) => {}
        }
    }

    /// Writes these words of the line at `line`, at offsets, beside the log, and flushes the line: part of a large
    /// structure that nothing reaches before the region has linked it. If the region does not commit, the line may hold
    /// anything, so the program must not go by what such a line held.
    #[inline]
    pub fn construct<const N: usize>(&mut self, line: W<'c, C>, words: [(u64, W<'c, C>); N]) {
        match self {
            Region::Undo(region) => region.construct(line, words),
            Region::Pairs(log, _) => construct(log.cpu, line, words, true),
            Region::Redo(log, _) => construct(log.cpu, line, words, true),
            Region::Wal(log, _) => construct(log.cpu, line, words, log.flushes),
        }
    }

    /// Waits until all that the region has constructed is durable.
    #[inline]
    pub fn constructed(&mut self) {
        match self {
            Region::Undo(region) => region.constructed(),
            Region::Pairs(log, _) => log.cpu.intent(Intent::Durable),
            Region::Redo(log, _) => log.cpu.intent(Intent::Durable),
            Region::Wal(log, _) => log.order(Intent::Durable),
        }
    }

    /// Ends a region of [`Region::write`]s.
    #[inline]
    pub fn end(&mut self) {
        match self {
            Region::Undo(region) => region.end(),
            Region::Pairs(log, _) => log.end(),
            Region::Redo(log, _) => log.end(),
            Region::Wal(log, _) => log.end(),
        }
    }
}

#[cfg(test)]
mod tests;
