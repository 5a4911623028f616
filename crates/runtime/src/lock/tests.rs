//! Each kind of lock excludes others, on a back end whose threads take turns at random.

use super::{Hand, LockKind, LockUse, Locks};
use crate::adversary::{Adversary, Play, FENCED};
use crate::Heap;
use strandline_isa::{Addr, Cpu, Image, W};

const THREADS: usize = 4;
const ROUNDS: u64 = 50;

/// How threads enter.
#[derive(Clone, Copy)]
enum Entry {
    Annotated,
    Bare,
    Stamped,
    /// Nothing excludes others.
    Open,
}

/// Increments a word by a load and a store, behind the lock.
fn increment<C: Cpu>(cpu: &C, hand: Hand, entry: Entry, lock: W<'_, C>, word: Addr) {
    for round in 0..ROUNDS {
        match entry {
            Entry::Annotated => hand.lock(cpu, cpu.word(lock.bits())),
            Entry::Bare => hand.acquire(cpu, cpu.word(lock.bits()), false),
            Entry::Stamped => {
                let stamp = hand.lock_stamped(cpu, cpu.word(lock.bits()));
                assert!(stamp.bits() <= ROUNDS, "a stamp that nobody left: {:#x}", stamp.bits());
            }
            Entry::Open => {}
        }
        let counter = cpu.word(word.0);
        let value = counter.load();
        counter.store(value + 1);
        match entry {
            Entry::Annotated => hand.unlock(cpu, cpu.word(lock.bits())),
            Entry::Bare => hand.release(cpu, cpu.word(lock.bits()), false),
            Entry::Stamped => hand.unlock_stamped(cpu, cpu.word(lock.bits()), cpu.word(round)),
            Entry::Open => {}
        }
    }
}

/// The word in the end.
fn counted(kind: LockKind, entry: Entry, seed: u64) -> u64 {
    let mut heap = Heap::default();
    heap.logging.lock = kind;
    let locks = Locks::allocate(&mut heap, 3);
    let hands = LockUse::allocate(&mut heap, THREADS);
    let word = heap.dram(8);
    let memory = heap.memory();
    let mut inspect = |_: &strandline_isa::Memory, _: &crate::adversary::Watch| {};
    let play = Play { seed, evict_one_in: 0 };
    let machine = Adversary::new(&memory, THREADS, FENCED, play, &mut inspect);
    let run = machine.run(&|lane, cpu| {
        let lock = locks.at(cpu.word(1));
        increment(cpu, hands.of(lane), entry, lock, word);
    });
    run.expect("each gets its turn");
    memory.word(word)
}

#[test]
fn one_thread_at_a_time_holds_a_lock() {
    for kind in LockKind::ALL {
        for entry in [Entry::Annotated, Entry::Bare, Entry::Stamped] {
            for seed in 1..=8 {
                let found = counted(kind, entry, seed);
                assert_eq!(found, THREADS as u64 * ROUNDS, "{} with seed {seed}", kind.name());
            }
        }
    }
}

/// So the test above can fail.
#[test]
fn without_a_lock_increments_are_lost() {
    assert!(counted(LockKind::Test, Entry::Open, 1) < THREADS as u64 * ROUNDS);
}

#[test]
fn every_kind_has_a_name() {
    let names: Vec<&str> = LockKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, ["test", "backoff", "ticket", "mcs", "pthread"]);
}
