//! The simulated mutex, its instructions counted.

use crate::Instructions;
use std::cell::Cell;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Image, Lowering, Memory, Note, Primitive, Rmw, Site, W};
use strandline_runtime::{block_on, BuildPlan, Heap, LockKind, Locks, Log, LogLayout, Logging, Plain};

/// A back end that counts instructions. What waits for the mutex finds it free when it has looked twice.
struct Counting<'m> {
    plain: Plain<'m>,
    memory: &'m Memory,
    mutex: Addr,
    count: Cell<u64>,
    waits: Cell<bool>,
}

impl Counting<'_> {
    fn count(&self) {
        self.count.set(self.count.get() + 1);
    }
}

impl Cpu for Counting<'_> {
    type Tag = ();

    fn core(&self) -> CoreId {
        self.plain.core()
    }
    fn lowering(&self) -> &Lowering {
        self.plain.lowering()
    }
    fn alu(&self, _: Alu, (): (), (): ()) {
        self.count();
    }
    fn branch(&self, (): (), _: bool, _: Site) {
        self.count();
    }
    async fn load(&self, addr: Addr, (): (), size: u8) -> W<'_, Self> {
        self.count();
        let value = self.plain.load(addr, (), size).await.bits();
        if addr == self.mutex && value == 2 && self.waits.get() {
            self.memory.set_word(addr, 0);
        }
        W::new(self, value, ())
    }
    async fn store(&self, addr: Addr, (): (), size: u8, value: u64, (): ()) {
        self.count();
        self.plain.store(addr, (), size, value, ()).await;
    }
    async fn store_nt(&self, addr: Addr, (): (), size: u8, value: u64, (): ()) {
        self.store(addr, (), size, value, ()).await;
    }
    async fn rmw(&self, addr: Addr, (): (), op: Rmw, operand: u64, (): ()) -> W<'_, Self> {
        self.count();
        W::new(self, self.plain.rmw(addr, (), op, operand, ()).await.bits(), ())
    }
    async fn flush(&self, _: Addr, (): (), _: Flush) {
        self.count();
    }
    async fn primitive(&self, _: Primitive) {}
    fn note(&self, _: Note) {}
    async fn start_line(&self) {}
}

/// Counts the instructions of the runtime's mutex.
pub fn counted() -> Instructions {
    let mut heap = Heap::new(&BuildPlan {
        threads: 1,
        window: None,
        seed: 1,
        logging: Logging {
            lock: LockKind::Pthread,
            ..Logging::UNDO
        },
    });
    let locks = Locks::allocate(&mut heap, 1);
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    let mutex = Addr(locks.range(1).start);
    let cpu = Counting {
        plain: Plain::new(&memory, CoreId(0), Lowering::NOTHING),
        memory: &memory,
        mutex,
        count: Cell::new(0),
        waits: Cell::new(false),
    };
    let ended = block_on(async {
        let mut log = Log::open(&cpu, &logs, 0).await;
        let lock = locks.first(&cpu);
        let since = |before: u64| cpu.count.get() - before;
        let mut counts = [0; 4];
        for (held, [lock_count, unlock_count]) in [0, 1].into_iter().zip([[0, 1], [2, 3]]) {
            memory.set_word(mutex, held);
            cpu.waits.set(held != 0);
            let before = cpu.count.get();
            log.lock(lock).await;
            counts[lock_count] = since(before);
            let before = cpu.count.get();
            log.unlock(lock).await;
            counts[unlock_count] = since(before);
        }
        counts
    });
    let [lock, unlock, lock_behind, unlock_before] = ended.expect("the mutex becomes free");
    Instructions {
        lock,
        unlock,
        lock_behind,
        unlock_before,
    }
}
