//! What a program requests of the system, and the answers.

use std::any::Any;
use strandline_design::Ordering;
use strandline_isa::{Addr, CoreId, Primitive, Rmw};

/// The system, as a core sees it while its program runs.
pub trait Answers {
    /// Answers a request of the program that runs on `core`. Returns whether the program continues before other
    /// cores and events act.
    fn answers(&mut self, core: CoreId, request: Request) -> bool;

    /// The system itself, when the program stops.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// A program's request to the system when it cannot continue by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To be the earliest: another core or event comes first.
    Order,
    /// That the held op retires; `blocks`: nothing at all may be dispatched before.
    Released { blocks: bool },
    /// That the store queue has room.
    Room,
    /// Whether the design claims a flush or primitive.
    Claim(Ordering),
    /// A load that missed in the private levels (`missed`), or that the design handles.
    Load {
        addr: Addr,
        size: u8,
        issue: u64,
        missed: bool,
    },
    /// A page walk for an access that misses in the TLB at `issue`.
    Walk { addr: Addr, issue: u64 },
    /// Ownership of a store's line, ahead of the store.
    Own { addr: Addr, issue: u64 },
    /// A locked instruction.
    Locked {
        addr: Addr,
        op: Rmw,
        operand: u64,
        issue: u64,
    },
    /// A primitive, which has been dispatched.
    Primitive { primitive: Primitive },
    /// To pass the design what it has claimed, which retires then.
    Claimed { ordering: Ordering, retires: u64 },
    /// That `times` counted writes to a word are visible.
    Written { word: Addr, times: u32 },
    /// That the kernel wakes the thread, which sleeps on this word as long as it has this value.
    Sleep { word: Addr, value: u64 },
    /// That all threads have reached the start line.
    StartLine,
}

impl Request {
    /// The request as it is repeated later, when the caches may have changed.
    pub fn again(self) -> Request {
        match self {
            Request::Load { addr, size, issue, .. } => Request::Load {
                addr,
                size,
                issue,
                missed: false,
            },
            other => other,
        }
    }
}

/// The system's answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Response {
    /// The value loaded.
    pub value: u64,
    /// When the op completes.
    pub done: u64,
    /// Whether a primitive is held, or enters the store queue.
    pub dispatched: Dispatched,
    /// Whether the design claims the entry.
    pub claimed: bool,
}

/// The outcome of a primitive at dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dispatched {
    /// It retires.
    #[default]
    Passed,
    /// It is held in the window.
    Held,
    /// It enters the store queue.
    Entered,
    /// It retires, and waits at the head of the store queue until all that has left the queue has completed.
    EnteredFence,
    /// It enters the store queue, and is held in the window.
    EnteredHeld,
    /// The design has claimed it; with a mark in the store queue or without.
    Claimed { marks: bool },
}

impl Dispatched {
    /// Whether it has an entry in the store queue, or a mark there.
    pub fn enters(self) -> bool {
        match self {
            Dispatched::Passed | Dispatched::Held => false,
            Dispatched::Entered | Dispatched::EnteredFence | Dispatched::EnteredHeld => true,
            Dispatched::Claimed { marks } => marks,
        }
    }
}
