//! What the user may ask of crash exploration.

use crate::{explore, recovers, replay, Points, Report};
use strandline_sim::{request, Error, Record, Spec};

request! {
    /// A crash test as the user asks for it.
    pub struct Request {
        /// What is run.
        run: Spec,
        /// Crash states to judge, or `all`.
        points: Points,
    }
    defaults {
        /// The one crash state to judge, as a failure names it; those that `points` says if `None`.
        replay: Option<String> = None,
    }
}

impl Request {
    /// Visits the crash states that are asked for.
    ///
    /// # Errors
    /// Bad input, or a run without progress.
    pub fn answer(&self) -> Result<Report, Error> {
        match &self.replay {
            Some(place) => replay(&self.run, place),
            None => explore(&self.run, self.points),
        }
    }
}

/// Runs `spec`, and looks at crash states if it asks for that. A recording has no recovery of its own to judge.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run(spec: &Spec) -> Result<Record, Error> {
    let mut record = strandline_sim::run(spec)?;
    if spec.recovers && !spec.is_recording() {
        record.recovers = Some(recovers(spec)?);
    }
    Ok(record)
}
