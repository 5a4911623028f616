//! A quick test whether crash states of a run recover. Its cost is a small share of the run's.
//!
//! The shares are of deterministic counts, so that a run's result does not depend on the host: simulated instructions,
//! tasks, and words that recovery and the checks access. A test that is too long for its run would judge the design no
//! better: it is the same design for each task.

use super::points::Points;
use super::run::perturbed;
use super::sizes::{is_set, tasks};
use crate::judge::regions::Regions;
use crate::judge::walk::Walk;
use strandline_sim::{Error, Length, Outline, Record, Run, Spec};

/// The runs by their numbers in a crash test: a perturbed one shows more than that of the machine as it is, run 0.
const RUNS: [usize; 3] = [1, 2, 0];
/// Stores for each whose line is evicted. Without evictions few states show that nothing orders persists; with one at
/// every second store, most logs persist in time.
const EVICTED: (&str, u64) = ("machine.simulation.evict_one_in", 4);
/// Instructions of the judged run for each further run of the test. To set up a test costs as much as to simulate some
/// ten thousand.
const INSTRUCTIONS_FOR_RUN: u64 = 120_000;
/// Tasks of the judged run for each task of the test.
const TASKS_FOR_TASK: u64 = 24;
/// The fewest and most crash states of a run of the test.
const POINTS: (u64, u64) = (3, 100);
/// Accesses of words for the crash states of each run of the test: these, and one for so much work of the judged run, in
/// lines that it fills.
const ACCESSES: (u64, u64) = (2_000, 2);

/// Whether crash states of `spec` recover, of which `ran` is the record.
///
/// The longer the run, the more states: from three of a run of one task to three hundred of three runs of sixteen tasks.
/// Structures are small, even if `spec` sets their sizes. The order of persists is not judged, which `strandline crash`
/// does.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn recovers(spec: &Spec, ran: &Record) -> Result<bool, Error> {
    let effort = Effort::of(spec, ran)?;
    let mut spec = spec.clone();
    spec.set.retain(|set| !set.starts_with("workload."));
    spec.tasks = Some(effort.tasks);
    spec.warm = None;
    if !is_set(&spec, EVICTED.0) {
        spec.set.push(format!("{}={}", EVICTED.0, EVICTED.1));
    }
    for number in RUNS.into_iter().take(effort.runs) {
        let (_, full) = perturbed(&spec, number);
        if !effort.recovers(&Run::of(&full).outline()?, full.seed) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How much is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effort {
    runs: usize,
    /// Tasks of each.
    tasks: u64,
    /// Accesses of words for the crash states of each.
    accesses: u64,
}

impl Effort {
    fn of(spec: &Spec, ran: &Record) -> Result<Effort, Error> {
        let instructions = ran.stats.instructions_simulated;
        let runs = (1 + instructions / INSTRUCTIONS_FOR_RUN).min(RUNS.len() as u64);
        Ok(Effort {
            runs: runs as usize,
            tasks: (ran.stats.tasks / (TASKS_FOR_TASK * runs)).clamp(1, tasks(spec) / 4),
            accesses: ACCESSES.0 + Length::of(spec)?.work / (ACCESSES.1 * runs),
        })
    }

    /// Whether the crash states of a run recover. The first to be judged is the last, which tells what each costs.
    fn recovers(&self, run: &Outline, seed: u64) -> bool {
        let regions = Regions::of(&run.journal.notes);
        let events = run.journal.durable.len();
        let walk = || Walk::new(&run.journal, &regions, &run.initial, &*run.program);
        let mut last = walk();
        if last.point(events).is_some() {
            return false;
        }
        let points = (self.accesses / last.accesses().max(1)).clamp(POINTS.0, POINTS.1);
        let mut walk = walk();
        let chosen = Points::Count(points).of(events, seed);
        !chosen
            .iter()
            .any(|event| *event < events && walk.point(*event).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_sim::run;

    fn effort(workload: &str, tasks: u64) -> Effort {
        let spec = Spec {
            tasks: Some(tasks),
            ..Spec::new(workload, "x86")
        };
        Effort::of(&spec, &run(&spec).unwrap()).unwrap()
    }

    #[test]
    fn a_quick_look_tells_them_apart() {
        for (design, recovered) in [("x86", true), ("unordered", false)] {
            for tasks in [1, 100] {
                let spec = Spec {
                    tasks: Some(tasks),
                    seed: 2,
                    ..Spec::new("sps", design)
                };
                let found = recovers(&spec, &run(&spec).unwrap()).unwrap();
                assert_eq!(found, recovered, "{design}, {tasks} tasks");
            }
        }
    }

    #[test]
    fn the_shortest_run_is_tested_by_one_of_one_task() {
        let least = effort("sps", 1);
        assert_eq!((least.runs, least.tasks), (1, 1));
    }

    #[test]
    fn a_longer_run_is_tested_longer_up_to_a_limit() {
        // Sixteen tasks, and four of the heavy ones.
        for (workload, most) in [("sps", 16), ("tpcc", 4)] {
            let long = effort(workload, 4000);
            assert_eq!((long.runs, long.tasks), (3, most), "{workload}");
        }
        let (short, long) = (effort("sps", 100), effort("sps", 800));
        assert!((1..long.tasks).contains(&short.tasks), "{short:?}, {long:?}");
        assert!(short.accesses < long.accesses, "{short:?}, {long:?}");
    }
}
