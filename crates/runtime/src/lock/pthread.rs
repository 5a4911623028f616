//! A mutex as glibc 2.36 executes `pthread_mutex_lock` and `pthread_mutex_unlock` on x86-64, of the normal kind: the same
//! loads, stores, locked instructions and branches. A test steps through glibc's and compares.

use super::futex::{self, HELD};
use strandline_isa::{sites, Cpu, W};

sites! {
    KIND_IS_PLAIN = 0x42bb_7284;
    KIND_IS_NORMAL = 0x5f7d_f56d;
    ELISION_IS_OFF = 0x96e4_9222;
    MUTEX_IS_SHARED = 0x3b71_3a7b;
    HAS_ONE_THREAD = 0x6869_3914;
    MUTEX_IS_FREE = 0x920a_3694;
    OWNER_IS_NOBODY = 0x0c2e_f8dd;
    UNLOCK_KIND_IS_PLAIN = 0x29e5_8d04;
    UNLOCK_KIND_IS_NORMAL = 0x7ca1_e54f;
    UNLOCK_COUNTS_USERS = 0x951c_b343;
    UNLOCKED_MUTEX_IS_SHARED = 0x0914_ae3f;
    UNLOCK_HAS_ONE_THREAD = 0x09e7_3a62;
    NOBODY_WAITS_FOR_MUTEX = 0xf8b8_6190;
}

/// Offsets in a mutex.
mod field {
    /// 0 if it is free, 1 if it is held, 2 if others may wait.
    pub const OWNER: u64 = 8;
    pub const USERS: u64 = 12;
    pub const KIND: u64 = 16;
}

/// Offsets in the lane's line, which stands for its stack, its thread's control block and the library's variables.
mod own {
    pub const RETURN: u64 = 0;
    pub const SAVED: u64 = 8;
    pub const THREAD: u64 = 16;
    pub const ELISION: u64 = 24;
    pub const SINGLE: u64 = 32;
}

/// Bits of a kind other than the normal one, and those that need the long way.
const KINDS: u64 = 0x17f;
const LONG_WAY: u64 = 0x7c;
/// The bit of a mutex that processes share.
const SHARED: u64 = 0x80;

pub(super) fn take<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, own: W<'c, C>) {
    let _library = cpu.library();
    // The call pushes its return address, and the function a register.
    own.at(own::RETURN).store(cpu.word(HELD));
    let kind = lock.at(field::KIND).load_sized(4);
    let normal = kind & KINDS;
    (kind & LONG_WAY).is(0).branch(KIND_IS_PLAIN);
    own.at(own::SAVED).store(lock);
    let stack = own - 16;
    normal.is(0).branch(KIND_IS_NORMAL);
    own.at(own::ELISION).load_sized(4).is(0).branch(ELISION_IS_OFF);
    let shared = lock.at(field::KIND).load_sized(4) & SHARED;
    shared.is(0).branch(MUTEX_IS_SHARED);
    own.at(own::SINGLE).load_sized(1).is(0).branch(HAS_ONE_THREAD);
    futex::take(cpu, lock, own, MUTEX_IS_FREE);
    let owner = lock.at(field::OWNER).load_sized(4);
    owner.is(0).branch(OWNER_IS_NOBODY);
    let thread = own.at(own::THREAD).load_sized(4);
    let users = lock.at(field::USERS).load_sized(4) + 1;
    lock.at(field::USERS).store_sized(users, 4);
    lock.at(field::OWNER).store_sized(thread, 4);
    (stack + 16).at(own::SAVED).load();
    own.at(own::RETURN).load();
}

pub(super) fn leave<'c, C: Cpu>(cpu: &'c C, lock: W<'c, C>, own: W<'c, C>, annotated: bool) {
    let _library = cpu.library();
    own.at(own::RETURN).store(cpu.word(HELD));
    let kind = lock.at(field::KIND).load_sized(4);
    let normal = kind & KINDS;
    (kind & LONG_WAY).is(0).branch(UNLOCK_KIND_IS_PLAIN);
    let stack = own - 8;
    normal.is(0).branch(UNLOCK_KIND_IS_NORMAL);
    lock.at(field::OWNER).store_sized(cpu.word(0), 4);
    cpu.word(1).is(0).branch(UNLOCK_COUNTS_USERS);
    let users = lock.at(field::USERS).load_sized(4) - 1;
    lock.at(field::USERS).store_sized(users, 4);
    let shared = lock.at(field::KIND).load_sized(4) & SHARED;
    shared.is(0).branch(UNLOCKED_MUTEX_IS_SHARED);
    own.at(own::SINGLE).load_sized(1).is(0).branch(UNLOCK_HAS_ONE_THREAD);
    futex::leave(cpu, lock, own, NOBODY_WAITS_FOR_MUTEX, annotated);
    (stack + 8).at(own::RETURN).load();
}
