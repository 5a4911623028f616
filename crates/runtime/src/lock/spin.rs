//! Spin locks of one word: test, then test-and-set.

use super::before_release;
use strandline_isa::{sites, Cpu, Intent, W};

sites! {
    LOCK_IS_FREE = 0x5fa8_35a8;
    LOCK_IS_TAKEN = 0xe1f2_e215;
    STAMPED_LOCK_IS_FREE = 0x7406_4553;
    STAMPED_LOCK_IS_TAKEN = 0x7327_f806;
    LOCK_IS_FREE_AFTER_PAUSE = 0xc46c_f7e9;
    PAUSE_GOES_ON = 0x8649_855c;
}

/// Acquires the lock at this address: test, then test-and-set, until it was free. A task that finds
/// it held yields to the other tasks of its core, if it shares one: one of them may hold the lock
/// (COSPlay 4.4).
#[inline]
pub fn lock<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    acquire(cpu, lock, true);
}

/// As [`lock`], for a program that may annotate its synchronisation.
#[inline]
pub(crate) fn acquire<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, annotated: bool) {
    take(cpu, lock);
    if annotated {
        cpu.intent(Intent::Acquire);
    }
}

/// Tests, then tests and sets, until the lock was free.
pub(super) fn take<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    loop {
        if lock.load().is(0).branch(LOCK_IS_FREE) && lock.swap(cpu.word(1)).is(0).branch(LOCK_IS_TAKEN) {
            break;
        }
        cpu.give_way();
        cpu.spins();
    }
}

/// Releases the lock at this address.
///
/// The store barrier orders the critical section's stores before the release where stores drain out
/// of order.
#[inline]
pub fn unlock<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    release(cpu, lock, true);
}

/// As [`unlock`], for a program that may annotate its synchronisation.
#[inline]
pub(crate) fn release<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, annotated: bool) {
    before_release(cpu, annotated);
    lock.store(cpu.word(0));
}

/// Turns of the first pause, and of the longest.
const PAUSES: (u64, u64) = (8, 1024);

/// As [`take`], with a pause after each attempt, twice as long as the last.
pub(super) fn take_with_backoff<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    let mut turns = PAUSES.0;
    while !lock.swap(cpu.word(1)).is(0).branch(LOCK_IS_FREE_AFTER_PAUSE) {
        turns = pause(cpu, turns);
    }
}

/// Waits this many turns; how many next time.
fn pause<C: Cpu>(cpu: &C, turns: u64) -> u64 {
    let mut left = cpu.word(turns);
    while !left.is(0).branch(PAUSE_GOES_ON) {
        left = left - 1;
    }
    cpu.give_way();
    (2 * turns).min(PAUSES.1)
}

/// As [`lock`], for a log that keeps a stamp in the lock, behind its bit. Returns the stamp of the last holder.
#[inline]
pub(super) fn take_stamped<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, pauses: bool) -> W<'c, C> {
    let mut turns = PAUSES.0;
    loop {
        let word = lock.load();
        if (word & 1).is(0).branch(STAMPED_LOCK_IS_FREE)
            && lock
                .compare_swap(word, word | 1)
                .equals(word)
                .branch(STAMPED_LOCK_IS_TAKEN)
        {
            cpu.intent(Intent::Acquire);
            return word >> 1;
        }
        if pauses {
            turns = pause(cpu, turns);
            continue;
        }
        cpu.give_way();
        cpu.spins();
    }
}

/// Releases the lock at this address, as [`unlock`] does, and leaves a stamp in it.
#[inline]
pub(super) fn leave_stamped<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, stamp: W<'c, C>) {
    before_release(cpu, true);
    lock.store(stamp << 1);
}
