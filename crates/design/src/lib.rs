//! The seam where persistency designs differ.
//!
//! A design is a type that implements [`Design`]. The machine asks it a question at each of nine
//! places and acts on the answer. Every question has the plain machine's answer as its default. A
//! design acts on the machine only through [`Services`]. The rest of the machine is the same for
//! all designs.
//!
//! An answer may be to wait ([`Until`]): the machine parks the waiter until the condition holds,
//! and then asks again.

mod about;
mod answers;
mod counters;
mod keyed;
mod places;
mod services;
mod trait_design;
mod types;

pub use about::{About, Drains, Hook, Hosts, Needs, RollsBack, Sizes, Wants};
pub use answers::{
    Acceptance, Access, Admission, ByteMask, Checkpoint, Claim, Departure, Eviction, Forward, Level, LineTag, Load,
    Ordering, Passing, PortId, Snoop, Store, StoreId, Supply, Until, Write, WriteKind,
};
pub use counters::{Counter, Counters, Occupancy, OwnCounts};
pub use keyed::{boxed, AnyDesign};
pub use places::{Held, Place};
pub use services::{ControllerId, Services, WriteId, WriteRequest};
pub use trait_design::{Design, GateOf, MessageOf, NoteOf, TagOf};
pub use types::{Key, Keys, Never, Plain, Types};
