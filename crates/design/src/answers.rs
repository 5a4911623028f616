//! Questions' subjects and answers.

use strandline_isa::{Addr, Flush, Line, Plain, Primitive};
use strandline_kernel::Cycles;

/// A condition that a design opens by [`crate::Services::open`]. Its number is the design's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gate(pub u64);

/// What an answer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The asking core's older stores are visible and its older flushes are acknowledged: those of one context, or
    /// (`None`) all.
    Drained(Option<u8>),
    /// The design opens the gate.
    Open(Gate),
}

/// Go on, or wait and ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Go,
    /// Ask again when the condition holds.
    Wait(Until),
}

/// What is about to enter a core's store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A store to this address.
    Store(Addr),
    /// A non-temporal store to this address.
    StoreNt(Addr),
    /// A flush of this line.
    Flush(Line, Flush),
    /// A primitive.
    Primitive(Primitive),
}

/// What becomes of a primitive at dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It does nothing more.
    Pass,
    /// It stays in the window, and nothing younger enters the store queue, until the condition holds.
    Hold(Until),
    /// As [`Admission::Hold`], and younger loads wait too.
    HoldLoads(Until),
    /// It enters the store queue; [`crate::Design::departs`] is asked when its turn comes.
    Enter,
    /// Both [`Admission::Enter`] and [`Admission::Hold`]: its turn in the store queue comes after older stores, and it stays
    /// in the window until the condition holds.
    EnterHeld {
        /// The condition.
        until: Until,
        /// Younger loads wait, too.
        loads: bool,
    },
    /// The design takes it ([`crate::Design::taken`]).
    Take {
        /// It leaves a mark in the store queue, which takes no room: [`crate::Design::departs`] is asked for the mark when
        /// all older stores have left, and younger ones wait behind it.
        marks: bool,
    },
}

impl Admission {
    /// The plain machine's answer.
    #[must_use]
    pub fn plain(primitive: Primitive) -> Admission {
        match primitive.plain() {
            Plain::Nothing => Admission::Pass,
            Plain::Queued => Admission::Enter,
            Plain::Sfence => Admission::Hold(Until::Drained(None)),
            Plain::Mfence => Admission::HoldLoads(Until::Drained(None)),
        }
    }
}

/// What becomes of a store, flush or primitive whose turn in the store queue has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// The machine goes on with it: the store becomes visible, the flush goes to the write-back buffer; a primitive is
    /// done.
    Go,
    /// The design has taken it over; it leaves the store queue. A flush or primitive stays pending for
    /// [`Until::Drained`] until [`crate::Services::acknowledge`].
    Keep,
    /// Ask again when the condition holds; a queue that drains in order waits behind it.
    Wait(Until),
}

/// Where a load's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// The caches and memory.
    Caches,
    /// The design: this value, this long after the load has issued.
    Value(u64, Cycles),
    /// Ask again when the condition holds.
    Wait(Until),
}

/// What a request for a line wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A copy to read.
    Read,
    /// The only copy, to write.
    Own,
}

/// A core's answer to another core's request for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The line is given, with a note for the requester.
    Give(Option<Reply>),
    /// Ask again when the condition holds.
    Wait(Until),
}

/// A note on a coherence reply; its meaning is the design's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply(pub u64);

/// A level of the cache hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A core's private caches.
    Private,
    /// The last, shared level.
    Last,
}

/// What becomes of a dirty persistent line that leaves a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eviction {
    /// It is written back to the next level or to memory.
    WriteBack,
    /// It is dropped: the design persists it another way.
    Drop,
    /// It is held in the write-back buffer until the condition holds. Then it joins the shared level, if it was leaving a
    /// core's caches and that level has the line; if not, the design is asked again, about [`Level::Last`].
    Hold(Until),
}

/// What becomes of a write that a controller's write queue has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// It enters the queue and is acknowledged.
    Queue,
    /// The design asks for time: the write stays outside of the queue, and the design is asked again when the condition holds.
    Wait(Until),
    /// The design has taken it over; it is acknowledged and goes no further.
    Absorb,
    /// It is refused and goes no further; its sender hears nothing but what the design tells it.
    Refuse,
}

/// Who supplies a line that missed in every cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// Memory.
    Memory,
    /// The design, after this time.
    Design(Cycles),
}
