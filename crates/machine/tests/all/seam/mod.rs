//! The seam: what the machine asks of a design and does for it, one file a facility.

mod bytes;
mod channel;
mod counters;
mod hooks;
mod kept;
mod misses;
mod places;
mod script;
mod sharing;
mod speculation;
mod stops;
mod stuck;
mod tags;
mod weak;
