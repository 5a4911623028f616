//! Cores that ask the design about one instruction after the other.

use super::super::buffer::{Kept, What};
use super::super::*;
use crate::mock::{Both, X, Y, Z, ZERO};
use std::collections::BTreeMap;
use strandline_design::ControllerId;
use strandline_isa::{Addr, Flush, LINE_BYTES};

pub const A: Addr = X;
pub const B: Addr = Y;
pub const C: Addr = Z;
pub const D: Addr = Addr(Z.0 + LINE_BYTES);

/// The design, its machine, and what the cores' stores are that the design keeps.
pub struct Rig {
    pub both: Both<Speculative>,
    /// Their contexts.
    kept: BTreeMap<(CoreId, StoreId), u8>,
}

impl Rig {
    /// `sp` on a machine of two controllers without ADR.
    pub fn new(sets: &[(&str, u64)]) -> Rig {
        Rig::of(Speculative::sp(), sets)
    }

    pub fn of(design: Speculative, sets: &[(&str, u64)]) -> Rig {
        let mut both = Both::of(design).with(sets);
        both.hw.adr = false;
        Rig {
            both,
            kept: BTreeMap::new(),
        }
    }

    /// A store is at the head of the store queue: what becomes of it.
    pub fn stores(&mut self, core: CoreId, addr: Addr, value: u64) -> Departure<Gate> {
        let id = self.both.hw.spec.enter(core);
        self.stores_again(core, id, addr, value)
    }

    /// A store of this address and value once more, after it had to wait.
    pub fn stores_again(&mut self, core: CoreId, id: StoreId, addr: Addr, value: u64) -> Departure<Gate> {
        let context = self.both.hw.spec.context(core);
        let departure = self.both.design.keep(
            &mut self.both.hw,
            core,
            Write {
                kind: WriteKind::Store,
                store: store(addr, value),
            },
            id,
        );
        match departure {
            Departure::Go => self.both.hw.spec.done(core, context),
            Departure::Keep => _ = self.kept.insert((core, id), context),
            Departure::Wait(_) => {}
        }
        self.both.drain();
        departure
    }

    /// A store that the design keeps.
    pub fn store(&mut self, addr: Addr, value: u64) {
        assert_eq!(self.stores(ZERO, addr, value), Departure::Keep);
    }

    /// A store that the machine performs.
    pub fn plain_store(&mut self, addr: Addr) {
        assert_eq!(self.stores(ZERO, addr, 0), Departure::Go);
    }

    /// A core that speculates, with a locked instruction on B that is being performed: all before it
    /// is done.
    pub fn locking() -> Rig {
        let mut rig = Rig::speculating(&[]);
        rig.store(A, 1);
        assert_eq!(rig.locks(B), Departure::Keep);
        rig.answer_pcommit();
        rig.perform();
        rig.tick();
        rig
    }

    /// A flush of core 0 is at the head of the store queue.
    pub fn flushes(&mut self, addr: Addr, flush: Flush) -> Departure<Gate> {
        let id = self.both.hw.spec.enter(ZERO);
        self.departs(Ordering::Flush(addr.line(), flush), id)
    }

    /// A `clwb` of core 0 that the design keeps.
    pub fn clwb(&mut self, addr: Addr) {
        assert_eq!(self.flushes(addr, Flush::Clwb), Departure::Keep);
    }

    /// A `pcommit` of core 0, which the design always takes.
    pub fn pcommit(&mut self) {
        let admission = self.both.design.primitive(&mut self.both.hw, ZERO, Primitive::Pcommit);
        assert_eq!(admission, Admission::Enter);
        let id = self.both.hw.spec.enter(ZERO);
        assert_eq!(
            self.departs(Ordering::Primitive(Primitive::Pcommit), id),
            Departure::Keep
        );
    }

    fn departs(&mut self, ordering: Ordering, id: StoreId) -> Departure<Gate> {
        self.both.hw.spec.turn = id;
        let context = self.both.hw.spec.context(ZERO);
        let departure = self.both.design.departs(&mut self.both.hw, ZERO, ordering, context);
        self.both.drain();
        departure
    }

    /// A fence of core 0 is dispatched.
    pub fn fences(&mut self, fence: Primitive) -> Admission<Gate> {
        let admission = self.both.design.primitive(&mut self.both.hw, ZERO, fence);
        self.both.drain();
        admission
    }

    /// An `sfence` that retires at once.
    pub fn sfence(&mut self) {
        assert_eq!(self.fences(Primitive::Sfence), Admission::Pass);
    }

    /// `pcommit; sfence`.
    pub fn barrier(&mut self) {
        self.pcommit();
        self.sfence();
    }

    /// A locked instruction of core 0 is about to write.
    pub fn locks(&mut self, addr: Addr) -> Departure<Gate> {
        self.load(addr, 8);
        let id = StoreId(self.both.hw.spec.newest(ZERO).0 + 1);
        let locked = Write {
            kind: WriteKind::Locked,
            store: store(addr, 1),
        };
        let departure = self.both.design.keep(&mut self.both.hw, ZERO, locked, id);
        if departure == Departure::Keep {
            assert_eq!(self.both.hw.spec.enter(ZERO), id);
            let context = self.both.hw.spec.context(ZERO);
            self.kept.insert((ZERO, id), context);
        }
        self.both.drain();
        departure
    }

    /// A load of core 0.
    pub fn load(&mut self, addr: Addr, size: u8) -> Forward<Gate> {
        self.both.design.load(&mut self.both.hw, ZERO, Load { addr, size })
    }

    /// All controllers answer the oldest `pcommit`.
    pub fn answer_pcommit(&mut self) {
        for controller in 0..self.both.hw.controllers {
            self.both.answer(ControllerId(controller as u16));
        }
    }

    /// The machine performs the store that the design has asked it for: its number.
    pub fn perform(&mut self) -> StoreId {
        let (core, id, at) = self.both.hw.spec.performs.remove(0);
        self.both.hw.now = self.both.hw.now.max(at.0);
        let context = self.kept.remove(&(core, id)).expect("a store that the design keeps");
        self.both.hw.spec.done(core, context);
        self.both.design.performed(&mut self.both.hw, core, id);
        self.both.drain();
        id
    }

    /// The stores that the design has asked the machine to perform.
    pub fn performing(&self) -> Vec<StoreId> {
        self.both.hw.spec.performs.iter().map(|(_, id, _)| *id).collect()
    }

    /// A cycle passes.
    pub fn tick(&mut self) {
        self.both.hw.now += 1;
        self.both.deliver();
        self.both.drain();
    }

    /// Everything that can go on goes on; the stores and flushes that left the buffer, in order.
    pub fn run_to_end(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for _ in 0..200 {
            while !self.both.hw.spec.performs.is_empty() {
                left.push(format!("st {}", self.perform().0));
            }
            while !self.both.hw.spec.flushes.is_empty() {
                left.push(format!("clwb {}", name(self.both.flushed())));
            }
            if !self.both.hw.spec.commits.is_empty() {
                left.push("pcommit".to_owned());
                self.answer_pcommit();
            }
            self.tick();
        }
        left
    }

    /// Another core asks core 0 for a line; whether core 0 was rolled back.
    pub fn asked(&mut self, addr: Addr, access: Access) -> bool {
        let line = addr.line();
        let hw = &mut self.both.hw;
        match self.both.design.snooped(hw, ZERO, crate::mock::ONE, line, access) {
            Snoop::Grant(None) => false,
            Snoop::RollBack(checkpoint) => {
                self.roll_back(checkpoint);
                true
            }
            other => panic!("granted, or rolled back: {other:?}"),
        }
    }

    /// As the machine does it: younger checkpoints are gone, and younger stores are void.
    fn roll_back(&mut self, checkpoint: Checkpoint) {
        let spec = &mut self.both.hw.spec;
        let found = spec.checkpoints.iter().position(|(_, kept, _)| *kept == checkpoint);
        let (_, _, newest) = spec.checkpoints[found.expect("a checkpoint that exists")];
        spec.checkpoints.truncate(found.unwrap_or(0));
        spec.performs.retain(|(_, id, _)| *id <= newest);
        let void = |(_, id): &(CoreId, StoreId)| *id > newest;
        for key in self.kept.keys().copied().filter(void).collect::<Vec<_>>() {
            let context = self.kept.remove(&key).expect("a key");
            spec.done(ZERO, context);
        }
        spec.refuses = true;
        self.both.design.rolled_back(&mut self.both.hw, ZERO, checkpoint);
        let context = self.both.design.core(ZERO).context;
        self.both.hw.spec.contexts.insert(ZERO, context);
        self.both.drain();
    }

    /// The buffer of core 0, oldest write first.
    pub fn buffer(&mut self) -> Vec<String> {
        let mut buffer = self.both.design.core(ZERO).buffer.clone();
        let mut entries = Vec::new();
        while let Some(Kept { id, what }) = buffer.front() {
            entries.push(match what {
                What::Store(store) => format!("st {}", name(store.line())),
                What::Flush(line, ..) => format!("clwb {}", name(line)),
                What::Pcommit(_) => "pcommit".to_owned(),
            });
            buffer.remove(id);
        }
        entries
    }

    /// Checkpoints of core 0.
    pub fn checkpoints(&self) -> usize {
        self.both.hw.spec.kept(ZERO).len()
    }

    /// Speculative epochs of core 0.
    pub fn epochs(&mut self) -> usize {
        self.both.design.core(ZERO).epochs.len()
    }

    /// Whether what the core announced so far is true.
    pub fn is_certain(&self) -> bool {
        self.both.is_certain(ZERO)
    }

    /// The core has begun to speculate: a `clwb` and a `pcommit` are outstanding.
    pub fn speculating(sets: &[(&str, u64)]) -> Rig {
        let mut rig = Rig::new(sets);
        rig.barrier();
        assert_eq!((rig.epochs(), rig.checkpoints()), (1, 1));
        rig
    }
}

fn store(addr: Addr, value: u64) -> Store {
    Store { addr, size: 8, value }
}

pub fn name(line: Line) -> &'static str {
    let names = [(A, "A"), (B, "B"), (C, "C"), (D, "D")];
    let found = names.into_iter().find(|(addr, _)| addr.line() == line);
    found.expect("a named line").1
}
