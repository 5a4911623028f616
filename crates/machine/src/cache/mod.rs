//! Caches: tags and states, private levels, the shared last level with its directory.

mod last;
mod misses;
mod private;
mod tags;

pub use last::{Last, LastLine, Sharers};
pub use misses::Misses;
pub use private::{Fill, Private, Victim};
pub use tags::{State, Tags};
