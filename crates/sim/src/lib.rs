//! One run: a program, a design and a machine in, a record out. The only place where they are wired together.

mod broken;
mod error;
mod needs;
mod prepare;
mod record;
mod run;
mod spec;

pub use broken::Broken;
pub use error::Error;
pub use prepare::Recoverable;
pub use record::Record;
pub use run::{observe, observe_design, run, Observation};
pub use spec::{Plan, Spec};
