//! What a core records of its program: a trace, and a log for replays.

use super::log::Log;
use super::{Core, Counted, Duties};
use crate::timeline::Recorder;
use crate::trace::{Seen, TraceOp, Tracer, UNTRACED};
use std::cell::Cell;
use std::rc::Rc;
use strandline_isa::Addr;
use strandline_kernel::Cycles;

/// What records the operations of a core's program.
pub struct Observer {
    /// Operations are traced or logged.
    pub observes: bool,
    /// Entries of the store queue are traced, logged or counted.
    pub marks_entries: Cell<bool>,
    /// The trace of what the core executes, if there is one.
    pub tracer: Option<Rc<Tracer>>,
    /// The recorder of the timeline, if there is one.
    pub recorder: Option<Rc<Recorder>>,
    /// The log of the program, if the design rolls back.
    pub log: Option<Log>,
    /// Writes of words so far, where they are counted.
    pub writes: Rc<Counted>,
    /// The next store or locked instruction counts as a write of its word.
    pub counts_next: Cell<bool>,
}

impl Observer {
    /// An observer that has seen nothing.
    pub fn new(duties: Duties) -> Observer {
        let observes = duties.tracer.is_some() || duties.logs || duties.recorder.is_some();
        Observer {
            observes,
            marks_entries: Cell::new(observes),
            tracer: duties.tracer,
            recorder: duties.recorder,
            log: duties.logs.then(Log::default),
            writes: duties.writes,
            counts_next: Cell::new(false),
        }
    }
}

impl Core {
    /// Whether the address is one of the stack, whose accesses are not observed: the program does not know of them.
    pub fn is_of_stack(&self, addr: Addr) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.holds(addr))
    }

    /// Adds an operation to the trace or the timeline, if there is one: its index there.
    #[inline(always)]
    pub fn trace(&self, op: impl FnOnce() -> TraceOp) -> u32 {
        match self.observer.observes {
            false => 0,
            true => self.keep(op()),
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&self, op: TraceOp) -> u32 {
        if let Some(recorder) = &self.observer.recorder {
            recorder.lane(self.id).is(&op);
            return recorder.enter(self.id, &op, self.window.cycle(), self.context.now.get());
        }
        match &self.observer.tracer {
            None => 0,
            Some(tracer) => tracer.enter(self.id, op),
        }
    }

    /// An entry of the store queue, by its index in the timeline, may leave at `ready`.
    pub fn record_ready(&self, op: u32, ready: u64) {
        if let Some(recorder) = &self.observer.recorder {
            recorder.ready(op, ready);
        }
    }

    /// Completes an operation without a value in the trace and log, if there are such. Returns its
    /// index in the trace.
    #[inline(always)]
    pub fn observe(&self, op: impl FnOnce() -> TraceOp) -> u32 {
        self.log_outcome(0, 0);
        self.trace(op)
    }

    /// Completes an operation in the log, if there is one.
    #[inline(always)]
    pub fn log_outcome(&self, value: u64, ready: u64) {
        if let Some(log) = &self.observer.log {
            log.push(value, ready);
        }
    }

    /// Whether the program replays its log.
    pub fn is_replaying(&self) -> bool {
        self.observer.log.as_ref().is_some_and(Log::is_replaying)
    }

    /// During a replay: the next outcome, or (`Some(None)`) that there is none left.
    pub fn replayed(&self) -> Option<Option<(u64, u64)>> {
        self.observer.log.as_ref().and_then(Log::next)
    }

    /// The outcome of an operation that does not suspend: this one, or the replayed one.
    pub fn replay_or(&self, value: u64, ready: u64) -> (u64, u64) {
        if let Some(Some(outcome)) = self.replayed() {
            return outcome;
        }
        self.log_outcome(value, ready);
        (value, ready)
    }

    /// The operation of this index in the trace has written its bytes to memory.
    #[inline(always)]
    pub fn trace_visible(&self, op: u32, at: u64) {
        if self.observer.observes {
            self.keep_visible(op, at);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_visible(&self, op: u32, at: u64) {
        if let Some(recorder) = &self.observer.recorder {
            recorder.visible(op, at);
        }
        if let Some(tracer) = self.observer.tracer.as_ref().filter(|_| op != UNTRACED) {
            tracer.visible(self.id, op, Cycles(at));
        }
    }

    /// Records a load's value in the trace and log, if there are such.
    #[inline(always)]
    pub fn observe_load(&self, addr: Addr, size: u8, value: u64, ready: u64) {
        if self.observer.observes {
            self.keep_load(addr, size, value, ready);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_load(&self, addr: Addr, size: u8, value: u64, ready: u64) {
        if self.is_of_stack(addr) {
            return;
        }
        self.log_outcome(value, ready);
        if let Some(recorder) = &self.observer.recorder {
            let from = Seen::Memory(0);
            recorder.lane(self.id).next_is(&TraceOp::Load {
                addr,
                size,
                value,
                from,
            });
        }
        let Some(tracer) = &self.observer.tracer else { return };
        let from = match (self.seen(addr, size, tracer.count()), tracer.in_memory(addr, size)) {
            (Seen::Memory(_) | Seen::Merged(_), Seen::Stale) => Seen::Stale,
            (seen, _) => seen,
        };
        self.trace(|| TraceOp::Load {
            addr,
            size,
            value,
            from,
        });
    }

    /// The source of a load's bytes: the youngest of its core's own older stores that are not
    /// visible, in the store queue or kept by the design, or memory.
    fn seen(&self, addr: Addr, size: u8, visible: u32) -> Seen {
        let (queue, kept) = (self.queue.borrow(), self.kept.borrow());
        let own = || queue.stores_to_word(addr).chain(kept.iter().rev());
        // A thread that waits for a lock loads again and again, and has none.
        if own().next().is_none() {
            return Seen::Memory(visible);
        }
        let writer = |at: u64| own().find(|entry| entry.writes(at)).map(|entry| entry.op);
        let first = writer(addr.0);
        if (1..u64::from(size)).any(|i| writer(addr.0 + i) != first) {
            return Seen::Merged(visible);
        }
        first.map_or(Seen::Memory(visible), Seen::Own)
    }

    /// Adds a locked instruction to the trace, if there is one, just before it writes its word: its
    /// index there.
    pub fn trace_locked(&self, addr: Addr, old: u64, new: u64) -> u32 {
        let from = self.observer.tracer.as_ref().map(|tracer| tracer.in_memory(addr, 8));
        self.trace(|| TraceOp::Rmw {
            addr,
            old,
            new,
            from: from.unwrap_or(Seen::Memory(0)),
        })
    }

    /// Adds a locked instruction whose write the design keeps to the trace, if there is one: its
    /// index there.
    pub fn trace_kept_locked(&self, addr: Addr, old: u64, new: u64) -> u32 {
        let visible = self.observer.tracer.as_ref().map_or(0, |tracer| tracer.count());
        self.trace(|| TraceOp::Rmw {
            addr,
            old,
            new,
            from: self.seen(addr, 8, visible),
        })
    }
}
