//! The machine: out-of-order cores, caches and coherence, memory controllers and media.
//!
//! Inside a core time is kept as timestamps; what other cores, the controllers or the design can
//! observe happens in global time order. The designs differ only in their answers to
//! [`strandline_design::Design`].

mod cache;
pub mod config;
mod core;
mod crash_image;
mod journal;
mod line_counts;
mod memory;
pub mod places;
mod stats;
mod system;
mod timeline;
mod trace;
mod warm;

pub use crate::core::{Noted, SimCpu};
pub use cache::latest;
pub use config::{paper_preset_names, preset_names, ConfigError, MachineConfig, ParamInfo};
pub use journal::{Durable, Journal};
pub use stats::{Latencies, Occupied, Stats};
pub use system::{
    factory, Body, CoreView, Factory, Flushing, Heartbeat, HostId, Joined, Options, Outcome, Precision, Queued, Remote,
    Standstill, Stuck, System, What,
};
pub use timeline::{Class, Crossing, Detail, HostFailure, Timeline};
pub use trace::{OpId, Seen, Trace, TraceOp, Traces, VolatileLines};
pub use warm::{Accesses, Contents, Ending, Unfinished, Warming, LEAST_ACCESSES};
