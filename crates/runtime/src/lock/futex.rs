//! glibc's low-level lock: a word that is 0 if it is free, 1 if it is held, and 2 if others may wait. Mutexes, `rand` and
//! `malloc` use it.
//!
//! Who waits sleeps in the kernel, which wakes one at each release, in order of arrival ([`Cpu::sleep`]).

use super::before_release;
use strandline_isa::{sites, Cpu, Intent, Site, W};

sites! {
    FUTEX_HAS_WAITERS = 0x0a21_96db;
    FUTEX_IS_FREE_AGAIN = 0x9019_be4b;
}

pub const HELD: u64 = 1;
pub const WAITED_FOR: u64 = 2;

/// Offsets in the thread's stack.
const RETURN: u64 = 0;
const SAVED: u64 = 8;

/// Acquires the lock by one locked instruction if it is free. `is_free` is the branch behind it, where this code is
/// inlined; `own` is the thread's stack.
pub(crate) fn take<'c, C: Cpu>(cpu: &'c C, futex: W<'c, C>, own: W<'c, C>, is_free: Site) {
    if !futex.compare_swap(cpu.word(0), cpu.word(HELD)).is(0).branch(is_free) {
        wait(cpu, futex, own);
    }
}

/// As [`take`], for a program that may annotate its synchronisation.
pub(crate) fn lock<'c, C: Cpu>(cpu: &'c C, futex: W<'c, C>, own: W<'c, C>, is_free: Site, annotated: bool) {
    take(cpu, futex, own, is_free);
    if annotated {
        cpu.intent(Intent::Acquire);
    }
}

/// Releases the lock, and wakes who waits. `nobody_waits` is the branch that finds that out.
pub(crate) fn leave<'c, C: Cpu>(cpu: &'c C, futex: W<'c, C>, own: W<'c, C>, nobody_waits: Site, annotated: bool) {
    before_release(cpu, annotated);
    cpu.wakes();
    let before = futex.swap(cpu.word(0));
    if !before.less(cpu.word(WAITED_FOR)).branch(nobody_waits) {
        wake(own);
    }
}

/// Says that it waits, and does until the lock is free.
fn wait<'c, C: Cpu>(cpu: &'c C, futex: W<'c, C>, own: W<'c, C>) {
    let waited_for = cpu.word(WAITED_FOR);
    own.at(RETURN).store(futex);
    let mut waits = futex.load_sized(4).is(WAITED_FOR).branch(FUTEX_HAS_WAITERS);
    loop {
        if waits {
            cpu.sleep(futex, WAITED_FOR);
        }
        if futex.swap(waited_for).is(0).branch(FUTEX_IS_FREE_AGAIN) {
            break;
        }
        waits = true;
    }
    own.at(RETURN).load();
}

/// Asks the kernel to wake one, which [`Cpu::wakes`] has arranged.
fn wake<C: Cpu>(own: W<'_, C>) {
    own.at(SAVED).store(own);
    let operation = own.at(SAVED) ^ 0x81;
    own.at(SAVED).store(operation);
    own.at(SAVED).load();
}
