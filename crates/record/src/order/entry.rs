//! What keeps its order with other threads, besides operations on persistent memory.

use super::op::PmOp;
use super::places::Places;
use crate::AccessKind;

/// How much an order says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What changes persistent memory.
    Persistent,
    /// Loads of persistent memory, too, in a recording of several threads.
    Loads,
    /// Each access to memory and what else orders threads, too.
    Accesses,
    /// The same, and how threads synchronise.
    Synchronisation,
    /// Loads of persistent memory, also of locked instructions, and how threads synchronise by anything else.
    Hosts,
}

/// An item of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An operation.
    Op(PmOp),
    /// An access; its operations follow.
    Access(Access),
    /// A thread tells others how far it has come, or learns it.
    Sync(Sync),
}

/// A thread's synchronisation with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// The thread.
    pub thread: u32,
    /// How.
    pub kind: SyncKind,
}

/// How threads synchronise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// The signal of this number is given.
    Gives(u32),
    /// It was given this often.
    Waits(u32, u32),
    /// An access has its turn at a word.
    Turn {
        /// Its address.
        word: u64,
        /// Whether it writes.
        writes: bool,
    },
}

/// An access to words. Two accesses of different threads *conflict*, and keep their order, if they have a word in
/// common and one of them writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The thread.
    pub thread: u32,
    /// The first aligned word: its address divided by 8. Higher numbers stand for words of files, signals, the kernel.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it has a turn.
    pub has_turn: bool,
    /// The address of its instruction, if that is the program's own.
    pub pc: u64,
}

/// The numbers of words of persistent memory start here.
const FILES: u64 = 1 << 61;

/// The numbers of words that stand for signals start here.
const SIGNALS: u64 = 1 << 62;

/// The word that stands for what threads tell each other by the kernel.
const KERNEL: u64 = 1 << 63;

/// System calls that carry data between threads, or wait for them: read, write, poll, pread64 to select, sendto to
/// recvmsg, epoll_wait, pselect6, ppoll, epoll_pwait, preadv, pwritev, recvmmsg, sendmmsg.
const SPEAKS: [u64; 23] = [
    0, 1, 7, 17, 18, 19, 20, 23, 44, 45, 46, 47, 232, 270, 271, 281, 295, 296, 299, 307, 327, 328, 441,
];

impl Entry {
    /// The thread.
    #[must_use]
    pub fn thread(&self) -> u32 {
        match self {
            Entry::Op(op) => op.thread,
            Entry::Access(access) => access.thread,
            Entry::Sync(sync) => sync.thread,
        }
    }
}

impl Access {
    /// An instruction's access; `None` for a flush, which orders nothing between threads. A word of a file is the same
    /// wherever it is mapped.
    #[must_use]
    pub fn of(thread: u32, address: u64, size: u16, kind: AccessKind, places: &Places) -> Option<Access> {
        let first = match places.of_address(address) {
            Some((place, _)) => FILES + place / 8,
            None => address / 8,
        };
        let words = (address % 8 + u64::from(size.max(1)) - 1) / 8;
        (!kind.flushes()).then(|| Access {
            thread,
            first,
            last: first + words,
            writes: kind.writes(),
            has_turn: false,
            pc: 0,
        })
    }

    /// A signal is given, or was waited for.
    #[must_use]
    pub fn of_signal(thread: u32, number: u32, writes: bool) -> Access {
        let word = SIGNALS + u64::from(number);
        Access {
            thread,
            first: word,
            last: word,
            writes,
            has_turn: false,
            pc: 0,
        }
    }

    /// A system call, if other threads may learn from it.
    #[must_use]
    pub fn of_call(thread: u32, number: u64) -> Option<Access> {
        SPEAKS.contains(&number).then_some(Access {
            thread,
            first: KERNEL,
            last: KERNEL,
            writes: true,
            has_turn: false,
            pc: 0,
        })
    }
}
