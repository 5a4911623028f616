//! Failures of a host, after which the others go on.
//!
//! A run with a failure is a run of its own: the others learn of it, and repair what the host has left. Where it ends, and
//! at a moment between the failure and the end, power fails, too. Both states are recovered and judged.

use super::replay::with_set;
use super::run::{Observe, Run};
use super::shrink::Failing;
use super::until::Until;
use super::{empty, failures, tasks, with_tasks, Points, Report, Survey, RUNS};
use strandline_kernel::Rng;
use strandline_sim::{Error, Spec};

/// Moments of failures with `--points all`: they are cycles, of which there is no end.
const MOST: u64 = 1000;

/// Lets a host fail at many moments of several perturbed runs.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn explore_failures(
    spec: &Spec,
    host: &str,
    points: Points,
    until: &Until,
    observe: Observe<'_>,
) -> Result<Report, Error> {
    let spec = with_tasks(spec, tasks(spec));
    // Of which no host fails.
    let whole: Vec<Run> = (0..RUNS)
        .map(|number| Run::of(&spec, number, until, observe))
        .collect::<Result<_, Error>>()?;
    expect_host(host, whole[0].observation.machine.hosts)?;
    let mut survey = Survey {
        report: empty(&spec, whole[0].observation.record.clone()),
        failing: Vec::new(),
        failed: 0,
    };
    let moments = match points {
        Points::Count(count) => count.div_ceil(2),
        Points::All => MOST,
    };
    let mut rng = Rng::new(spec.seed);
    for moment in 0..moments as usize {
        if until.reached(survey.failed) {
            survey.report.complete = false;
            break;
        }
        let run = &whole[moment % RUNS];
        let at = rng.below(run.ends_at() + 1);
        let failing = with_set(&spec, format!("machine.simulation.fails={host}"));
        let failing = with_set(&failing, format!("machine.simulation.fails_at={at}"));
        match Run::of(&failing, run.number, until, observe) {
            Err(Error::Stopped) => survey.report.complete = false,
            run => survey.judge(run?, at, &mut rng),
        }
    }
    let failures = failures(&survey, until, observe)?;
    let mut report = survey.report;
    report.record.recovers = (report.complete || !failures.is_empty()).then_some(failures.is_empty());
    report.failures = failures;
    Ok(report)
}

fn expect_host(host: &str, hosts: u64) -> Result<(), Error> {
    let must = match hosts {
        1 => "there is one host (give more, as with --set machine.hosts=2)".to_owned(),
        _ if (0..hosts).any(|one| host == format!("h{one}")) => return Ok(()),
        _ => format!("there are {hosts} hosts (give one of h0 to h{})", hosts - 1),
    };
    Err(Error::Input(format!("--fails {host}: {must}")))
}

impl Survey {
    /// Judges a run in which a host failed at a cycle.
    fn judge(&mut self, run: Run, at: u64, rng: &mut Rng) {
        let (first, last) = (run.events_until(at), run.events());
        let between = first + rng.below((last - first + 1) as u64) as usize;
        let mut walk = run.walk();
        let found: Vec<_> = [between, last]
            .into_iter()
            .filter_map(|event| run.point(&mut walk, event))
            .collect();
        drop(walk);
        self.report.visited(last, 2);
        self.failed += found.len() as u64;
        self.failing
            .extend(found.into_iter().next().map(|finding| Failing { run, finding }));
    }
}
