//! The user's requests for crash exploration.

use super::hosts::explore_failures;
use super::quick::recovers;
use super::sizes::{small, tasks};
use crate::{explore_until, replay, Points, Report, Stop, Until};
use strandline_sim::{
    configured, promises_recovery, request, waives_recovery, Error, MemoryNeed, Progress, Record, Run, Spec, Starts,
    Traced,
};

request! {
    /// A crash test, as the user requests it.
    pub struct Request {
        /// What is run.
        run: Spec,
        /// Number of crash states to judge, or `all`.
        points: Points,
    }
    defaults {
        /// The single crash state to judge, as a failure names it; if `None`, `points` selects the states.
        replay: Option<String> = None,
        /// The host that fails, `h0` to `h3`, in place of power alone; the others go on.
        fails: Option<String> = None,
        /// Number of failing crash states after which the search ends; it continues if `None`.
        max_failures: Option<u64> = None,
    }
}

impl Request {
    /// Visits the requested crash states, until `stop`.
    ///
    /// # Errors
    /// Bad input, or a run without progress; [`Error::Stopped`] if there is nothing to report yet.
    pub fn answer(&self, stop: Stop) -> Result<Report, Error> {
        let mut report = match &self.replay {
            Some(place) => replay(&self.run, place)?,
            None => {
                let until = Until::new(self.max_failures, stop.clone());
                let observe = |spec: &Spec| {
                    let run = Run {
                        progress: stop.progress().clone(),
                        ..Run::of(spec)
                    };
                    run.observe(Traced::Everything)
                };
                match &self.fails {
                    Some(host) => explore_failures(&self.run, host, self.points, &until, &observe)?,
                    None => explore_until(&self.run, self.points, &until, &observe)?,
                }
            }
        };
        let promised = promises_recovery(&configured(&self.run)?.about(), &self.run);
        report.record.recovers = report.record.recovers.map(|all| all && promised);
        Ok(report)
    }

    /// Bytes of host memory for one of its runs.
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

/// Runs `spec` from its start among `starts`, if any, reports its progress to `progress`, and visits crash states if
/// `spec` requests it. A recording has no recovery of its own to judge. What is not promised recovers by luck at most.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn run(spec: &Spec, starts: Option<&Starts>, progress: &Progress) -> Result<Record, Error> {
    let run = Run {
        starts,
        progress: progress.clone(),
        ..Run::of(spec)
    };
    let mut record = run.record()?;
    if spec.recovers && !spec.is_recording() {
        let about = configured(spec)?.about();
        if !waives_recovery(&about) {
            record.recovers = Some(promises_recovery(&about, spec) && recovers(spec, &record)?);
        }
    }
    Ok(record)
}
