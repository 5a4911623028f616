//! Caches: tags and states, private levels, the LLC with its directory.

mod footprint;
mod line_tags;
mod llc;
mod misses;
mod private;
mod tags;
mod untimed;

pub use footprint::latest;
pub use line_tags::LineTags;
pub use llc::{Llc, LlcLine, Sharers};
pub use misses::Misses;
pub use private::{Fill, Private, Victim};
pub use tags::{State, Tags};
pub use untimed::{Parts, Untimed};
