//! Locks in volatile memory, as programs have them.
//!
//! [`LockKind`] lists them. A log that keeps a stamp in a lock (the newest section that its last holder has ended) has the
//! stamp in the lock's own word where the lock is one bit, and otherwise in a word behind the lock.

pub(crate) mod futex;
mod mcs;
mod pthread;
mod spin;
mod ticket;

use crate::per_lane::PerLane;
use std::ops::Range;
use strandline_isa::{Addr, Cpu, Intent, LINE_BYTES, W};

pub(crate) use spin::{acquire, release};
pub use spin::{lock, unlock};

/// How a program's locks are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockKind {
    /// Test, then test-and-set, at once again.
    #[default]
    Test,
    /// Test-and-set, with exponential backoff (Mellor-Crummey and Scott, TOCS 1991, Algorithm 1).
    Backoff,
    /// A ticket for each, served in order (TOCS 1991, Algorithm 2).
    Ticket,
    /// A queue in which each waits for a word of its own (TOCS 1991, Algorithm 5), in K42's form: the holder needs no place
    /// in it.
    Mcs,
    /// A mutex as glibc's `pthread_mutex_lock` and `pthread_mutex_unlock` execute it.
    Pthread,
}

impl LockKind {
    /// All of them.
    pub const ALL: [LockKind; 5] = [
        LockKind::Test,
        LockKind::Backoff,
        LockKind::Ticket,
        LockKind::Mcs,
        LockKind::Pthread,
    ];

    /// Their names, in the same order, behind the one that stands for the workload's own.
    pub(crate) const WORDS: &'static [&'static str] = &["program", "test", "backoff", "ticket", "mcs", "pthread"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        LockKind::WORDS[1 + self as usize]
    }

    /// Bytes from lock to lock.
    const fn stride(self) -> u64 {
        match self {
            LockKind::Test | LockKind::Backoff => 8,
            LockKind::Ticket | LockKind::Mcs => 32,
            // A mutex of 40 bytes, behind the header of its chunk.
            LockKind::Pthread => 48,
        }
    }

    /// Where the stamp is that a log keeps in a lock, if it has a word of its own.
    const fn stamp(self) -> Option<u64> {
        match self {
            LockKind::Test | LockKind::Backoff => None,
            LockKind::Ticket | LockKind::Mcs => Some(16),
            LockKind::Pthread => Some(40),
        }
    }

    /// Bytes of volatile memory that a lane needs to take a lock.
    const fn lane_bytes(self) -> u64 {
        match self {
            LockKind::Test | LockKind::Backoff | LockKind::Ticket => 0,
            LockKind::Mcs | LockKind::Pthread => LINE_BYTES,
        }
    }
}

/// Bytes of the largest lock, for a program that places its locks itself.
pub const LOCK_BYTES: u64 = LockKind::Pthread.stride();

/// An array of locks, packed.
#[derive(Clone, Copy, Debug)]
pub struct Locks {
    base: Addr,
    kind: LockKind,
}

impl Locks {
    /// Allocates `count` locks.
    pub fn allocate(heap: &mut crate::Heap, count: u64) -> Locks {
        let kind = heap.logging.lock;
        Locks {
            base: heap.dram(count * kind.stride()),
            kind,
        }
    }

    /// The addresses of `count` locks.
    #[must_use]
    pub fn range(&self, count: u64) -> Range<u64> {
        self.base.0..self.base.0 + self.kind.stride() * count
    }

    /// The address of lock `index`, as the program computes it.
    #[inline]
    #[must_use]
    pub fn at<'c, C: Cpu>(&self, index: W<'c, C>) -> W<'c, C> {
        let stride = self.kind.stride();
        match stride.is_power_of_two() {
            true => (index << u64::from(stride.trailing_zeros())) + self.base.0,
            false => ((index + (index << 1)) << 4) + self.base.0,
        }
    }

    /// The address of the first lock.
    #[inline]
    #[must_use]
    pub fn first<'c, C: Cpu>(&self, cpu: &'c C) -> W<'c, C> {
        cpu.word(self.base.0)
    }
}

/// What the lanes of a program need to take its locks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LockUse {
    kind: LockKind,
    own: PerLane,
}

impl LockUse {
    pub fn allocate(heap: &mut crate::Heap, lanes: usize) -> LockUse {
        let kind = heap.logging.lock;
        LockUse {
            kind,
            own: PerLane::dram(heap, lanes, kind.lane_bytes()),
        }
    }

    /// How a lane takes locks.
    pub fn of(&self, lane: usize) -> Hand {
        Hand {
            kind: self.kind,
            own: self.own.of(lane).0,
        }
    }
}

/// How a lane takes locks.
#[derive(Clone, Copy, Debug)]
pub struct Hand {
    kind: LockKind,
    /// The lane's own line, of those locks that need one.
    own: u64,
}

impl Hand {
    /// Acquires the lock at this address.
    #[inline(always)]
    pub fn lock<'c, C: Cpu>(self, cpu: &'c C, lock: W<'c, C>) {
        self.acquire(cpu, lock, true);
    }

    /// As [`Hand::lock`], for a program that may annotate its synchronisation.
    #[inline(always)]
    pub fn acquire<'c, C: Cpu>(self, cpu: &'c C, lock: W<'c, C>, annotated: bool) {
        match self.kind {
            LockKind::Test => spin::take(cpu, lock),
            LockKind::Backoff => spin::take_with_backoff(cpu, lock),
            LockKind::Ticket => ticket::take(cpu, lock),
            LockKind::Mcs => mcs::take(cpu, lock, cpu.word(self.own)),
            LockKind::Pthread => pthread::take(cpu, lock, cpu.word(self.own)),
        }
        if annotated {
            cpu.intent(Intent::Acquire);
        }
    }

    /// Releases the lock at this address.
    ///
    /// A store barrier orders the critical section's stores before the release where stores drain out of order.
    #[inline(always)]
    pub fn unlock<'c, C: Cpu>(self, cpu: &'c C, lock: W<'c, C>) {
        self.release(cpu, lock, true);
    }

    /// As [`Hand::unlock`], for a program that may annotate its synchronisation.
    #[inline(always)]
    pub fn release<'c, C: Cpu>(self, cpu: &'c C, lock: W<'c, C>, annotated: bool) {
        match self.kind {
            LockKind::Test | LockKind::Backoff => spin::release(cpu, lock, annotated),
            LockKind::Ticket => ticket::leave(cpu, lock, annotated),
            LockKind::Mcs => mcs::leave(cpu, lock, annotated),
            LockKind::Pthread => pthread::leave(cpu, lock, cpu.word(self.own), annotated),
        }
    }

    /// As [`Hand::lock`], for a log that keeps a stamp in the lock. Returns the stamp of the last holder. The intent
    /// directly follows the instruction that acquires.
    #[inline]
    pub fn lock_stamped<'c, C: Cpu>(self, cpu: &'c C, lock: W<'c, C>) -> W<'c, C> {
        match self.kind.stamp() {
            None => spin::take_stamped(cpu, lock, self.kind == LockKind::Backoff),
            Some(stamp) => {
                self.lock(cpu, lock);
                lock.at(stamp).load()
            }
        }
    }

    /// As [`Hand::unlock`], and leaves a stamp in the lock.
    #[inline]
    pub fn unlock_stamped<'c, C: Cpu>(self, cpu: &'c C, lock: W<'c, C>, stamp: W<'c, C>) {
        match self.kind.stamp() {
            None => spin::leave_stamped(cpu, lock, stamp),
            Some(place) => {
                lock.at(place).store(stamp);
                self.unlock(cpu, lock);
            }
        }
    }
}

/// What comes directly before the store or the locked instruction that releases.
#[inline]
pub(crate) fn before_release<C: Cpu>(cpu: &C, annotated: bool) {
    if annotated {
        cpu.intent(Intent::Release);
    }
    cpu.primitive(strandline_isa::Primitive::StoreBarrier);
}

#[cfg(test)]
mod tests;
