//! One run: a program, a design and a machine in, a record out. The only place where they are wired together.

mod error;
mod needs;
mod play;
mod prepare;
mod record;
mod recording;
mod run;
mod sharing;
mod spec;

pub use error::Error;
pub use needs::check as check_needs;
pub use play::{play, Play};
pub use prepare::{Recoverable, Thread};
pub use record::Record;
pub use recording::{Recorded, RECORDING_MACHINE};
pub use run::{design_named, observe, observe_design, observe_durable, run, unknown_design, Observation};
pub use spec::{Found, Plan, Sets, Source, Spec, Window};
