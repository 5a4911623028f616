//! One run: a program, a design and a machine in, a record out. The only place where they are wired together.

mod broken;
mod error;
mod needs;
mod play;
mod record;
mod recording;
mod run;
mod sharing;
mod spec;

pub use broken::Broken;
pub use error::Error;
pub use needs::check as check_needs;
pub use play::{play, Play};
pub use record::Record;
pub use recording::{Recorded, RECORDING_MACHINE};
pub use run::{design_named, observe, observe_design, observe_durable, run, unknown_design, Observation};
pub use spec::{Found, Plan, Sets, Source, Spec, Window};
pub use strandline_programs::{Recoverable, Thread};
