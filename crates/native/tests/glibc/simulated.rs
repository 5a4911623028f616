//! The simulated C library, its instructions counted.

use crate::{Instructions, FAST, SMALL};
use std::cell::Cell;
use strandline_isa::{Addr, Alu, CoreId, Cpu, Flush, Image, Lowering, Memory, Note, Primitive, Rmw, Site, W};
use strandline_runtime::{
    finish, BuildPlan, CLibrary, FreeLists, Heap, LockKind, Locks, Log, LogLayout, Logging, Plain,
};

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
    type Tag = u64;

    fn core(&self) -> CoreId {
        self.plain.core()
    }
    fn lowering(&self) -> &Lowering {
        self.plain.lowering()
    }
    fn alu(&self, _: Alu, _: u64, _: u64) -> u64 {
        self.count();
        0
    }
    fn branch(&self, _: u64, _: bool, _: Site) {
        self.count();
    }
    fn load(&self, addr: Addr, _: u64, size: u8) -> W<'_, Self> {
        self.count();
        let value = self.plain.load(addr, 0, size).bits();
        if addr == self.mutex && value == 2 && self.waits.get() {
            self.memory.set_word(addr, 0);
        }
        W::new(self, value, 0)
    }
    fn store(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.count();
        self.plain.store(addr, 0, size, value, 0);
    }
    fn store_nt(&self, addr: Addr, _: u64, size: u8, value: u64, _: u64) {
        self.store(addr, 0, size, value, 0);
    }
    fn rmw(&self, addr: Addr, _: u64, op: Rmw, operand: u64, _: u64) -> W<'_, Self> {
        self.count();
        W::new(self, self.plain.rmw(addr, 0, op, operand, 0).bits(), 0)
    }
    fn flush(&self, _: Addr, _: u64, _: Flush) {
        self.count();
    }
    fn primitive(&self, _: Primitive) {}
    fn note(&self, _: Note) {}
    fn start_line(&self) {}
}

fn heap(seed: u64) -> Heap {
    Heap::new(&BuildPlan {
        threads: 1,
        window: None,
        seed,
        logging: Logging {
            lock: LockKind::Pthread,
            library: CLibrary::Glibc,
            ..Logging::UNDO
        },
    })
}

fn counting(memory: &Memory, mutex: Addr) -> Counting<'_> {
    Counting {
        plain: Plain::new(memory, CoreId(0), Lowering::NOTHING),
        memory,
        mutex,
        count: Cell::new(0),
        waits: Cell::new(false),
    }
}

/// The first numbers of `rand` with a seed.
pub fn numbers(seed: u64, count: usize) -> Vec<u64> {
    let mut heap = heap(seed);
    let logs = LogLayout::allocate(&mut heap, 2, 8);
    let memory = heap.memory();
    let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
    let mut lanes = [0, 1].map(|lane| logs.random(&cpu, seed, lane));
    let drawn = (0..count).map(|i| finish(|| lanes[i % 2].number()).map(|number| number.bits()));
    drawn.collect::<Result<_, _>>().expect("the generator is free")
}

/// Counts the instructions of the runtime's library.
pub fn counted() -> Instructions {
    let [lock, unlock, lock_behind, unlock_before] = mutex();
    Instructions {
        lock,
        unlock,
        lock_behind,
        unlock_before,
        rand: rand(),
        small: allocations(SMALL),
        fast: allocations(FAST),
    }
}

fn mutex() -> [u64; 4] {
    let mut heap = heap(1);
    let locks = Locks::allocate(&mut heap, 1);
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    let mutex = Addr(locks.range(1).start);
    let cpu = counting(&memory, mutex);
    let ended = finish(|| {
        let mut log = Log::open(&cpu, &logs, 0);
        let lock = locks.first(&cpu);
        let since = |before: u64| cpu.count.get() - before;
        let mut counts = [0; 4];
        for (held, [lock_count, unlock_count]) in [0, 1].into_iter().zip([[0, 1], [2, 3]]) {
            memory.set_word(mutex, held);
            cpu.waits.set(held != 0);
            let before = cpu.count.get();
            log.lock(lock);
            counts[lock_count] = since(before);
            let before = cpu.count.get();
            log.unlock(lock);
            counts[unlock_count] = since(before);
        }
        counts
    });
    ended.expect("the mutex becomes free")
}

fn rand() -> u64 {
    let mut heap = heap(1);
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    let cpu = counting(&memory, Addr(0));
    let mut random = logs.random(&cpu, 1, 0);
    finish(|| random.number()).expect("the generator is free");
    cpu.count.get()
}

/// Blocks as rows, whose chunks have eight bytes more than the block.
fn allocations(bytes: usize) -> [u64; 5] {
    let mut heap = heap(1);
    let rows = heap.rows(40, bytes as u64 + 8, 40);
    let free = FreeLists::allocate(&mut heap, rows, 1);
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    free.rebuild(&memory, |_| false);
    let cpu = counting(&memory, Addr(0));
    let ended = finish(|| {
        let log = Log::open(&cpu, &logs, 0);
        let malloc = || {
            let before = cpu.count.get();
            let row = free.take(&cpu, 0).expect("a row is free").row();
            (row, cpu.count.get() - before)
        };
        let give = |row| {
            let before = cpu.count.get();
            free.give(&cpu, 0, row, &log);
            cpu.count.get() - before
        };
        let (first, fresh) = malloc();
        let mut others = Vec::new();
        for _ in 1..8 {
            others.push(malloc().0);
        }
        malloc();
        let to_cache = give(first);
        let (first, from_cache) = malloc();
        for other in others {
            give(other);
        }
        let to_arena = give(first);
        for _ in 1..8 {
            malloc();
        }
        [fresh, to_cache, from_cache, to_arena, malloc().1]
    });
    ended.expect("the arena is free")
}
