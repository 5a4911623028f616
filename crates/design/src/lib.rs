//! The seam where persistency designs differ.
//!
//! A design is a type that implements [`Design`]. The machine asks it a question at each of nine places and acts on the
//! answer; every question has the plain machine's answer as its default. A design acts on the machine only through
//! [`Services`]. Everything that is not asked here is the same for all designs.
//!
//! An answer may be [`Answer::Wait`]: the machine parks whoever asked until the condition holds and then asks again.

mod about;
mod answers;
mod counters;
mod services;
mod trait_design;

pub use about::{About, Domain, Needs, Places, Sizes};
pub use answers::{
    Acceptance, Access, Admission, Answer, Asked, Departure, Entry, Eviction, Forward, Gate, Level, Reply, Supply,
    Until,
};
pub use counters::{Counters, Occupancy};
pub use services::{ControllerId, Message, Services, WriteId, WriteRequest};
pub use trait_design::{AsAny, Design};
