//! An out-of-order core: its window, its store queue, its predictor, and the program's view of it.

mod counted;
mod counts;
mod cpu;
mod drain;
mod fetch_queue;
mod frame;
mod hooks;
mod issue_queue;
mod limits;
mod log;
mod lost;
mod notes;
mod observer;
mod pending;
pub mod predictor;
mod queue;
mod request;
mod restore;
mod saved;
mod shared_queue;
mod spin;
mod tage;
pub mod tlb;
mod usage;
mod watches;
mod window;

pub use counted::Counted;
pub use counts::Counts;
pub use cpu::{SimCpu, StackCpu};
pub use frame::{Frame, FRAME_BYTES};
pub use hooks::Hooks;
pub use notes::{Keeps, Noted, Notes, Now};
pub use queue::{Entry, EntryKind, Lost, StoreQueue};
pub use request::{Answers, Dispatched, Request, Response};
pub use saved::Saved;
pub use usage::Usage;
pub use window::{Port, Window};

use crate::cache::Private;
use crate::config::{Consistency, HostCoherence, MachineConfig};
use crate::timeline::Recorder;
use crate::trace::Tracer;
use drain::Drain;
use limits::Limits;
use observer::Observer;
use pending::Pending;
use predictor::Branches;
use restore::Restore;
use spin::Spin;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use strandline_design::{Admission, Key, Until};
use strandline_isa::{Addr, CoreId, Lowering, Memory, Primitive};
use strandline_rules::{any_broken, broken, Rule};
use tlb::Tlb;
use watches::Watches;

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
    pub drain: Drain,
    pub pending: Pending,
    pub loads: LoadOrder,
    pub private: RefCell<Private>,
    pub tlb: Tlb,
    pub memory: Rc<Memory>,
    pub lowering: Lowering,
    pub turn: Turn,
    pub exchange: Exchange,
    pub context: Context,
    watches: Watches,
    /// Stores that the design keeps, oldest first.
    pub kept: RefCell<VecDeque<Entry>>,
    pub observer: Observer,
    pub notes: Notes,
    pub counts: Counts,
    /// `pcommit`s to which every controller has replied.
    pub pcommits_completed: Cell<u64>,
    /// Non-temporal stores are being combined.
    pub combines: Cell<bool>,
    /// When the latest store, flush or primitive was dispatched.
    dispatched: Cell<u64>,
    /// How many times in a row the program has found its line in flight to another core.
    pub waited: Cell<u32>,
    /// Whether its program was interrupted.
    pub interrupted: Cell<Interrupt>,
    /// The cores of hosts that have failed, as this core was told; a bit each.
    pub failed: Cell<u64>,
    /// Hosts of the machine whose copies nothing keeps alike.
    pub hosts: u64,
    spin: Spin,
    /// The stack on which the program keeps its values, if not in registers.
    frame: Option<Rc<Frame>>,
    branches: Branches,
    limits: Limits,
    /// The frequent hooks that the design may implement.
    hooks: Cell<Hooks>,
}

/// Which turn of the machine the program has.
#[derive(Default)]
pub struct Turn {
    /// When the turn began. Dispatch may lag behind it.
    pub began: Cell<u64>,
    /// The time up to which the program may run before another core or event.
    pub horizon: Cell<u64>,
    /// Before this time no other core and no event acts, as far as is known.
    pub alone: Cell<u64>,
    /// When the program next touches memory.
    pub next_op: Cell<u64>,
}

impl Turn {
    /// Puts the program's next turn off until `at`, unless it is later. Whoever sets a turn calls this with the present.
    #[inline]
    pub fn not_before(&self, at: u64) {
        self.next_op.set(self.next_op.get().max(at));
    }
}

/// What loads wait for.
#[derive(Default)]
pub struct LoadOrder {
    /// Loads perform no earlier: a locked instruction or a full fence precedes them.
    pub floor: Cell<u64>,
    /// Loads wait for the held op too.
    pub held: Cell<bool>,
    /// When the addresses of all stores so far are known, if loads wait for them.
    addresses: Cell<u64>,
}

/// The context register (COSPlay 4.3).
#[derive(Default)]
pub struct Context {
    /// The context of entries that enter the queues from now on.
    pub now: Cell<u8>,
    /// When the register is written: stores and flushes read it as they issue.
    ready: Cell<u64>,
}

/// How the program asks the system.
#[derive(Default)]
pub struct Exchange {
    pub request: Cell<Option<Request>>,
    pub response: Cell<Response>,
    /// The system, while the program runs.
    pub system: Cell<Option<Box<dyn Answers>>>,
    /// The program has asked, and does not go on at once.
    pub waits: Cell<bool>,
}

impl Core {
    /// Begins with what another core has learnt without time.
    pub fn begin_with(&self, tlb: Tlb, branches: &Branches) {
        self.branches.restore(branches);
        self.tlb.begin_with(tlb);
    }

    pub fn new(id: CoreId, machine: &MachineConfig, memory: Rc<Memory>, lowering: Lowering, duties: Duties) -> Core {
        let core = &machine.core;
        let in_order = core.consistency == Consistency::Tso && !broken(Rule::StoresInOrder);
        Core {
            id,
            window: match &duties.recorder {
                None => Window::new(core),
                Some(recorder) => Window::new(core).recorded_by(recorder.lane(id)),
            },
            start: Window::new(core),
            queue: RefCell::new(StoreQueue::new(core.store_queue_entries as usize)),
            drain: Drain::new(in_order, duties.every_store || any_broken()),
            pending: Pending::new(duties.contexts),
            loads: LoadOrder::default(),
            private: RefCell::new(Private::new(&machine.l1, machine.l2.as_ref())),
            tlb: Tlb::new(&machine.tlb),
            memory,
            lowering,
            turn: Turn::default(),
            exchange: Exchange::default(),
            context: Context::default(),
            watches: Watches::default(),
            kept: RefCell::default(),
            notes: Notes::new(duties.notes),
            counts: Counts::default(),
            pcommits_completed: Cell::new(0),
            combines: Cell::new(false),
            dispatched: Cell::new(0),
            waited: Cell::new(0),
            interrupted: Cell::new(Interrupt::Unheeded),
            failed: Cell::new(0),
            hosts: match machine.cxl.coherence {
                HostCoherence::None => machine.hosts,
                HostCoherence::Hardware => 1,
            },
            spin: Spin::default(),
            frame: duties.stack.map(|base| Rc::new(Frame::new(base))),
            branches: Branches::new(core.prediction, core.predictor_entries),
            limits: Limits::new(machine, duties.nt_cached, duties.barriers || !in_order),
            hooks: Cell::new(Hooks::ALL),
            observer: Observer::new(duties),
        }
    }

    /// Whether the condition holds for this core. Gates hold only at the moment of their opening.
    pub fn holds(&self, until: Until<Key>) -> bool {
        match until {
            Until::Drained(context) => self.is_drained(context),
            Until::Visible => self.queue.borrow().len() == 0,
            Until::Open(_) => false,
        }
    }

    /// The admission of a primitive on this core: where stores drain out of order, a store barrier in the queue holds what
    /// is younger.
    pub fn admits(&self, primitive: Primitive, admission: Admission<Key>) -> Admission<Key> {
        if self.drain.in_order || primitive != Primitive::StoreBarrier || admission != Admission::Enter {
            return admission;
        }
        Admission::EnterHeld {
            until: Until::Visible,
            loads: true,
        }
    }

    /// The outcome of a primitive on the plain machine, if it waits for nothing.
    pub fn dispatches_at_once(&self, primitive: Primitive) -> Option<Dispatched> {
        match self.admits(primitive, Admission::plain(primitive)) {
            Admission::Pass => Some(Dispatched::Passed),
            Admission::Enter => Some(Dispatched::Entered),
            Admission::Hold(until) | Admission::HoldLoads(until) if self.holds(until) => Some(Dispatched::Passed),
            _ => None,
        }
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
    /// Contexts are told apart.
    pub contexts: bool,
    /// Which notes are kept with their times.
    pub notes: Keeps,
    /// Writes of words that have waiters.
    pub writes: Rc<Counted>,
    /// The trace of what the core executes.
    pub tracer: Option<Rc<Tracer>>,
    /// The recorder of the timeline.
    pub recorder: Option<Rc<Recorder>>,
    /// The outcomes of programs are logged.
    pub logs: bool,
    /// Where the program keeps its values, if not in registers ([`Frame`]).
    pub stack: Option<Addr>,
}
