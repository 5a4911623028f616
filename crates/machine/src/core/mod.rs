//! An out-of-order core: its window, its store queue, its predictor, and the program's view of it.

mod counted;
mod counts;
mod cpu;
mod fetch_queue;
mod hooks;
mod issue_queue;
mod loads;
mod log;
mod notes;
mod predictor;
mod queue;
mod request;
mod saved;
mod shared_queue;
mod spin;
mod window;

pub use counted::Counted;
pub use counts::Counts;
pub use cpu::SimCpu;
pub use hooks::Hooks;
pub use notes::{Noted, Notes, Now};
pub use queue::{Entry, Kind, Lost, StoreQueue};
pub use request::{Answers, Dispatched, Request, Response};
pub use saved::Saved;
pub use window::Window;

use crate::cache::Private;
use crate::config::{Consistency, Machine};
use crate::trace::{Op, Seen, Tracer};
use log::Log;
use predictor::{Predictor, Targets};
use spin::Spin;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use strandline_design::{Admission, Key, Until};
use strandline_isa::{Addr, Alu, CoreId, Line, Lowering, Memory, Primitive};
use strandline_rules::{any_broken, broken, Rule};

/// The most times that a core waits for one line to arrive at another core, which may lose the line and fetch it again
/// with its loads endlessly.
pub const MOST_WAITS: u32 = 16;

/// Whether a core's program was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The program never polls.
    Unheeded,
    /// It polls; an interrupt that it has not yet seen is pending or not.
    Heeded { pending: bool },
}

/// A core as its program and the system share it.
pub struct Core {
    pub id: CoreId,
    pub window: Window,
    /// The window before the first operation.
    start: Window,
    pub queue: RefCell<StoreQueue>,
    pub private: RefCell<Private>,
    pub memory: Rc<Memory>,
    pub lowering: Lowering,
    pub counts: Counts,
    /// `pcommit`s to which every controller has replied.
    pub pcommits_completed: Cell<u64>,
    pub notes: Notes,
    /// The time up to which the program may run before another core or event.
    pub horizon: Cell<u64>,
    /// Before this time no other core and no event acts, as far as is known.
    pub alone: Cell<u64>,
    /// When the program next touches memory.
    pub next_op: Cell<u64>,
    /// When the store queue's next entry may leave; never while it is empty or blocked.
    pub drains: Cell<u64>,
    /// When the latest entry left.
    pub drained: Cell<u64>,
    /// Loads perform no earlier: a locked instruction or a full fence precedes them.
    pub load_floor: Cell<u64>,
    /// Loads wait for the held op too.
    pub holds_loads: Cell<bool>,
    /// The store queue waits for a `clflush` in the write-back buffer.
    pub shut: Cell<bool>,
    /// Non-temporal stores are being combined.
    pub combines: Cell<bool>,
    /// The context of entries that enter the queues from now on.
    pub context: Cell<u8>,
    /// When the context register is written: stores and flushes read it as they issue (COSPlay 4.3).
    context_ready: Cell<u64>,
    /// Lines whose stores the design watches, once for each request.
    watched_lines: RefCell<Vec<Line>>,
    /// Whether there are any.
    watches: Cell<bool>,
    /// How many times in a row the program has found its line in flight to another core.
    pub waited: Cell<u32>,
    /// Stores that the design keeps, oldest first.
    pub kept: RefCell<VecDeque<Entry>>,
    /// The design has a message when a context is drained.
    pub awaits_drained: Cell<bool>,
    /// The next store or locked instruction counts as a write of its word.
    pub counts_next: Cell<bool>,
    /// Operations are traced or logged.
    observed: bool,
    /// Entries of the store queue are traced, logged or counted.
    pub marks_entries: Cell<bool>,
    /// Writes of words so far, where they are counted.
    pub writes: Rc<Counted>,
    pub request: Cell<Option<Request>>,
    pub response: Cell<Response>,
    /// The system, while the program runs.
    pub system: Cell<Option<Box<dyn Answers>>>,
    /// Its program has asked the machine, and does not go on at once.
    pub waits: Cell<bool>,
    /// The trace of what it executes, if there is one.
    pub tracer: Option<Rc<Tracer>>,
    /// Whether its program was interrupted.
    pub interrupted: Cell<Interrupt>,
    /// The log of its program, if the design rolls back.
    pub log: Option<Log>,
    pending: [Cell<u32>; CONTEXTS],
    pending_all: Cell<u64>,
    spin: Spin,
    predictor: Predictor,
    targets: Targets,
    latencies: Latencies,
    queue_entries: usize,
    /// Entries that loads and stores share; 0: no such limit.
    shared_entries: u64,
    /// The frequent hooks that the design may implement.
    hooks: Cell<Hooks>,
    /// Non-temporal stores are ordinary ones.
    nt_cached: bool,
    /// Stores become visible in program order.
    pub drains_in_order: bool,
    /// Whether store barriers reach the design.
    pub barriers: bool,
    /// The system must see every store leave the queue.
    every_store: bool,
    /// Stores that hit leave the queue without the system.
    drains_by_itself: Cell<bool>,
    prefetches_stores: bool,
}

struct Latencies {
    mul: u64,
    div: u64,
    mispredict: u64,
    l1: u64,
    drain_interval: u64,
}

impl Latencies {
    #[inline(always)]
    fn of(&self, op: Alu) -> u64 {
        match op {
            Alu::Simple => 1,
            Alu::Mul => self.mul,
            Alu::Div => self.div,
        }
    }
}

/// Contexts that a core distinguishes.
const CONTEXTS: usize = 256;

impl Core {
    pub fn new(id: CoreId, machine: &Machine, memory: Rc<Memory>, lowering: Lowering, duties: Duties) -> Core {
        let core = &machine.core;
        let private_l2 = machine.l2.as_ref();
        let tso = core.consistency == Consistency::Tso;
        let in_order = tso && !broken(Rule::StoresInOrder);
        Core {
            id,
            window: Window::new(core),
            start: Window::new(core),
            queue: RefCell::new(StoreQueue::new()),
            private: RefCell::new(Private::new(&machine.l1, private_l2)),
            memory,
            lowering,
            counts: Counts::default(),
            pcommits_completed: Cell::new(0),
            notes: Notes::new(duties.observed),
            horizon: Cell::new(0),
            alone: Cell::new(0),
            next_op: Cell::new(0),
            drains: Cell::new(u64::MAX),
            drained: Cell::new(0),
            load_floor: Cell::new(0),
            holds_loads: Cell::new(false),
            shut: Cell::new(false),
            combines: Cell::new(false),
            context: Cell::new(0),
            context_ready: Cell::new(0),
            watched_lines: RefCell::default(),
            watches: Cell::new(false),
            waited: Cell::new(0),
            kept: RefCell::default(),
            awaits_drained: Cell::new(false),
            counts_next: Cell::new(false),
            observed: duties.tracer.is_some() || duties.logs,
            marks_entries: Cell::new(duties.tracer.is_some() || duties.logs),
            writes: duties.writes,
            request: Cell::new(None),
            response: Cell::default(),
            system: Cell::new(None),
            waits: Cell::new(false),
            tracer: duties.tracer,
            interrupted: Cell::new(Interrupt::Unheeded),
            log: duties.logs.then(Log::default),
            pending: [const { Cell::new(0) }; CONTEXTS],
            pending_all: Cell::new(0),
            spin: Spin::default(),
            predictor: Predictor::new(core.predictor_entries),
            targets: Targets::new(core.predictor_entries),
            latencies: Latencies {
                mul: core.mul_latency.0,
                div: core.div_latency.0,
                mispredict: core.mispredict_penalty.0,
                l1: machine.l1.latency.0,
                drain_interval: core.store_drain_interval.0,
            },
            queue_entries: core.store_queue_entries as usize,
            shared_entries: core.load_store_queue_entries,
            hooks: Cell::new(Hooks::ALL),
            nt_cached: duties.nt_cached,
            drains_in_order: in_order,
            barriers: !in_order || duties.barriers,
            every_store: duties.every_store || any_broken(),
            drains_by_itself: Cell::new(false),
            prefetches_stores: core.store_prefetch,
        }
    }

    /// Stores not yet visible and flushes not yet acknowledged, of a context or of all.
    pub fn pending(&self, context: Option<u8>) -> u64 {
        match context {
            Some(context) => u64::from(self.pending[context as usize].get()),
            None => self.pending_all.get(),
        }
    }

    #[inline(always)]
    pub fn add_pending(&self, context: u8) {
        let count = &self.pending[context as usize];
        count.set(count.get() + 1);
        self.pending_all.set(self.pending_all.get() + 1);
    }

    /// Completes one store, flush or primitive of the context.
    #[inline(always)]
    pub fn complete(&self, context: u8) {
        let count = &self.pending[context as usize];
        count.set(
            count
                .get()
                .checked_sub(1)
                .unwrap_or_else(|| nothing_pending(self.id, context)),
        );
        self.pending_all.set(self.pending_all.get() - 1);
    }

    /// Allocates a store-queue entry, which executes and retires at `ready`.
    #[inline(always)]
    pub fn enqueue(&self, addr: Addr, kind: Kind, ready: u64) {
        self.enqueue_executed(addr, kind, ready, ready);
    }

    /// Allocates a store-queue entry, which executes at `executed` and retires at `ready`.
    #[inline(always)]
    pub fn enqueue_executed(&self, addr: Addr, kind: Kind, executed: u64, ready: u64) {
        let context = self.context.get();
        self.add_pending(context);
        let mut queue = self.queue.borrow_mut();
        let number = queue.push(Entry {
            executed,
            ..Entry::of(addr, kind, context, ready)
        });
        if self.marks_entries.get() {
            self.mark(&mut queue, number);
        }
        if queue.len() == 1 || !self.drains_by_itself.get() {
            let at = self.leaves_at(ready, false);
            self.drains.set(self.drains.get().min(at));
        }
    }

    /// Traces, logs and counts an entry that was allocated.
    #[cold]
    #[inline(never)]
    fn mark(&self, queue: &mut StoreQueue, number: u64) {
        if let Some(entry) = queue.get_mut(number) {
            entry.op = self.observe(|| Op::entering(entry.addr, entry.kind));
            entry.counted = self.counts_next.replace(false);
        }
    }

    /// Further bytes of the store allocated before.
    pub fn enqueue_rest(&self, addr: Addr, kind: Kind) {
        let context = self.context.get();
        self.add_pending(context);
        let ready = self.window.retired();
        let op = self.trace(|| Op::entering(addr, kind));
        let mut queue = self.queue.borrow_mut();
        let executed = queue.get(queue.newest()).map_or(ready, |before| before.executed);
        let number = queue.push_rest(Entry {
            executed,
            ..Entry::of(addr, kind, context, ready)
        });
        if let Some(entry) = queue.get_mut(number) {
            entry.op = op;
        }
        if queue.len() == 1 || !self.drains_by_itself.get() {
            let at = self.leaves_at(ready, true);
            self.drains.set(self.drains.get().min(at));
        }
    }

    /// Adds an operation to the trace, if there is one: its index there.
    #[inline(always)]
    pub fn trace(&self, op: impl FnOnce() -> Op) -> u32 {
        match &self.tracer {
            None => 0,
            Some(tracer) => tracer.enter(self.id, op()),
        }
    }

    /// Completes an operation without a value in the trace and log, if there are such. Returns its
    /// index in the trace.
    #[inline(always)]
    pub fn observe(&self, op: impl FnOnce() -> Op) -> u32 {
        self.log_outcome(0, 0);
        self.trace(op)
    }

    /// Completes an operation in the log, if there is one.
    #[inline(always)]
    pub fn log_outcome(&self, value: u64, ready: u64) {
        if let Some(log) = &self.log {
            log.push(value, ready);
        }
    }

    /// Whether the program replays its log.
    pub fn is_replaying(&self) -> bool {
        self.log.as_ref().is_some_and(Log::is_replaying)
    }

    /// During a replay: the next outcome, or (`Some(None)`) that there is none left.
    pub fn replayed(&self) -> Option<Option<(u64, u64)>> {
        self.log.as_ref().and_then(Log::next)
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
    pub fn trace_visible(&self, op: u32) {
        if self.observed {
            self.keep_visible(op);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_visible(&self, op: u32) {
        if let Some(tracer) = &self.tracer {
            tracer.visible(self.id, op);
        }
    }

    /// Records a load's value in the trace and log, if there are such.
    #[inline(always)]
    pub fn observe_load(&self, addr: Addr, size: u8, value: u64, ready: u64) {
        if self.observed {
            self.keep_load(addr, size, value, ready);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_load(&self, addr: Addr, size: u8, value: u64, ready: u64) {
        self.log_outcome(value, ready);
        let Some(tracer) = &self.tracer else { return };
        let from = match (self.seen(addr, size, tracer.count()), tracer.in_memory(addr, size)) {
            (Seen::Memory(_) | Seen::Merged(_), Seen::Stale) => Seen::Stale,
            (seen, _) => seen,
        };
        self.trace(|| Op::Load {
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
        let writer = |at: u64| {
            let own = queue.stores_to_word(addr).chain(kept.iter().rev());
            own.filter(|entry| entry.writes(at)).map(|entry| entry.op).next()
        };
        let first = writer(addr.0);
        if (1..u64::from(size)).any(|i| writer(addr.0 + i) != first) {
            return Seen::Merged(visible);
        }
        first.map_or(Seen::Memory(visible), Seen::Own)
    }

    /// Adds a locked instruction to the trace, if there is one, just before it writes its word: its
    /// index there.
    pub fn trace_locked(&self, addr: Addr, old: u64, new: u64) -> u32 {
        let Some(tracer) = &self.tracer else { return 0 };
        let from = tracer.in_memory(addr, 8);
        tracer.enter(self.id, Op::Rmw { addr, old, new, from })
    }

    /// Adds a locked instruction whose write the design keeps to the trace, if there is one: its
    /// index there.
    pub fn trace_kept_locked(&self, addr: Addr, old: u64, new: u64) -> u32 {
        let Some(tracer) = &self.tracer else { return 0 };
        let from = self.seen(addr, 8, tracer.count());
        tracer.enter(self.id, Op::Rmw { addr, old, new, from })
    }

    /// Whether the store queue has room.
    pub fn has_entries_free(&self) -> bool {
        self.queue.borrow().occupied() < self.queue_entries
    }

    /// Whether a store in the queue has requested ownership of this line.
    pub fn awaits_own(&self, line: Line) -> bool {
        self.queue
            .borrow()
            .iter()
            .any(|entry| entry.owned != 0 && entry.line() == line)
    }

    /// When a store that the design keeps writes this line, of which it has requested ownership.
    pub fn performs(&self, line: Line) -> Option<u64> {
        let kept = self.kept.borrow();
        let mut due = kept.iter().filter(|entry| entry.owned != 0 && entry.line() == line);
        due.next().map(|entry| entry.owned)
    }

    /// Whether the design watches stores to this line.
    #[inline(always)]
    pub fn is_watched(&self, line: Line) -> bool {
        self.watches.get() && self.looks_watched(line)
    }

    #[cold]
    #[inline(never)]
    fn looks_watched(&self, line: Line) -> bool {
        self.watched_lines.borrow().contains(&line)
    }

    /// The design watches stores to this line, once more.
    pub fn watch(&self, line: Line) {
        self.watched_lines.borrow_mut().push(line);
        self.watches.set(true);
    }

    /// The design gives up one of its watches of stores to this line.
    pub fn unwatch(&self, line: Line) {
        let mut lines = self.watched_lines.borrow_mut();
        if let Some(index) = lines.iter().position(|watched| *watched == line) {
            lines.swap_remove(index);
        }
        self.watches.set(!lines.is_empty());
    }

    /// A store that has requested this line again after losing it, if it waits for nothing else.
    pub fn lost(&self, line: Line) -> Option<Lost> {
        let due = self.drains.get();
        let queue = self.queue.borrow();
        let mut queued = queue.iter().filter(|entry| entry.lost && entry.line() == line);
        let first = queued.next().filter(|_| due != u64::MAX);
        first
            .map(|entry| Lost::of(entry, due))
            .or_else(|| self.lost_kept(|kept| kept == line))
    }

    /// A store that the design has kept, to one of these lines, that has requested its line again after losing it.
    pub fn lost_kept(&self, is_of: impl Fn(Line) -> bool) -> Option<Lost> {
        let kept = self.kept.borrow();
        let mut lost = kept.iter().filter(|entry| entry.lost && entry.owned != 0);
        let found = lost.find(|entry| is_of(entry.line()));
        found.map(|entry| Lost::of(entry, entry.owned))
    }

    /// How often the program has waited for its line, or a store has waited for this one or lost it.
    pub fn waits(&self, line: Line) -> u32 {
        let (queue, kept) = (self.queue.borrow(), self.kept.borrow());
        let stores = queue.iter().chain(kept.iter()).filter(|entry| entry.line() == line);
        let most = stores.map(|entry| u32::from(entry.waited)).max();
        self.waited.get().max(most.unwrap_or(0))
    }

    /// Whether the oldest store has requested its line again.
    pub fn has_lost_store(&self) -> bool {
        self.queue.borrow().front().is_some_and(|head| head.lost)
    }

    /// Whether this core's stores and flushes (of a context or all) have completed.
    pub fn is_drained(&self, context: Option<u8>) -> bool {
        let left = u64::from(broken(Rule::FenceWaitsForAll));
        self.pending(context) <= left
    }

    /// Whether the condition holds for this core. Gates hold only at the moment of their opening.
    pub fn holds(&self, until: Until<Key>) -> bool {
        match until {
            Until::Drained(context) => self.is_drained(context),
            Until::Open(_) => false,
        }
    }

    /// The outcome of a primitive on the plain machine, if it waits for nothing.
    pub fn dispatches_at_once(&self, primitive: Primitive) -> Option<Dispatched> {
        match Admission::plain(primitive) {
            Admission::Pass => Some(Dispatched::Passed),
            Admission::Enter => Some(Dispatched::Entered),
            Admission::Hold(until) | Admission::HoldLoads(until) if self.holds(until) => Some(Dispatched::Passed),
            _ => None,
        }
    }

    /// When an entry that is ready then may leave the queue, one a drain interval; at once if it
    /// leaves `with_last`.
    pub fn leaves_at(&self, ready: u64, with_last: bool) -> u64 {
        let interval = if with_last { 0 } else { self.latencies.drain_interval };
        ready.max(self.drained.get() + interval)
    }

    /// Drains stores that hit up to `until`; false if something is due that the system must handle.
    #[inline(always)]
    pub fn drain_hits(&self, until: u64) -> bool {
        self.drains.get() > until || (self.drains_by_itself.get() && self.drain_due_hits(until))
    }

    fn drain_due_hits(&self, until: u64) -> bool {
        if self.shut.get() {
            return false;
        }
        // Somebody may wait for its context's last store: the system must handle that store.
        let awaited = self.window.is_held() || self.awaits_drained.get();
        let (queue, private) = (&mut *self.queue.borrow_mut(), &mut *self.private.borrow_mut());
        let mut at = self.drains.get();
        let mut head = queue.front();
        while let Some(entry) = head.filter(|_| at <= until) {
            let Kind::Store { size, value } = entry.kind else {
                return false;
            };
            let (addr, op, context) = (entry.addr, entry.op, entry.context);
            let seen = entry.is_special() || self.is_watched(addr.line());
            if seen || (awaited && self.pending(Some(context)) == 1) || !private.store_hit(addr.line(), at) {
                return false;
            }
            self.memory.write(addr, size, value);
            self.trace_visible(op);
            self.complete(context);
            self.drained.set(at);
            head = queue.drop_first();
            at = head.map_or(u64::MAX, |e| self.leaves_at(e.ready, e.with_last));
            self.drains.set(at);
        }
        true
    }
}

/// What a core does for the system and the design, beside what its machine says.
#[derive(Clone, Default)]
pub struct Duties {
    /// Non-temporal stores use the caches as ordinary stores.
    pub nt_cached: bool,
    /// The system must see every store leave the queue.
    pub every_store: bool,
    /// Store barriers mean something to the design where stores drain in order, too.
    pub barriers: bool,
    /// Notes are kept with their times.
    pub observed: bool,
    /// Writes of words that have waiters.
    pub writes: Rc<Counted>,
    /// The trace of what the core executes.
    pub tracer: Option<Rc<Tracer>>,
    /// The outcomes of programs are logged.
    pub logs: bool,
}

/// A design has acknowledged too much: a fence would wait endlessly, or for nothing.
#[cold]
#[inline(never)]
fn nothing_pending(core: CoreId, context: u8) -> ! {
    panic!("{core}: an acknowledgement in context {context}, where nothing is pending");
}
