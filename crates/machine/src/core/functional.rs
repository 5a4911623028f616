//! Execution without time: plain memory, and the tags of caches.

use super::predictor::Branches;
use super::tlb::{tables, Tlb};
use super::{Core, Duties, Kind, Mode, Window};
use crate::cache::Untimed;
use crate::config::MachineConfig;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use strandline_isa::{Addr, CoreId, Flush, Lowering, Memory, Note, Rmw, Site};

/// Accesses after which a thread's turn ends within a task: others may hold the lock that it waits for.
const TURN: u32 = 4096;

/// What cores without time share. A program has its turn until one of its tasks ends.
pub struct Functional {
    /// The tags of the caches.
    pub caches: RefCell<Untimed>,
    /// Tasks that have ended.
    pub tasks: Cell<u64>,
    /// Turns since a task has ended.
    pub idle: Cell<u64>,
    /// Programs begin no more tasks.
    pub over: Cell<bool>,
    /// Accesses of all programs, which take the most of the host's time.
    pub work: Cell<u64>,
    /// Accesses in this turn.
    accesses: Cell<u32>,
}

impl Functional {
    /// No task has begun.
    pub fn new(caches: Untimed) -> Functional {
        Functional {
            caches: RefCell::new(caches),
            tasks: Cell::new(0),
            idle: Cell::new(0),
            over: Cell::new(false),
            work: Cell::new(0),
            accesses: Cell::new(0),
        }
    }

    /// Counts an access; whether the turn ends before it.
    #[inline(always)]
    pub fn ends_turn(&self) -> bool {
        let accesses = self.accesses.get();
        self.accesses.set(accesses + 1);
        self.work.set(self.work.get() + 1);
        accesses >= TURN && {
            self.accesses.set(0);
            true
        }
    }

    /// Whether the program begins another task.
    pub fn goes_on(&self) -> bool {
        !self.over.get()
    }

    /// A turn begins.
    pub fn begin_turn(&self) {
        self.accesses.set(0);
    }

    /// The turn ends before the next access.
    pub fn end_turn(&self) {
        self.accesses.set(TURN);
    }

    /// A program has ended a task.
    pub fn note(&self, note: Note) {
        if note == Note::TaskEnd {
            self.tasks.set(self.tasks.get() + 1);
            self.idle.set(0);
            self.end_turn();
        }
    }

    /// A flush.
    pub fn flush(&self, addr: Addr, flush: Flush) {
        self.caches.borrow_mut().flush(addr.line(), flush);
    }
}

/// What a core without time has learnt: its translations and predictions.
#[derive(Clone)]
pub struct Learnt {
    tlb: Tlb,
    branches: Branches,
}

impl Core {
    /// What it has learnt.
    pub fn into_learnt(self) -> Learnt {
        Learnt {
            tlb: self.tlb,
            branches: self.branches,
        }
    }

    /// Begins with what a core without time has learnt.
    pub fn begin_with(&self, learnt: Learnt) {
        self.branches.restore(&learnt.branches);
        self.tlb.begin_with(learnt.tlb);
    }

    /// The predictor learns a branch, which takes no time.
    pub(super) fn learns_branch(&self, taken: bool, site: Site) {
        if !self.branches.predictor.predict(site.0, taken) {
            self.counts.mispredictions.set(self.counts.mispredictions.get() + 1);
        }
    }

    /// The predictor of targets learns an indirect jump, which takes no time.
    pub(super) fn learns_jump(&self, to: u64, site: Site) {
        if !self.branches.targets.predict(site.0, to) {
            self.counts.mispredictions.set(self.counts.mispredictions.get() + 1);
        }
    }

    /// A core without time.
    pub fn functional(
        id: CoreId,
        machine: &MachineConfig,
        memory: Rc<Memory>,
        lowering: Lowering,
        shared: Rc<Functional>,
    ) -> Core {
        Core {
            mode: Mode::Functional(shared),
            window: Window::without_registers(&machine.core),
            ..Core::new(id, machine, memory, lowering, Duties::default())
        }
    }

    /// Walks the page tables for an access whose page the TLB does not have.
    #[inline(always)]
    fn translate_functionally(&self, caches: &mut Untimed, addr: Addr) {
        if self.translate(addr, 0).is_err() {
            self.walk_functionally(caches, addr);
        }
    }

    #[inline(never)]
    fn walk_functionally(&self, caches: &mut Untimed, addr: Addr) {
        let Some(walk) = self.tlb.begin_walk(addr, 0, 0) else {
            return;
        };
        for level in (0..walk.levels).rev() {
            caches.read(self.id, tables::line(walk.page, level));
            self.tlb.loaded(&walk, level, 0);
        }
        self.tlb.end_walk(&walk, 0, 0);
    }

    /// A load: its value, in this thread's turn.
    #[inline(never)]
    pub fn load_functionally(&self, functional: &Functional, addr: Addr, size: u8) -> u64 {
        let caches = &mut *functional.caches.borrow_mut();
        self.translate_functionally(caches, addr);
        caches.read(self.id, addr.line());
        self.memory.read(addr, size)
    }

    /// A store, temporal or not.
    #[inline(never)]
    pub fn store_functionally(&self, functional: &Functional, addr: Addr, kind: Kind) {
        let caches = &mut *functional.caches.borrow_mut();
        self.translate_functionally(caches, addr);
        let (size, value) = match kind {
            Kind::StoreNt { size, value } => {
                caches.write_nt(self.id, addr.line());
                (size, value)
            }
            Kind::Store { size, value } => {
                caches.write(self.id, addr.line());
                (size, value)
            }
            _ => unreachable!("a store"),
        };
        self.memory.write(addr, size, value);
    }

    /// A locked instruction: its old value.
    pub fn locked_functionally(&self, functional: &Functional, addr: Addr, op: Rmw, operand: u64) -> u64 {
        let caches = &mut *functional.caches.borrow_mut();
        self.translate_functionally(caches, addr);
        caches.write(self.id, addr.line());
        let old = self.memory.read(addr, 8);
        self.memory.write(addr, 8, op.apply(old, operand));
        old
    }
}
