//! Caches: tags and states, private levels, the LLC with its directory.

mod llc;
mod misses;
mod private;
mod tags;

pub use llc::{Llc, LlcLine, Sharers};
pub use misses::Misses;
pub use private::{Fill, Private, Victim};
pub use tags::{State, Tags};
