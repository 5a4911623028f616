//! Queue locks, in the form of the K42 operating system (Scott, Shared-Memory Synchronization, 4.3.2): a lane waits in a
//! line of its own, and copies its successor into the lock when it is its turn. So one line a lane is enough for any
//! number of locks.

use super::before_release;
use strandline_isa::{sites, Cpu, Primitive, Site, W};

sites! {
    QUEUE_IS_EMPTY = 0x9c20_eb20;
    QUEUE_STAYED_EMPTY = 0x5d50_ecad;
    QUEUE_STAYED = 0x3e69_81b5;
    TURN_HAS_COME = 0xa749_5bd4;
    NOBODY_WAITS = 0xf79e_9b84;
    NOBODY_CAME = 0x849f_aec0;
    NOT_LINKED_YET = 0xa284_f3a4;
    NOBODY_IS_NEXT = 0xbc40_c4bf;
    LOCK_IS_LEFT = 0x4fcc_5b04;
    NEXT_NOT_LINKED_YET = 0xe3c5_ef29;
}

/// Offset of the first that waits, or in a waiting lane's line of the one behind it. Before it stands the last that waits
/// (the lock itself, if it is held and nobody does), or in a waiting lane's line whether it still does.
const NEXT: u64 = 8;

const WAITS: u64 = 1;

pub(super) fn take<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, own: W<'c, C>) {
    loop {
        let last = lock.load();
        if last.is(0).branch(QUEUE_IS_EMPTY) {
            if lock.compare_swap(last, lock).is(0).branch(QUEUE_STAYED_EMPTY) {
                return;
            }
        } else {
            own.store(cpu.word(WAITS));
            own.at(NEXT).store(cpu.word(0));
            cpu.primitive(Primitive::StoreBarrier);
            if lock.compare_swap(last, own).equals(last).branch(QUEUE_STAYED) {
                last.at(NEXT).store(own);
                return wait(cpu, lock, own);
            }
        }
        cpu.give_way();
    }
}

/// Waits for its turn, and leaves the lane's line.
fn wait<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, own: W<'c, C>) {
    while !own.load().is(0).branch(TURN_HAS_COME) {
        cpu.give_way();
        cpu.spins();
    }
    let mut next = own.at(NEXT).load();
    if next.is(0).branch(NOBODY_WAITS) {
        lock.at(NEXT).store(next);
        cpu.primitive(Primitive::StoreBarrier);
        if lock.compare_swap(own, lock).equals(own).branch(NOBODY_CAME) {
            return;
        }
        next = linked(cpu, own, NOT_LINKED_YET);
    }
    lock.at(NEXT).store(next);
}

/// The next one behind a lane or a lock, once it is linked: it has entered the queue already.
fn linked<'c, C: Cpu>(cpu: &'c C, of: W<'c, C>, waits: Site) -> W<'c, C> {
    loop {
        let next = of.at(NEXT).load();
        if !next.is(0).branch(waits) {
            return next;
        }
        cpu.give_way();
        cpu.spins();
    }
}

pub(super) fn leave<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, annotated: bool) {
    let mut next = lock.at(NEXT).load();
    if next.is(0).branch(NOBODY_IS_NEXT) {
        before_release(cpu, annotated);
        if lock.compare_swap(lock, cpu.word(0)).equals(lock).branch(LOCK_IS_LEFT) {
            return;
        }
        next = linked(cpu, lock, NEXT_NOT_LINKED_YET);
    }
    before_release(cpu, annotated);
    next.store(cpu.word(0));
}
