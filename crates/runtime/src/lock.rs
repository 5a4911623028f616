//! Spin locks in volatile memory.

use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Intent, Primitive, W};

sites! {
    LOCK_IS_FREE = 0x5fa8_35a8;
    LOCK_IS_TAKEN = 0xe1f2_e215;
    STAMPED_LOCK_IS_FREE = 0x7406_4553;
    STAMPED_LOCK_IS_TAKEN = 0x7327_f806;
}

/// An array of locks of 8 bytes, packed: eight share a line.
#[derive(Clone, Copy, Debug)]
pub struct Locks(pub Addr);

impl Locks {
    /// The addresses of `count` locks.
    #[must_use]
    pub fn range(&self, count: u64) -> Range<u64> {
        self.0 .0..self.0 .0 + 8 * count
    }

    /// The address of lock `index`, as the program computes it: a shift and an addition.
    #[inline]
    #[must_use]
    pub fn at<'c, C: Cpu>(&self, index: W<'c, C>) -> W<'c, C> {
        (index << 3) + self.0 .0
    }
}

/// Acquires the lock at this address: test, then test-and-set, until it was free. A task that finds
/// it held yields to the other tasks of its core, if it shares one: one of them may hold the lock
/// (COSPlay 4.4).
#[inline]
pub async fn lock<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    take(cpu, lock).await;
    cpu.intent(Intent::Acquire).await;
}

/// As [`lock`], for a program that does not annotate its synchronisation.
pub(crate) async fn take<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    loop {
        if lock.load().await.is(0).branch(LOCK_IS_FREE) && lock.swap(cpu.word(1)).await.is(0).branch(LOCK_IS_TAKEN) {
            break;
        }
        cpu.give_way().await;
        cpu.spins();
    }
}

/// Releases the lock at this address.
///
/// The store barrier orders the critical section's stores before the release where stores drain out
/// of order.
#[inline]
pub async fn unlock<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    cpu.intent(Intent::Release).await;
    leave(cpu, lock).await;
}

/// As [`unlock`], for a program that does not annotate its synchronisation.
pub(crate) async fn leave<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) {
    cpu.primitive(Primitive::StoreBarrier).await;
    lock.store(cpu.word(0)).await;
}

/// Acquires the lock at this address, as [`lock`] does, for a log that keeps a stamp in it. Returns
/// the stamp of the last holder. The intent directly follows the locked instruction, which
/// acquires.
#[inline]
pub(crate) async fn lock_stamped<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>) -> W<'c, C> {
    loop {
        let word = lock.load().await;
        if (word & 1).is(0).branch(STAMPED_LOCK_IS_FREE)
            && lock
                .compare_swap(word, word | 1)
                .await
                .equals(word)
                .branch(STAMPED_LOCK_IS_TAKEN)
        {
            cpu.intent(Intent::Acquire).await;
            return word >> 1;
        }
        cpu.give_way().await;
        cpu.spins();
    }
}

/// Releases the lock at this address, as [`unlock`] does, and leaves a stamp in it.
#[inline]
pub(crate) async fn unlock_stamped<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, stamp: W<'c, C>) {
    cpu.intent(Intent::Release).await;
    cpu.primitive(Primitive::StoreBarrier).await;
    lock.store(stamp << 1).await;
}
