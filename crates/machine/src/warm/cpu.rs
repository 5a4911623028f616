//! The functional back end of a program that warms caches.

use super::Shared;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Lowering, Note, Primitive, Rmw, Scheduling, Site, W};

/// A core over plain memory and the tags of caches. Everything is ready at once. Its thread gives its turn to the next
/// one after each task.
pub struct WarmCpu {
    pub(super) shared: Rc<Shared>,
    pub(super) core: CoreId,
}

/// Ready in this thread's turn.
struct Turn<'c>(&'c Shared);

impl Future for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match self.0.ends_turn() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

impl Cpu for WarmCpu {
    type Tag = ();

    fn core(&self) -> CoreId {
        self.core
    }

    fn lowering(&self) -> &Lowering {
        &self.shared.lowering
    }

    #[inline(always)]
    fn alu(&self, _op: Alu, _a: (), _b: ()) {}

    #[inline(always)]
    fn branch(&self, _condition: (), _taken: bool, _site: Site) {}

    #[inline(always)]
    async fn load(&self, addr: Addr, _address: (), size: u8) -> W<'_, Self> {
        Turn(&self.shared).await;
        self.shared.caches.borrow_mut().read(self.core, addr.line());
        W::new(self, self.shared.memory.read(addr, size), ())
    }

    async fn store(&self, addr: Addr, _address: (), size: u8, value: u64, _data: ()) {
        Turn(&self.shared).await;
        self.shared.caches.borrow_mut().write(self.core, addr.line());
        self.shared.memory.write(addr, size, value);
    }

    async fn store_nt(&self, addr: Addr, _address: (), size: u8, value: u64, _data: ()) {
        Turn(&self.shared).await;
        self.shared.caches.borrow_mut().write_nt(self.core, addr.line());
        self.shared.memory.write(addr, size, value);
    }

    async fn rmw(&self, addr: Addr, _address: (), op: Rmw, operand: u64, _data: ()) -> W<'_, Self> {
        Turn(&self.shared).await;
        self.shared.caches.borrow_mut().write(self.core, addr.line());
        let old = self.shared.memory.read(addr, 8);
        self.shared.memory.write(addr, 8, op.apply(old, operand));
        W::new(self, old, ())
    }

    async fn flush(&self, addr: Addr, _address: (), flush: Flush) {
        self.shared.caches.borrow_mut().flush(addr.line(), flush);
    }

    async fn primitive(&self, _primitive: Primitive) {}

    fn note(&self, note: Note) {
        if note == Note::TaskEnd {
            self.shared.task_ended();
        }
    }

    async fn give_way(&self) {
        self.shared.end_turn();
        Turn(&self.shared).await;
    }

    async fn start_line(&self) {}
}

impl Scheduling for WarmCpu {
    #[inline(always)]
    fn jump(&self, _target: (), _to: u64, _site: Site) {}

    fn cycles(&self) -> W<'_, Self> {
        self.word(0)
    }
}
