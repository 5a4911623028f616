//! A back end that counts instructions.

use std::cell::{Cell, RefCell};
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Memory, Note, Primitive, Rmw, Site, W};
use strandline_runtime::Plain;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub tasks: u64,
    pub alu: u64,
    pub branches: u64,
    pub loads: u64,
    pub stores: u64,
    pub rmws: u64,
    pub flushes: u64,
    pub fences: u64,
    /// Those of the fences that are `pcommit`s.
    pub pcommits: u64,
}

impl Counts {
    pub fn instructions(&self) -> u64 {
        self.alu + self.branches + self.loads + self.stores + self.rmws + self.flushes + self.fences
    }

    fn with(&self, other: &Counts, join: impl Fn(u64, u64) -> u64) -> Counts {
        Counts {
            tasks: join(self.tasks, other.tasks),
            alu: join(self.alu, other.alu),
            branches: join(self.branches, other.branches),
            loads: join(self.loads, other.loads),
            stores: join(self.stores, other.stores),
            rmws: join(self.rmws, other.rmws),
            flushes: join(self.flushes, other.flushes),
            fences: join(self.fences, other.fences),
            pcommits: join(self.pcommits, other.pcommits),
        }
    }

    pub fn plus(&self, other: &Counts) -> Counts {
        self.with(other, |a, b| a + b)
    }

    fn since(&self, before: &Counts) -> Counts {
        self.with(before, |a, b| a - b)
    }

    pub fn per_task(&self, count: u64) -> f64 {
        count as f64 / self.tasks as f64
    }
}

pub struct Counting<'m> {
    plain: Plain<'m>,
    counts: Cell<Counts>,
    /// The counts of each task that has ended.
    tasks: RefCell<Vec<Counts>>,
    /// The counts when the task began.
    begun: Cell<Counts>,
}

impl<'m> Counting<'m> {
    pub fn new(memory: &'m Memory, lowering: Lowering) -> Self {
        Counting {
            plain: Plain::new(memory, CoreId(0), lowering),
            counts: Cell::default(),
            tasks: RefCell::default(),
            begun: Cell::default(),
        }
    }

    pub fn counts(&self) -> Counts {
        self.counts.get()
    }

    /// What each task executed.
    pub fn tasks(&self) -> Vec<Counts> {
        self.tasks.take()
    }

    fn count(&self, add: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts.get();
        add(&mut counts);
        self.counts.set(counts);
    }
}

impl Cpu for Counting<'_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.plain.core()
    }
    fn lowering(&self) -> &Lowering {
        self.plain.lowering()
    }
    fn alu(&self, _: Alu, _: u64, _: u64) -> u64 {
        self.count(|c| c.alu += 1);
        0
    }
    fn branch(&self, _: u64, _: bool, _: Site) {
        self.count(|c| c.branches += 1);
    }
    fn load(&self, addr: Addr, _: u64, size: u8) -> W<'_, Self> {
        self.count(|c| c.loads += 1);
        W::new(self, self.plain.load(addr, 0, size).bits(), 0)
    }
    fn store(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.count(|c| c.stores += 1);
        self.plain.store(addr, 0, size, value, 0);
    }
    fn store_nt(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.store(addr, 0, size, value, 0);
    }
    fn rmw(&self, addr: Addr, _: u64, op: Rmw, operand: u64, _: u64) -> W<'_, Self> {
        self.count(|c| c.rmws += 1);
        W::new(self, self.plain.rmw(addr, 0, op, operand, 0).bits(), 0)
    }
    fn flush(&self, _: Addr, _: u64, _: Flush) {
        self.count(|c| c.flushes += 1);
    }
    fn primitive(&self, primitive: Primitive) {
        if primitive != Primitive::StoreBarrier {
            self.count(|c| {
                c.fences += 1;
                c.pcommits += u64::from(primitive == Primitive::Pcommit);
            });
        }
    }
    fn note(&self, note: Note) {
        self.plain.note(note);
        match note {
            Note::TaskBegin => self.begun.set(self.counts()),
            Note::TaskEnd => {
                self.count(|c| c.tasks += 1);
                self.tasks.borrow_mut().push(self.counts().since(&self.begun.get()));
            }
            _ => {}
        }
    }
    fn start_line(&self) {
        self.counts.set(Counts::default());
    }
}
