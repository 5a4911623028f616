//! The subjects of the machine's questions to a design, and its answers.

use strandline_isa::{Addr, Flush, Line, LineData, Plain, Primitive};
use strandline_kernel::Cycles;

/// What an answer waits for. `G` is the design's own type of gates ([`crate::Types::Gate`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Until<G> {
    /// The core's older stores are visible and its older flushes are acknowledged: those of one
    /// context, or (`None`) all.
    Drained(Option<u8>),
    /// The core's older stores are visible, and its older flushes have left for the caches.
    Visible,
    /// The design opens the gate ([`crate::Services::open`]).
    Open(G),
}

/// The bytes that a store writes: the low `size` bytes of `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// Where.
    pub addr: Addr,
    /// How many bytes: 1, 2, 4 or 8. They lie within one aligned word.
    pub size: u8,
    /// The bytes, little-endian.
    pub value: u64,
}

impl Store {
    /// The line written.
    #[must_use]
    pub fn line(&self) -> Line {
        self.addr.line()
    }

    /// The bytes of its line that it writes.
    #[must_use]
    pub fn bytes(&self) -> ByteMask {
        ByteMask::of(self.addr, self.size)
    }
}

/// What a load reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    /// Where.
    pub addr: Addr,
    /// How many bytes: 1, 2, 4 or 8. They lie within one aligned word.
    pub size: u8,
}

/// Bytes of a line, one bit each; the lowest bit is the byte at the line's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteMask(pub u64);

impl ByteMask {
    /// All bytes of a line.
    pub const ALL: ByteMask = ByteMask(u64::MAX);

    /// The bytes of an access of `size` bytes at `addr`, which must not cross a line.
    #[must_use]
    pub fn of(addr: Addr, size: u8) -> ByteMask {
        ByteMask(((1u64 << size) - 1) << (addr.0 % 64))
    }

    /// Whether these are all bytes of a line.
    #[must_use]
    pub fn is_all(self) -> bool {
        self == ByteMask::ALL
    }

    /// Copies these bytes of `from` over `to`.
    pub fn copy(self, from: &LineData, to: &mut LineData) {
        for (index, (word, new)) in to.iter_mut().zip(from).enumerate() {
            let mut keep = 0;
            for byte in 0..8 {
                if self.0 >> (8 * index + byte) & 1 == 0 {
                    keep |= 0xff << (8 * byte);
                }
            }
            *word = *word & keep | new & !keep;
        }
    }
}

/// How an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteKind {
    /// A store.
    Store,
    /// A non-temporal store.
    NonTemporal,
    /// A locked instruction.
    Locked,
}

/// An instruction that is about to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// How.
    pub kind: WriteKind,
    /// Where, and what; of a locked instruction, what it will have written.
    pub store: Store,
}

impl Write {
    /// The line that it writes, if that is a persistent one.
    #[must_use]
    pub fn persistent_line(&self) -> Option<Line> {
        Some(self.store.line()).filter(|line| line.is_persistent())
    }
}

/// An instruction that orders or flushes what was written: it is about to be allocated in a core's
/// store queue, or to leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ordering {
    /// A flush of this line.
    Flush(Line, Flush),
    /// A primitive.
    Primitive(Primitive),
}

/// What a design has written into the tag of a line's newest copy in the caches
/// ([`crate::Services::tag_line`]): bits that only the design understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineTag(pub u64);

/// A store that the design watches or keeps. Never reused in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId(pub u64);

/// A checkpoint of a core ([`crate::Services::checkpoint`]). Never reused in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Checkpoint(pub u64);

/// Whether the design claims a flush or primitive before it is allocated in the store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim<G> {
    /// No: it is allocated when the queue has room.
    No,
    /// Yes: it takes no entry. The machine calls [`crate::Design::claimed`] when it retires.
    Yes,
    /// Ask again when the condition holds.
    Wait(Until<G>),
}

/// The outcome of a primitive at dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission<G> {
    /// It retires and does nothing more.
    Pass,
    /// It stays in the window until the condition holds, and nothing younger is allocated in the
    /// store queue before that.
    Hold(Until<G>),
    /// As [`Admission::Hold`], and younger loads wait too.
    HoldLoads(Until<G>),
    /// It enters the store queue. The machine calls [`crate::Design::departs`] when it reaches the
    /// head.
    Enter,
    /// Both [`Admission::Enter`] and [`Admission::Hold`]: in the store queue it waits for older
    /// stores, and it stays in the window until the condition holds.
    EnterHeld {
        /// The condition.
        until: Until<G>,
        /// Whether younger loads wait too.
        loads: bool,
    },
    /// The design claims it. The machine calls [`crate::Design::claimed`] when it retires.
    Claim {
        /// It leaves a mark in the store queue, which takes no room. The machine calls
        /// [`crate::Design::departs`] for the mark when all older stores have left. Younger ones
        /// wait behind it.
        marks: bool,
    },
}

impl<G> Admission<G> {
    /// The plain machine's answer.
    #[must_use]
    pub fn plain(primitive: Primitive) -> Admission<G> {
        match primitive.plain() {
            Plain::Nothing => Admission::Pass,
            Plain::Queued | Plain::Dmb => Admission::Enter,
            Plain::Sfence => Admission::Hold(Until::Drained(None)),
            Plain::Mfence => Admission::HoldLoads(Until::Drained(None)),
        }
    }
}

/// The outcome of a store, flush or primitive at the head of the store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure<G> {
    /// The machine performs it: the store becomes visible, the flush enters the write-back buffer; a
    /// primitive is done.
    Go,
    /// The design keeps it; it leaves the store queue. It stays pending for [`Until::Drained`]: a
    /// flush or primitive until [`crate::Services::acknowledge`], a store until the machine has
    /// performed it ([`crate::Services::perform`]).
    Keep,
    /// Ask again when the condition holds; a queue that drains in order waits behind it.
    Wait(Until<G>),
}

/// Where a load's bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward<G> {
    /// The store queue, the caches and memory, which are looked up this many cycles after the load
    /// issues.
    Caches {
        /// Cycles of the design's own look-up before that of the L1.
        after: Cycles,
    },
    /// The design has some of the bytes. Those that it does not have come from the caches and
    /// memory; a younger store in the store queue wins over both.
    Bytes {
        /// Which bytes of the load it has: one bit each, the lowest for the byte at its address.
        mask: u8,
        /// The bytes.
        value: u64,
        /// Cycles from the load's issue until the bytes are available.
        after: Cycles,
    },
    /// Ask again when the condition holds.
    Wait(Until<G>),
}

/// What a request for a line wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A copy to read.
    Read,
    /// The only copy, to write.
    Own,
}

/// A core's reply to another core's request for a line. `N` is the design's own type of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snoop<G, N> {
    /// The line is granted, with a note that piggybacks on the reply.
    Grant(Option<N>),
    /// Ask again when the condition holds.
    Wait(Until<G>),
    /// The snooped core is rolled back to this checkpoint ([`crate::Services::checkpoint`]), and
    /// snooped again.
    RollBack(Checkpoint),
}

/// A level of the cache hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// A core's private caches.
    Private,
    /// The shared last-level cache.
    Llc,
}

/// The outcome of a dirty persistent line that leaves a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction<G> {
    /// It is written back to the next level or to memory.
    WriteBack,
    /// It is dropped: the design persists it another way.
    Drop,
    /// It is held in the write-back buffer until the condition holds. A line evicted from a core's
    /// caches then joins the LLC if the LLC has the line; otherwise the design is asked again,
    /// about [`Level::Llc`]. It keeps its tag.
    Hold(Until<G>),
}

/// The outcome of a write that a controller's write queue has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance<G> {
    /// It enters the queue and is acknowledged.
    Queue,
    /// The write stays outside of the queue. The design is asked again when the condition holds.
    Wait(Until<G>),
    /// The design absorbs the write: it is acknowledged and does not enter the queue.
    Absorb,
    /// The write is refused (a NACK) and does not enter the queue. Its sender gets no reply but the
    /// design's own messages.
    Refuse,
}

/// A port of the place at which writes stop on their way ([`crate::Wants::stop`]): in a switch that of a host, in a device that
/// of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// The outcome of a write that has come to the place at which the design is asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// It goes on to its controller.
    GoOn,
    /// The design takes it: it is acknowledged from here, and goes no further. The design sends its bytes on by
    /// [`crate::Services::send_on`], and names them in [`crate::Design::power_fails`] until a controller has accepted them.
    Take,
    /// It waits here, and so do later ones of its port or line. The design is asked again when another write comes, and at
    /// [`crate::Services::look_at_stop`].
    Wait,
}

/// Who supplies a line that missed in every cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply<G> {
    /// Memory, with the bytes that all cores see.
    Memory,
    /// Memory, with the bytes that it holds ([`crate::Services::durable_line`]). They are stale if
    /// a store to the line is still in flight; all cores see them from now on. Only for designs
    /// with [`crate::Wants::durable_lines`].
    Durable,
    /// The design, after this time, with the bytes that all cores see.
    Design(Cycles),
    /// The design, after this time, with these bytes, which all cores see from now on: what a
    /// buffer of the design's holds of a line that the caches have dropped.
    Bytes(Cycles, LineData),
    /// The place at which writes stop ([`crate::Wants::stop`]), with these bytes of the line. Those that it lacks come from
    /// memory.
    Stop(LineData, ByteMask),
    /// Ask again when the condition holds.
    Wait(Until<G>),
}
