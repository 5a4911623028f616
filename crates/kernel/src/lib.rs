//! Time, events, calendars of shared bandwidth, random numbers and statistics.
//!
//! Knows nothing of persistence, processors or programs.

mod calendar;
mod cycles;
mod events;
mod rng;
mod rules;
mod stats;

pub use calendar::Calendar;
pub use cycles::Cycles;
pub use events::Events;
pub use rng::Rng;
pub use stats::Histogram;
