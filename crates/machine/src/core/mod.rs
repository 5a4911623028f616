//! An out-of-order core: its window, its store queue, its predictor, and the program's view of it.

mod counted;
mod front;
mod notes;
mod predictor;
mod queue;
mod window;

pub use counted::Counted;
pub use front::SimCpu;
pub use notes::{Noted, Notes, Now};
pub use queue::{Entry, Kind, StoreQueue};
pub use window::Window;

use crate::cache::Private;
use crate::config::{Consistency, Machine};
use crate::trace::{Op, Seen, Tracer};
use predictor::{Predictor, Targets};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use strandline_design::{Admission, Places, Until};
use strandline_isa::{Addr, Alu, CoreId, Line, Lowering, Memory, Primitive, Rmw};
use strandline_rules::{any_broken, broken, Rule};

/// What a program asks of the system when it cannot go on by itself.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// To be the earliest of all: another core or event comes first.
    Order,
    /// That the held op retires; `blocks` if nothing at all may be dispatched before.
    Released { blocks: bool },
    /// That the store queue has room.
    Room,
    /// That the design admits an entry to the store queue.
    Admit(strandline_design::Entry),
    /// A load that the private levels were found not to serve (`missed`), or that the design wants to see.
    Load {
        addr: Addr,
        size: u8,
        issue: u64,
        missed: bool,
    },
    /// Ownership of a store's line, ahead of the store.
    Own { addr: Addr, issue: u64 },
    /// A locked instruction.
    Locked {
        addr: Addr,
        op: Rmw,
        operand: u64,
        issue: u64,
    },
    /// A primitive, dispatched in this cycle.
    Primitive { primitive: Primitive, at: u64 },
    /// The design takes an entry, which retires then.
    Take {
        entry: strandline_design::Entry,
        retires: u64,
    },
    /// That so many counted writes to a word are visible.
    Written { word: Addr, times: u32 },
    /// That all threads have come to the start line.
    StartLine,
}

impl Request {
    /// The request as it is made again later, when the caches may have changed.
    pub fn again(self) -> Request {
        match self {
            Request::Load { addr, size, issue, .. } => Request::Load {
                addr,
                size,
                issue,
                missed: false,
            },
            other => other,
        }
    }
}

/// How often a core waits for one line to arrive at another core.
const MOST_WAITS: u32 = 16;

/// What the system answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response {
    /// The value loaded.
    pub value: u64,
    /// When the op completes.
    pub done: u64,
    /// Whether a primitive is held, or enters the store queue.
    pub fate: Fate,
}

/// What became of a primitive at dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// It is done.
    #[default]
    Pass,
    /// It is held in the window.
    Hold,
    /// It enters the store queue.
    Enter,
    /// It enters the store queue, and is held in the window.
    EnterHeld,
    /// The design takes it; with a mark in the store queue or without.
    Take { marks: bool },
}

/// Counts of what a core did.
#[derive(Default)]
pub struct Counts {
    pub loads: Cell<u64>,
    pub stores: Cell<u64>,
    pub flushes: Cell<u64>,
    pub fences: Cell<u64>,
    pub mispredictions: Cell<u64>,
    pub jumps: Cell<u64>,
    pub jumps_mispredicted: Cell<u64>,
}

/// A core as its program and the system share it.
pub struct Core {
    pub id: CoreId,
    pub window: Window,
    pub queue: RefCell<StoreQueue>,
    pub private: RefCell<Private>,
    pub memory: Rc<Memory>,
    pub lowering: Lowering,
    pub counts: Counts,
    pub notes: Notes,
    /// How far the program may go before somebody else comes first.
    pub horizon: Cell<u64>,
    /// When the program touches memory next.
    pub front: Cell<u64>,
    /// When the store queue's next entry may leave; never while it is empty or blocked.
    pub drains: Cell<u64>,
    /// When the last entry left.
    pub drained: Cell<u64>,
    /// Loads perform no earlier: a locked instruction or a full fence stands before them.
    pub load_floor: Cell<u64>,
    /// Loads wait for the held op too.
    pub holds_loads: Cell<bool>,
    /// What the op held in the window waits for.
    pub held: Cell<Option<Until>>,
    /// The store queue waits for a `clflush` in the write-back buffer.
    pub shut: Cell<bool>,
    /// Non-temporal stores are being combined.
    pub combines: Cell<bool>,
    /// The context of what enters the queues from now on.
    pub context: Cell<u8>,
    /// When the context register is written: stores and flushes read it as they issue (COSPlay 4.3).
    context_ready: Cell<u64>,
    /// Lines whose stores the design wants to be asked about, once for each time that it has said so.
    pub asked_lines: RefCell<Vec<Line>>,
    /// How often the program has found its line on its way to another core, one time after the other.
    pub waited: Cell<u32>,
    /// Stores that the design has pointed at so far.
    pub pointed: Cell<u64>,
    /// The next store or locked instruction counts as a write of its word.
    pub counts_next: Cell<bool>,
    /// Writes of words so far, as far as they count.
    pub writes: Rc<Counted>,
    pub request: Cell<Option<Request>>,
    pub response: Cell<Response>,
    /// Where what it executes is written down, if anywhere.
    pub tracer: Option<Rc<Tracer>>,
    pending: [Cell<u32>; CONTEXTS],
    pending_all: Cell<u64>,
    predictor: Predictor,
    targets: Targets,
    latencies: Latencies,
    queue_entries: usize,
    places: Places,
    /// Stores become visible in program order.
    pub drains_in_order: bool,
    /// Stores that hit leave the queue without the system: nobody else wants to see them.
    drains_by_itself: bool,
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

/// Contexts that a core tells apart.
const CONTEXTS: usize = 256;

impl Core {
    pub fn new(id: CoreId, machine: &Machine, memory: Rc<Memory>, lowering: Lowering, wants: Wants) -> Core {
        let core = &machine.core;
        let private_l2 = machine.l2.as_ref();
        let tso = core.consistency == Consistency::Tso;
        let in_order = tso && !broken(Rule::StoresInOrder);
        Core {
            id,
            window: Window::new(
                core.dispatch_width,
                core.retire_width,
                core.rob_entries,
                core.load_queue_entries,
            ),
            queue: RefCell::new(StoreQueue::new()),
            private: RefCell::new(Private::new(&machine.l1, private_l2)),
            memory,
            lowering,
            counts: Counts::default(),
            notes: Notes::new(wants.observed),
            horizon: Cell::new(0),
            front: Cell::new(0),
            drains: Cell::new(u64::MAX),
            drained: Cell::new(0),
            load_floor: Cell::new(0),
            holds_loads: Cell::new(false),
            held: Cell::new(None),
            shut: Cell::new(false),
            combines: Cell::new(false),
            context: Cell::new(0),
            context_ready: Cell::new(0),
            asked_lines: RefCell::default(),
            waited: Cell::new(0),
            pointed: Cell::new(0),
            counts_next: Cell::new(false),
            writes: wants.writes,
            request: Cell::new(None),
            response: Cell::default(),
            tracer: wants.tracer,
            pending: [const { Cell::new(0) }; CONTEXTS],
            pending_all: Cell::new(0),
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
            places: wants.places,
            drains_in_order: in_order,
            drains_by_itself: in_order && !wants.places.stores && !wants.every_store && !any_broken(),
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

    /// One store, flush or primitive of the context is done.
    #[inline(always)]
    pub fn settle(&self, context: u8) {
        let count = &self.pending[context as usize];
        count.set(
            count
                .get()
                .checked_sub(1)
                .unwrap_or_else(|| nothing_pending(self.id, context)),
        );
        self.pending_all.set(self.pending_all.get() - 1);
    }

    /// Allocates a store-queue entry.
    #[inline(always)]
    pub fn enqueue(&self, addr: Addr, kind: Kind, ready: u64) {
        self.allocate(addr, kind, ready, false);
    }

    /// Further bytes of the store allocated last.
    pub fn enqueue_rest(&self, addr: Addr, kind: Kind) {
        self.allocate(addr, kind, self.window.retired(), true);
    }

    #[inline(always)]
    fn allocate(&self, addr: Addr, kind: Kind, ready: u64, rides: bool) {
        let context = self.context.get();
        self.add_pending(context);
        let mut queue = self.queue.borrow_mut();
        queue.push(Entry {
            addr,
            kind,
            context,
            ready,
            owned: 0,
            lost: false,
            waited: 0,
            op: self.trace(|| Op::entering(addr, kind)),
            rides,
            counted: !rides && self.counts_next.replace(false),
            pointed: 0,
        });
        if kind == Kind::Primitive(Primitive::JoinStrand) {
            self.notes.join();
        }
        if queue.len() == 1 || !self.drains_by_itself {
            let at = self.leaves_at(ready, rides);
            self.drains.set(self.drains.get().min(at));
        }
    }

    /// Writes an operation into the trace, if there is one: its index there.
    #[inline(always)]
    pub fn trace(&self, op: impl FnOnce() -> Op) -> u32 {
        match &self.tracer {
            None => 0,
            Some(tracer) => tracer.enter(self.id, op()),
        }
    }

    /// The operation of this index in the trace has written its bytes to memory.
    #[inline(always)]
    pub fn trace_visible(&self, op: u32) {
        if let Some(tracer) = &self.tracer {
            tracer.visible(self.id, op);
        }
    }

    /// Writes a load into the trace whose value has just been bound.
    #[inline(always)]
    pub fn trace_load(&self, addr: Addr, size: u8, value: u64) {
        if let Some(tracer) = &self.tracer {
            let from = self.queue.borrow().seen(addr, size, tracer.count());
            let load = Op::Load {
                addr,
                size,
                value,
                from,
            };
            tracer.enter(self.id, load);
        }
    }

    /// Writes a locked instruction into the trace, if there is one, just before it writes its word: its index there.
    pub fn trace_locked(&self, addr: Addr, old: u64, new: u64) -> u32 {
        let Some(tracer) = &self.tracer else { return 0 };
        let from = Seen::Memory(tracer.count());
        tracer.enter(self.id, Op::Rmw { addr, old, new, from })
    }

    /// Whether the store queue has room.
    pub fn has_entries_free(&self) -> bool {
        self.queue.borrow().occupied() < self.queue_entries
    }

    /// Whether a store in the queue has asked to own this line.
    pub fn awaits_own(&self, line: Line) -> bool {
        self.queue
            .borrow()
            .iter()
            .any(|entry| entry.owned != 0 && entry.line() == line)
    }

    /// Whether the design wants to be asked about stores to this line.
    #[inline(always)]
    pub fn is_asked(&self, line: Line) -> bool {
        self.asked_lines.borrow().contains(&line)
    }

    /// Whether a store in the queue has had to ask for this line again.
    pub fn has_lost(&self, line: Line) -> bool {
        self.queue
            .borrow()
            .iter()
            .any(|entry| entry.lost && entry.line() == line)
    }

    /// Whether the program, or the oldest store, has waited so often for this line to arrive at another core that it waits no more:
    /// that core may lose the line and have its loads bring it back without end.
    pub fn has_waited(&self, line: Line) -> bool {
        let store = |entry: &Entry| entry.waited >= MOST_WAITS && entry.line() == line;
        self.waited.get() >= MOST_WAITS || self.queue.borrow().front().is_some_and(store)
    }

    /// Whether the oldest store has had to ask for its line again.
    pub fn has_lost_store(&self) -> bool {
        self.queue.borrow().front().is_some_and(|head| head.lost)
    }

    /// Whether the condition holds for this core. Gates hold only at the moment at which they are opened.
    pub fn holds(&self, until: Until) -> bool {
        match until {
            Until::Drained(context) if broken(Rule::FenceWaitsForAll) => self.pending(context) <= 1,
            Until::Drained(context) => self.pending(context) == 0,
            Until::Open(_) => false,
        }
    }

    /// What becomes of a primitive that was given this answer.
    pub fn fate(&self, admission: Admission) -> Fate {
        match admission {
            Admission::Pass => Fate::Pass,
            Admission::Enter => Fate::Enter,
            Admission::Take { marks } => Fate::Take { marks },
            Admission::Hold(until) | Admission::HoldLoads(until) if self.holds(until) => Fate::Pass,
            Admission::Hold(until) => {
                self.held.set(Some(until));
                Fate::Hold
            }
            Admission::HoldLoads(until) => {
                self.held.set(Some(until));
                self.holds_loads.set(true);
                Fate::Hold
            }
            Admission::EnterHeld { until, loads } => {
                self.held.set(Some(until));
                self.holds_loads.set(loads);
                Fate::EnterHeld
            }
        }
    }

    /// When an entry that is ready then may leave the queue, one a drain interval; one that `rides` with the one before it.
    pub fn leaves_at(&self, ready: u64, rides: bool) -> u64 {
        let interval = if rides { 0 } else { self.latencies.drain_interval };
        ready.max(self.drained.get() + interval)
    }

    /// Lets stores that hit leave the queue up to `until`; false if something is due that the system must see.
    #[inline(always)]
    pub fn drain_hits(&self, until: u64) -> bool {
        if self.drains.get() > until {
            return true;
        }
        self.drain_due_hits(until)
    }

    fn drain_due_hits(&self, until: u64) -> bool {
        if !self.drains_by_itself || self.shut.get() {
            return false;
        }
        let held = self.window.is_held();
        let mut queue = self.queue.borrow_mut();
        let mut private = self.private.borrow_mut();
        while self.drains.get() <= until {
            let Some(head) = queue.front() else { return true };
            let at = self.drains.get();
            let Kind::Store { size, value } = head.kind else {
                return false;
            };
            // What a held op waits for may come with its context's last store: the system must see that.
            let seen = head.counted
                || head.pointed != 0
                || self.is_asked(head.line())
                || (held && self.pending(Some(head.context)) == 1);
            if seen || !private.store_hit(head.line(), at) {
                return false;
            }
            self.memory.write(head.addr, size, value);
            self.trace_visible(head.op);
            self.settle(head.context);
            queue.drop_first();
            self.drained.set(at);
            let next = queue.front().map_or(u64::MAX, |e| self.leaves_at(e.ready, e.rides));
            self.drains.set(next);
        }
        true
    }
}

/// Who wants to see what a core does.
#[derive(Clone, Default)]
pub struct Wants {
    /// The frequent places at which the design is asked.
    pub places: Places,
    /// The system must see every store leave the queue.
    pub every_store: bool,
    /// Notes are kept with their times.
    pub observed: bool,
    /// Writes of words that somebody may wait for.
    pub writes: Rc<Counted>,
    /// Where what the core executes is to be written down.
    pub tracer: Option<Rc<Tracer>>,
}

/// A design has acknowledged too much: a fence would wait without end, or for nothing.
#[cold]
#[inline(never)]
fn nothing_pending(core: CoreId, context: u8) -> ! {
    panic!("{core}: an acknowledgement in context {context}, where nothing is pending");
}
