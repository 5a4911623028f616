//! Crash exploration: several runs, many points, one verdict.

pub(crate) mod corners;
pub(crate) mod hosts;
pub(crate) mod points;
pub(crate) mod quick;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod shake;
pub(crate) mod shrink;
pub(crate) mod sizes;
pub(crate) mod timeline;
pub(crate) mod until;

use points::Points;
use replay::CrashPoint;
use report::{surroundings, Failure, Report};
use run::{Observe, Run};
use shrink::{shrink, Failing};
use sizes::tasks;
use strandline_sim::{observe, Error, Record, Spec};
use until::Until;

/// Runs of an exploration: one on the unchanged machine, the others on perturbed machines.
const RUNS: usize = 8;

/// Failures reported beside the smallest.
const OTHERS: usize = 3;

/// Visits crash states of `spec` on several perturbed machines.
///
/// Tasks are few (64 a run, fewer for heavy ones and for [`Points::All`]) and structures small, unless `spec` sets
/// them. A setting in `spec` overrides a perturbation. The same input gives the same report, except the record's
/// `host_*` keys.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn explore(spec: &Spec, points: Points) -> Result<Report, Error> {
    explore_with(spec, points, &observe)
}

/// As [`explore`], with runs made by `observe`, for example with a design outside the registry.
///
/// # Errors
/// As [`explore`].
pub fn explore_with(spec: &Spec, points: Points, observe: Observe<'_>) -> Result<Report, Error> {
    explore_until(spec, points, &Until::default(), observe)
}

/// As [`explore_with`], until there are enough failures or the user stops it. The report then says that it is
/// incomplete.
///
/// # Errors
/// As [`explore`].
pub fn explore_until(spec: &Spec, points: Points, until: &Until, observe: Observe<'_>) -> Result<Report, Error> {
    if points == Points::Count(0) {
        return Err(Error::Input(
            "--points 0: must be a number of crash states, at least 1, or `all`".to_owned(),
        ));
    }
    let tasks = match points {
        Points::All => tasks(spec) / 4,
        Points::Count(_) => tasks(spec),
    };
    let survey = Survey::of(&with_tasks(spec, tasks), points, RUNS, until, observe)?;
    let failures = failures(&survey, until, observe)?;
    let mut report = survey.report;
    report.record.recovers = (report.complete || !failures.is_empty()).then_some(failures.is_empty());
    report.failures = failures;
    Ok(report)
}

/// The first failure of [`explore_with`], without shrinking or further runs.
///
/// # Errors
/// As [`explore`].
pub fn first_failure(spec: &Spec, points: Points, observe: Observe<'_>) -> Result<Option<Failure>, Error> {
    let spec = with_tasks(spec, tasks(spec));
    for number in 0..RUNS {
        let run = Run::of(&spec, number, &Until::default(), observe)?;
        let chosen = run.chosen(points.share(number, RUNS));
        let mut walk = run.walk();
        let finding = chosen.into_iter().find_map(|event| run.point(&mut walk, event));
        drop(walk);
        if let Some(finding) = finding {
            return Failure::of(&Failing { run, finding }).map(Some);
        }
    }
    Ok(None)
}

/// Visits one crash state, named `RUN:EVENT` in a failure's `replay`.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn replay(spec: &Spec, place: &str) -> Result<Report, Error> {
    let place: CrashPoint = place.parse()?;
    if place.run >= RUNS {
        return Err(Error::Input(format!(
            "--replay {place}: there are only the runs 0 to {}",
            RUNS - 1
        )));
    }
    let until = Until::default();
    let run = Run::of(&with_tasks(spec, tasks(spec)), place.run, &until, &observe)?;
    let events = run.events();
    if place.event > events {
        return Err(Error::Input(format!(
            "--replay {place}: run {} has only {events} durable events; give the --tasks, --threads, --seed and --set of the failure",
            place.run
        )));
    }
    let mut report = empty(spec, run.observation.record.clone());
    let mut walk = run.walk();
    let finding = run.point(&mut walk, place.event);
    let around = surroundings(&run, place.event, walk.under_way());
    drop(walk);
    report.visited(events, 1);
    report.record.recovers = Some(finding.is_none());
    report.failures = finding
        .map(|finding| {
            let mut failure = Failure::of(&Failing { run, finding })?;
            failure.detail.extend(around);
            Ok(failure)
        })
        .into_iter()
        .collect::<Result<_, Error>>()?;
    Ok(report)
}

fn with_tasks(spec: &Spec, tasks: u64) -> Spec {
    Spec {
        tasks: Some(spec.tasks.unwrap_or(tasks)),
        ..spec.clone()
    }
}

fn empty(spec: &Spec, record: Record) -> Report {
    Report {
        workload: spec.workload.clone(),
        design: spec.design.clone(),
        points: 0,
        durable_events: 0,
        runs: 0,
        complete: true,
        failures: Vec::new(),
        record,
    }
}

impl Report {
    fn visited(&mut self, events: usize, points: usize) {
        self.runs += 1;
        self.durable_events += events as u64;
        self.points += points as u64;
    }
}

/// The result of the selected points of all runs.
struct Survey {
    report: Report,
    /// The first failing selected point of each run that has one.
    failing: Vec<Failing>,
    /// Number of selected points that fail.
    failed: u64,
}

impl Survey {
    fn of(spec: &Spec, points: Points, runs: usize, until: &Until, observe: Observe<'_>) -> Result<Survey, Error> {
        let first = Run::of(spec, 0, until, observe)?;
        let report = empty(spec, first.observation.record.clone());
        let mut survey = Survey {
            report,
            failing: Vec::new(),
            failed: 0,
        };
        survey.visit(first, points.share(0, runs), until);
        for number in 1..runs {
            let share = points.share(number, runs);
            if survey.report.complete && share != Points::Count(0) {
                match Run::of(spec, number, until, observe) {
                    Err(Error::Stopped) => survey.report.complete = false,
                    run => survey.visit(run?, share, until),
                }
            }
        }
        Ok(survey)
    }

    fn visit(&mut self, run: Run, points: Points, until: &Until) {
        let mut walk = run.walk();
        let (mut visited, mut first) = (0, None);
        for event in run.chosen(points) {
            if until.reached(self.failed) {
                self.report.complete = false;
                break;
            }
            visited += 1;
            if let Some(finding) = run.point(&mut walk, event) {
                self.failed += 1;
                first = first.or(Some(finding));
            }
        }
        drop(walk);
        self.report.visited(run.events(), visited);
        self.failing.extend(first.map(|finding| Failing { run, finding }));
    }
}

/// The failures to report, the smallest first.
fn failures(survey: &Survey, until: &Until, observe: Observe<'_>) -> Result<Vec<Failure>, Error> {
    let Some(first) = survey.failing.first() else {
        return Ok(Vec::new());
    };
    if until.stopped() {
        return Ok(survey.failing.iter().take(OTHERS).map(Failure::in_short).collect());
    }
    let found: Result<Vec<Failure>, Error> = survey.failing.iter().take(OTHERS).map(Failure::of).collect();
    let found = found?;
    // Repeats the run. Shrinking starts with its earliest failing point, selected or not, and takes ownership of the
    // run.
    let run = match Run::of(&first.run.spec, first.run.number, until, observe) {
        Err(Error::Stopped) => return Ok(found),
        run => run?,
    };
    let finding = run.earliest(until).unwrap_or_else(|| first.finding.clone());
    let smallest = shrink(Failing { run, finding }, RUNS, until, observe);
    let mut failures = vec![Failure::of(&smallest)?];
    failures[0].detail.push(format!(
        "before shrinking, {} of {} judged crash states fail",
        survey.failed, survey.report.points
    ));
    failures.extend(found);
    failures.truncate(until.most());
    Ok(failures)
}
