//! Time, events, calendars of shared bandwidth, random numbers, statistics and declared parameters.
//!
//! Knows nothing of persistence, processors or programs.

mod calendar;
mod cycles;
mod events;
mod params;
mod rng;
mod stats;

pub use calendar::Calendar;
pub use cycles::Cycles;
pub use events::Events;
pub use params::{Param, ParamError, Params};
pub use rng::Rng;
pub use stats::Histogram;
