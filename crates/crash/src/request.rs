//! What the user may ask of crash exploration.

use crate::sizes::{small, tasks};
use crate::{explore_until, recovers, replay, Points, Report, Stop, Until};
use strandline_sim::{observe, request, Error, MemoryNeed, Progress, Record, Spec};

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
        /// Failing crash states after which no more are looked for; all are if `None`.
        max_failures: Option<u64> = None,
    }
}

impl Request {
    /// Visits the crash states that are asked for, until `stop`.
    ///
    /// # Errors
    /// Bad input, or a run without progress.
    pub fn answer(&self, stop: Stop) -> Result<Report, Error> {
        match &self.replay {
            Some(place) => replay(&self.run, place),
            None => explore_until(&self.run, self.points, &Until::new(self.max_failures, stop), &observe),
        }
    }

    /// Bytes of the host's memory that one of its runs takes.
    ///
    /// # Errors
    /// Bad input.
    pub fn memory(&self) -> Result<MemoryNeed, Error> {
        let sizes = small(&self.run).into_iter().map(|size| size.set(size.value));
        let run = Spec {
            tasks: Some(self.run.tasks.unwrap_or_else(|| tasks(&self.run))),
            warm: Some(self.run.warm.unwrap_or(0)),
            set: sizes.chain(self.run.set.iter().cloned()).collect(),
            ..self.run.clone()
        };
        MemoryNeed::of(&run, true)
    }
}

/// Runs `spec`, says to `progress` how far it has come, and looks at crash states if it asks for that. A recording has no recovery of its own to judge.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run(spec: &Spec, progress: &Progress) -> Result<Record, Error> {
    let mut record = strandline_sim::run_watched(spec, progress)?;
    if spec.recovers && !spec.is_recording() {
        record.recovers = Some(recovers(spec)?);
    }
    Ok(record)
}
