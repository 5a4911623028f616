//! Entries enter the store queue, and stores that hit leave it.

use super::{Core, Entry, EntryKind, StoreQueue};
use crate::trace::{TraceOp, UNTRACED};
use std::cell::Cell;
use strandline_isa::{Addr, Line, Primitive};

/// When and how entries leave the store queue.
pub struct Drain {
    /// When the queue's next entry may leave; never while it is empty or blocked.
    pub next: Cell<u64>,
    /// When the latest entry left.
    pub last: Cell<u64>,
    /// The line of the store that left then, and how many of its stores left in that cycle.
    pub line: Cell<(Line, u64)>,
    /// The queue waits for a `clflush` in the write-back buffer.
    pub shut: Cell<bool>,
    /// Stores become visible in program order.
    pub in_order: bool,
    /// Stores that hit leave the queue without the system.
    pub by_itself: Cell<bool>,
    /// The system must see every store leave the queue.
    pub every_store: bool,
    /// How long the queue's head has waited for flushes, or for the design.
    pub head_waits: HeadWaits,
}

/// How long the head of a store queue has waited for flushes, or for the design, and not for its own line.
#[derive(Default)]
pub struct HeadWaits {
    since: Cell<Option<u64>>,
    ended: Cell<u64>,
    marked: Cell<u64>,
}

impl HeadWaits {
    /// The head waits from now on.
    pub fn begin(&self, now: u64) {
        self.since.set(self.since.get().or(Some(now)));
    }

    /// It waits no more.
    pub fn end(&self, now: u64) {
        self.ended.set(self.until(now));
        self.since.set(None);
    }

    /// Cycles that heads have waited until `at`.
    fn until(&self, at: u64) -> u64 {
        let open = self.since.get().map_or(0, |since| at.saturating_sub(since));
        self.ended.get() + open
    }

    /// Dispatch stalls behind a full queue from `at` on.
    pub fn mark(&self, at: u64) {
        self.marked.set(self.until(at));
    }

    /// Cycles that heads have waited since the mark until `at`.
    pub fn since_mark(&self, at: u64) -> u64 {
        self.until(at).saturating_sub(self.marked.get())
    }
}

impl Drain {
    /// The drain of an empty queue.
    pub fn new(in_order: bool, every_store: bool) -> Drain {
        Drain {
            next: Cell::new(u64::MAX),
            last: Cell::new(0),
            line: Cell::new((Line(0), 0)),
            shut: Cell::new(false),
            in_order,
            by_itself: Cell::new(false),
            every_store,
            head_waits: HeadWaits::default(),
        }
    }
}

impl Core {
    /// Dispatches a store, flush or primitive, which may get an entry of the store queue: the cycle of its dispatch.
    #[inline(always)]
    pub fn dispatch_entry(&self) -> u64 {
        let at = self.window.dispatch();
        self.dispatched.set(at);
        at
    }

    /// Allocates a store-queue entry, which executes and retires at `ready`.
    #[inline(always)]
    pub fn enqueue(&self, addr: Addr, kind: EntryKind, ready: u64) {
        self.enqueue_executed(addr, kind, ready, ready);
    }

    /// Allocates the entry of a fence, which has retired at `ready` and waits at the queue's head for what is older.
    pub fn enqueue_fence(&self, primitive: Primitive, ready: u64) {
        let context = self.context.now.get();
        self.allocate(Entry {
            is_fence: true,
            ..Entry::of(Addr(0), EntryKind::Primitive(primitive), context, ready)
        });
    }

    /// Allocates a store-queue entry, which executes at `executed` and retires at `ready`.
    #[inline(always)]
    pub fn enqueue_executed(&self, addr: Addr, kind: EntryKind, executed: u64, ready: u64) {
        let context = self.context.now.get();
        self.allocate(Entry {
            executed,
            ..Entry::of(addr, kind, context, ready)
        });
    }

    #[inline(always)]
    fn allocate(&self, entry: Entry) {
        let at = self.dispatched.get();
        self.add_pending(entry.context, at);
        let mut queue = self.queue.borrow_mut();
        let number = queue.push(entry, at);
        if self.observer.marks_entries.get() {
            self.mark(&mut queue, number);
        }
        self.may_leave_next(&queue, &entry);
    }

    /// The entry just allocated may be the next to leave: the head of the queue, or any where entries leave out of order.
    #[inline(always)]
    fn may_leave_next(&self, queue: &StoreQueue, entry: &Entry) {
        if queue.len() == 1 || !self.drain.in_order {
            let at = self.leaves_at(entry, entry.ready);
            self.drain.next.set(self.drain.next.get().min(at));
        }
    }

    /// Traces, logs and counts an entry that was allocated.
    #[cold]
    #[inline(never)]
    fn mark(&self, queue: &mut StoreQueue, number: u64) {
        if let Some(entry) = queue.get_mut(number) {
            if self.is_of_stack(entry.addr) {
                entry.op = UNTRACED;
                return;
            }
            entry.op = self.observe(|| TraceOp::entering(entry.addr, entry.kind));
            self.record_ready(entry.op, entry.ready);
            entry.counted = self.observer.counts_next.replace(false);
        }
    }

    /// Further bytes of the store allocated before.
    pub fn enqueue_rest(&self, addr: Addr, kind: EntryKind) {
        let context = self.context.now.get();
        self.add_pending(context, self.dispatched.get());
        let ready = self.window.retired();
        let op = self.trace(|| TraceOp::entering(addr, kind));
        let mut queue = self.queue.borrow_mut();
        let executed = queue.get(queue.newest()).map_or(ready, |before| before.executed);
        let rest = Entry {
            executed,
            with_last: true,
            ..Entry::of(addr, kind, context, ready)
        };
        let number = queue.push_rest(rest);
        if let Some(recorder) = &self.observer.recorder {
            recorder.is_rest(op);
            recorder.ready(op, ready);
        }
        if let Some(entry) = queue.get_mut(number) {
            entry.op = op;
        }
        self.may_leave_next(&queue, &rest);
    }

    /// From a store in the queue that has executed to a load of its bytes.
    pub fn forwarding_latency(&self) -> u64 {
        self.limits.latencies.forwarding
    }

    /// Whether the store queue has room.
    pub fn has_entries_free(&self) -> bool {
        self.queue.borrow().occupied() < self.limits.queue_entries
    }

    /// When an entry that is ready then may leave the queue, one a drain interval; at once if it leaves with the one
    /// before it.
    pub fn leaves_at(&self, entry: &Entry, ready: u64) -> u64 {
        let joins = entry.with_last || self.limits.drain_width > 1 && self.joins(entry);
        let interval = if joins { 0 } else { self.limits.latencies.drain_interval };
        ready.max(self.drain.last.get() + interval)
    }

    /// When any entry may leave the queue at the earliest, if none leaves with the one before it.
    pub fn leaves_from(&self) -> u64 {
        let interval = if self.limits.drain_width > 1 {
            0
        } else {
            self.limits.latencies.drain_interval
        };
        self.drain.last.get() + interval
    }

    /// Whether a store may leave in the cycle of the one before it, which was to the same line.
    fn joins(&self, entry: &Entry) -> bool {
        let (line, left) = self.drain.line.get();
        matches!(entry.kind, EntryKind::Store { .. }) && line == entry.line() && left < self.limits.drain_width
    }

    /// An entry leaves the queue at `at`.
    #[inline(always)]
    pub fn leaves_now(&self, entry: &Entry, at: u64) {
        if self.limits.drain_width > 1 {
            let (line, left) = self.drain.line.get();
            let joins = line == entry.line() && at == self.drain.last.get();
            self.drain.line.set((entry.line(), if joins { left + 1 } else { 1 }));
        }
        self.drain.last.set(at);
    }

    /// Drains stores that hit up to `until`; false if something is due that the system must handle.
    #[inline(always)]
    pub fn drain_hits(&self, until: u64) -> bool {
        self.drain.next.get() > until || (self.drain.by_itself.get() && self.drain_due_hits(until))
    }

    fn drain_due_hits(&self, until: u64) -> bool {
        if self.drain.shut.get() {
            return false;
        }
        // Somebody may wait for its context's last store, or the queue's: the system must handle that store.
        let awaited = self.window.is_held() || self.pending.awaited.get();
        let (queue, private) = (&mut *self.queue.borrow_mut(), &mut *self.private.borrow_mut());
        let mut at = self.drain.next.get();
        let mut head = queue.front();
        while let Some(&entry) = head.filter(|_| at <= until) {
            let EntryKind::Store { size, value } = entry.kind else {
                return false;
            };
            let (addr, op, context) = (entry.addr, entry.op, entry.context);
            let seen = entry.is_special() || self.is_watched(addr.line());
            let is_last = self.pending(Some(context)) == 1 || queue.len() == 1;
            if seen || (awaited && is_last) || !private.store_hit(addr.line(), at) {
                return false;
            }
            self.leaves_now(&entry, at);
            self.memory.write(addr, size, value);
            self.trace_visible(op, at);
            self.complete(context, at);
            head = queue.drop_first(at);
            at = head.map_or(u64::MAX, |e| self.leaves_at(e, e.ready));
            self.drain.next.set(at);
        }
        true
    }
}
