//! The timeline of a failing case: its run once more, recorded.

use super::replay::{with_set, CrashPoint};
use super::request::Request;
use super::run::perturbed;
use strandline_sim::{Drawn, Error, Part, Progress};

/// Crash runs have no slack: what is durable is in order of time.
const NO_SLACK: &str = "machine.simulation.slack=0";

impl Request {
    /// The run of the crash state that `replay` names, with its timeline.
    ///
    /// # Errors
    /// Bad input, or a run without progress.
    pub fn timeline(&self) -> Result<Drawn, Error> {
        let named = self.replay.as_deref();
        let place: CrashPoint = named
            .ok_or_else(|| Error::input("--replay: names no crash state"))?
            .parse()?;
        let (_, full) = perturbed(&self.run, place.run);
        strandline_sim::timeline(
            &with_set(&full, NO_SLACK.to_owned()),
            &Part::default(),
            &Progress::default(),
        )
    }
}
