//! A core of the adversary's machine.

use super::{Adversary, Speculation, AGAIN_ONE_IN, INTERRUPTED_ONE_IN, MISLED_ONE_IN};
use crate::stacks::Stack;
use std::cell::Cell;
use strandline_isa::{Addr, CoreId, Cpu, Flush, Lowering, Note, Plain, Primitive, Rmw, W};

/// One core.
pub struct AdversaryCpu<'a, 'm> {
    machine: &'a Adversary<'m>,
    core: CoreId,
    /// The stack that its program runs on.
    stack: &'a Stack<(), ()>,
    /// The context of the flushes from here on.
    context: Cell<u8>,
    speculation: Cell<Speculation>,
    /// A stale load has been detected, and the program has not been interrupted yet.
    found: Cell<bool>,
}

impl<'m> Adversary<'m> {
    /// Core `core` of the machine, whose program runs on `stack`.
    pub(super) fn cpu<'a>(&'a self, core: usize, stack: &'a Stack<(), ()>) -> AdversaryCpu<'a, 'm> {
        AdversaryCpu {
            machine: self,
            core: CoreId(core as u16),
            stack,
            context: Cell::new(0),
            speculation: Cell::default(),
            found: Cell::new(false),
        }
    }
}

impl AdversaryCpu<'_, '_> {
    /// Sometimes yields to other threads, and sometimes writes lines back.
    fn turn(&self) {
        let waits = self.machine.state.borrow_mut().rng.one_in(4);
        if waits {
            self.stack.suspend(());
        }
        let state = &mut *self.machine.state.borrow_mut();
        if state.rng.one_in(self.machine.play.evict_one_in) {
            state.evict(self.machine.memory);
        }
    }

    fn write(&self, addr: Addr, size: u8, value: u64) {
        let state = &mut *self.machine.state.borrow_mut();
        let own = self.core.index();
        if let Some(writer) = state.lines.before(addr.line()).filter(|writer| *writer != own) {
            state.drain(writer, None);
        }
        self.machine.memory.write(addr, size, value);
        state.lines.stored(own, addr);
    }

    /// The bytes of a load: on hardware that speculates, the durable ones may replace the stored
    /// ones.
    fn seen(&self, addr: Addr, size: u8) -> u64 {
        let stored = self.machine.memory.read(addr, size);
        let is_open = self.machine.lowering.interrupts() && self.speculation.get() != Speculation::Aborts;
        let state = &mut *self.machine.state.borrow_mut();
        if !is_open || !addr.is_persistent() || !state.rng.one_in(MISLED_ONE_IN) {
            return stored;
        }
        let durable = state.lines.durable().read(addr, size);
        if durable != stored {
            self.speculation.set(Speculation::Misled);
        }
        durable
    }

    /// Waits for the core's flushes of this context, or of all.
    fn drain(&self, context: Option<u8>) {
        self.machine.state.borrow_mut().drain(self.core.index(), context);
    }
}

impl Cpu for AdversaryCpu<'_, '_> {
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.core
    }

    fn lowering(&self) -> &Lowering {
        &self.machine.lowering
    }

    fn load(&self, addr: Addr, _address: u64, size: u8) -> W<'_, Self> {
        self.turn();
        W::new(self, self.seen(addr, size), 0)
    }

    fn store(&self, addr: Addr, _address: u64, size: u8, value: u64, _data: u64) {
        self.turn();
        self.write(addr, size, value);
    }

    fn store_nt(&self, addr: Addr, address: u64, size: u8, value: u64, data: u64) {
        self.store(addr, address, size, value, data);
        self.flush(addr, address, Flush::Clwb);
    }

    fn rmw(&self, addr: Addr, _address: u64, op: Rmw, operand: u64, _data: u64) -> W<'_, Self> {
        self.turn();
        let old = self.machine.memory.read(addr, 8);
        self.write(addr, 8, op.apply(old, operand));
        W::new(self, old, 0)
    }

    fn flush(&self, addr: Addr, _address: u64, _flush: Flush) {
        self.turn();
        let mut state = self.machine.state.borrow_mut();
        state
            .lines
            .flush(self.core.index(), self.context.get(), addr, self.machine.memory);
    }

    fn primitive(&self, primitive: Primitive) {
        self.turn();
        if self.machine.lowering.validate.contains(&primitive) {
            self.found.set(self.speculation.get() == Speculation::Misled);
            return;
        }
        match primitive {
            Primitive::PersistBarrier => self.machine.state.borrow_mut().lines.barrier(self.core.index()),
            Primitive::NewStrand => self.machine.state.borrow_mut().lines.new_strand(self.core.index()),
            Primitive::Cfence(context) => self.drain(Some(context)),
            Primitive::Setctx(context) => self.context.set(context),
            other => match other.plain() {
                Plain::Sfence | Plain::Mfence => self.drain(None),
                Plain::Queued | Plain::Dmb | Plain::Nothing => {}
            },
        }
    }

    fn interrupted(&self) -> bool {
        if !self.machine.lowering.interrupts() || self.speculation.get() == Speculation::Aborts {
            return false;
        }
        let early = self.machine.state.borrow_mut().rng.one_in(INTERRUPTED_ONE_IN);
        let comes = self.found.take() || early;
        if comes {
            self.speculation.set(Speculation::Aborts);
        }
        comes
    }

    fn note(&self, note: Note) {
        let starts_anew = match note {
            Note::RegionDurable => true,
            Note::RegionAbort => self.machine.state.borrow_mut().rng.one_in(AGAIN_ONE_IN),
            _ => false,
        };
        if starts_anew {
            self.speculation.set(Speculation::Right);
            self.found.set(false);
        }
        self.machine.state.borrow_mut().watch.note(self.core, note);
    }

    fn start_line(&self) {
        self.machine.waiting.set(self.machine.waiting.get() + 1);
        while self.machine.waiting.get() < self.machine.cores {
            self.stack.suspend(());
        }
    }
}
