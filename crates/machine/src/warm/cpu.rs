//! Cores without time: plain memory, the tags of the caches, translations and predictors.

use crate::cache::Untimed;
use crate::config::MachineConfig;
use crate::core::predictor::Branches;
use crate::core::tlb::{tables, Tlb};
use corosensei::Yielder;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use strandline_isa::{Addr, CoreId, Cpu, Flush, Lowering, Memory, Note, Primitive, Rmw, Site, W};

/// Accesses after which a thread's turn ends within a task: others may hold the lock that it waits for.
const TURN: u64 = 4096;

/// What cores without time share. A program has its turn until one of its tasks ends.
pub struct Shared {
    /// The tags of the caches.
    pub caches: RefCell<Untimed>,
    /// What the programs access.
    pub memory: Memory,
    /// Tasks that have ended.
    pub tasks: Cell<u64>,
    /// Turns since a task has ended.
    pub idle: Cell<u64>,
    /// Programs begin no more tasks.
    pub over: Cell<bool>,
    /// Accesses of all programs, which take the most of the host's time.
    pub work: Cell<u64>,
    /// The accesses with which this turn ends.
    until: Cell<u64>,
}

impl Shared {
    /// No task has begun.
    pub fn new(caches: Untimed, memory: Memory) -> Shared {
        Shared {
            caches: RefCell::new(caches),
            memory,
            tasks: Cell::new(0),
            idle: Cell::new(0),
            over: Cell::new(false),
            work: Cell::new(0),
            until: Cell::new(TURN),
        }
    }

    /// Counts an access; whether the turn ends before it.
    #[inline(always)]
    fn ends_turn(&self) -> bool {
        let work = self.work.get();
        self.work.set(work + 1);
        work >= self.until.get()
    }

    /// A turn begins.
    fn begin_turn(&self) {
        self.until.set(self.work.get() + TURN);
    }

    /// The turn ends before the next access.
    fn end_turn(&self) {
        self.until.set(self.work.get());
    }
}

/// What a core learns without time: its translations and predictions.
#[derive(Clone)]
pub struct Learnt {
    pub tlb: Tlb,
    pub branches: Branches,
    /// Branches and jumps that were mispredicted.
    pub mispredictions: Cell<u64>,
}

impl Learnt {
    /// Nothing yet.
    pub fn new(machine: &MachineConfig) -> Learnt {
        Learnt {
            tlb: Tlb::new(&machine.tlb),
            branches: Branches::new(machine.core.prediction, machine.core.predictor_entries),
            mispredictions: Cell::new(0),
        }
    }

    fn count(&self, predicted: bool) {
        self.mispredictions
            .set(self.mispredictions.get() + u64::from(!predicted));
    }
}

/// A core without time as its program sees it. Values have no tags.
pub struct UntimedCpu<'s> {
    pub id: CoreId,
    pub lowering: Lowering,
    pub shared: Rc<Shared>,
    pub learnt: Rc<Learnt>,
    /// The stack that the program runs on.
    pub stack: &'s Yielder<(), ()>,
}

impl UntimedCpu<'_> {
    /// Begins an access in this thread's turn.
    #[inline(always)]
    fn takes_turn(&self) {
        while self.shared.ends_turn() {
            self.shared.begin_turn();
            self.stack.suspend(());
        }
    }

    /// Begins an access to memory: the caches, once the page of the address is translated.
    #[inline(always)]
    fn access(&self, addr: Addr, caches: impl FnOnce(&mut Untimed)) {
        self.takes_turn();
        let mut tags = self.shared.caches.borrow_mut();
        if !self.learnt.tlb.has(addr) {
            self.walk(&mut tags, addr);
        }
        caches(&mut tags);
    }

    /// Walks the page tables for an access whose page the TLB does not have.
    #[inline(never)]
    fn walk(&self, caches: &mut Untimed, addr: Addr) {
        let tlb = &self.learnt.tlb;
        let Some(walk) = tlb.begin_walk(addr, 0, 0) else {
            return;
        };
        for level in (0..walk.levels).rev() {
            caches.read(self.id, tables::line(walk.page, level));
            tlb.loaded(&walk, level, 0);
        }
        tlb.end_walk(&walk, 0, 0);
    }
}

impl Cpu for UntimedCpu<'_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.id
    }

    fn lowering(&self) -> &Lowering {
        &self.lowering
    }

    fn branch(&self, _: u64, taken: bool, site: Site) {
        self.learnt.count(self.learnt.branches.predictor.predict(site.0, taken));
    }

    fn jump(&self, _: u64, to: u64, site: Site) {
        self.learnt.count(self.learnt.branches.targets.predict(site.0, to));
    }

    fn load(&self, addr: Addr, _: u64, size: u8) -> W<'_, Self> {
        self.access(addr, |caches| caches.read(self.id, addr.line()));
        self.word(self.shared.memory.read(addr, size))
    }

    fn store(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.access(addr, |caches| caches.write(self.id, addr.line()));
        self.shared.memory.write(addr, size, value);
    }

    fn store_nt(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.access(addr, |caches| caches.write_nt(self.id, addr.line()));
        self.shared.memory.write(addr, size, value);
    }

    fn rmw(&self, addr: Addr, _: u64, op: Rmw, operand: u64, _: u64) -> W<'_, Self> {
        self.access(addr, |caches| caches.write(self.id, addr.line()));
        let old = self.shared.memory.read(addr, 8);
        self.shared.memory.write(addr, 8, op.apply(old, operand));
        self.word(old)
    }

    fn flush(&self, addr: Addr, _: u64, flush: Flush) {
        self.shared.caches.borrow_mut().flush(addr.line(), flush);
    }

    fn primitive(&self, _: Primitive) {}

    fn note(&self, note: Note) {
        if note == Note::TaskEnd {
            self.shared.tasks.set(self.shared.tasks.get() + 1);
            self.shared.idle.set(0);
            self.shared.end_turn();
        }
    }

    fn spins(&self) {
        self.shared.end_turn();
    }

    fn sleep<'c>(&'c self, word: W<'c, Self>, value: u64) {
        while self.shared.memory.read(Addr(word.bits()), 4) == value {
            self.shared.begin_turn();
            self.stack.suspend(());
        }
    }

    fn start_line(&self) {
        self.stack.suspend(());
    }

    fn has_warm_task(&self) -> bool {
        self.takes_turn();
        !self.shared.over.get()
    }
}
