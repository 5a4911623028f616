//! One run: takes a program, a design and a machine, and returns a record. Only this crate combines them.

mod digest;
mod error;
mod guard;
mod length;
mod memory;
mod needs;
mod play;
mod programs;
mod progress;
mod record;
mod recording;
mod request;
mod resolved;
mod run;
mod settings;
mod sharing;
mod spec;
mod starts;
mod timeline;
mod warm;

pub use digest::Digests;
pub use error::Error;
pub use guard::guarded;
pub use length::Length;
pub use memory::MemoryNeed;
pub use needs::{check as check_needs, check_restart};
pub use play::{play, Play};
pub use progress::Progress;
pub use record::{Derived, Origin, Ran, Record};
pub use recording::{Recorded, RECORDING_MACHINE};
pub use request::Field;
pub use resolved::resolve;
pub use run::{
    design_named, observe, observe_design, observe_durable, observe_shared, observe_until, outline, run, run_edited,
    run_sharing, run_watched, unknown_design, Observation, Outline,
};
pub use settings::{Scope, Sets};
pub use spec::{Found, Plan, Source, Spec, Window};
pub use starts::Starts;
pub use strandline_runtime::Recoverable;
pub use timeline::{durable_in, timeline, Drawn, Part};
pub use warm::Begin;
