//! Time, events, calendars of shared bandwidth, random numbers, statistics, declared parameters and keys, forwarded methods.
//!
//! It knows no persistence, processors or programs.

mod batches;
mod calendar;
mod cycles;
mod events;
mod forward;
mod keys;
mod nearest;
mod number_hasher;
mod params;
mod rng;
mod stats;
mod steady;
mod type_name;

pub use batches::{Batches, Pace};
pub use calendar::Calendar;
pub use cycles::Cycles;
pub use events::Events;
pub use keys::{Adds, Counts, Key};
pub use nearest::{did_you_mean, nearest};
pub use number_hasher::NumberHasher;
pub use params::{Param, ParamError, Params};
pub use rng::Rng;
pub use stats::Histogram;
pub use steady::{drifts, half_width, half_width_beside_drift, LEAST_BATCHES};
pub use type_name::TypeName;
