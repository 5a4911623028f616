//! Shrinks a failing case: fewer threads, fewer tasks, smaller structures, no perturbation, the earliest point.

use super::replay::with_set;
use super::run::{Observe, Run};
use super::sizes::small;
use super::until::Until;
use crate::judge::walk::Finding;
use strandline_sim::{Spec, Window};

/// Maximum number of smaller cases that are tried.
const TRIALS: usize = 48;

/// A run and its first failing crash point.
pub struct Failing {
    /// The run.
    pub run: Run,
    /// What is wrong at the point.
    pub finding: Finding,
}

/// Shrinks `failing`. Each tried case has up to `runs` runs, the unperturbed one first.
///
/// A case that cannot run does not count as failing. After the user's stop, no case is tried. The result fails.
pub fn shrink(failing: Failing, runs: usize, until: &Until, observe: Observe<'_>) -> Failing {
    let mut shrinker = Shrinker {
        runs,
        trials: TRIALS,
        best: failing,
        until,
        observe,
    };
    let threads = shrinker.best.run.spec.threads_of_workload();
    shrinker.smallest(1, threads, |spec, threads| Spec {
        threads: Some(threads),
        ..spec.clone()
    });
    shrinker.window();
    shrinker.tasks();
    for size in small(&shrinker.best.run.spec) {
        // Smaller logs do not help a reader.
        if size.name != "log_records" {
            shrinker.smallest(size.least, size.value, |spec, value| with_set(spec, size.set(value)));
        }
    }
    shrinker.tasks();
    shrinker.best
}

struct Shrinker<'a> {
    runs: usize,
    trials: usize,
    best: Failing,
    until: &'a Until,
    observe: Observe<'a>,
}

impl Shrinker<'_> {
    /// Fewer tasks that share a thread, if they do.
    fn window(&mut self) {
        let window = u64::from(self.best.run.observation.record.stats.window);
        self.smallest(1, window, |spec, window| Spec {
            window: Some(Window::Tasks(window)),
            ..spec.clone()
        });
    }

    fn tasks(&mut self) {
        let tasks = self.best.run.spec.tasks.unwrap_or(1);
        self.smallest(1, tasks, |spec, tasks| Spec {
            tasks: Some(tasks),
            ..spec.clone()
        });
    }

    /// Uses the smallest value from `least` to below `most`, in growing steps, with which the case still fails.
    fn smallest(&mut self, least: u64, most: u64, with: impl Fn(&Spec, u64) -> Spec) {
        let mut value = least;
        while value < most && self.trials > 0 {
            self.trials -= 1;
            let spec = with(&self.best.run.spec, value);
            if let Some(failing) = self.try_runs(&spec) {
                self.best = failing;
                return;
            }
            value += (value / 2).max(1);
        }
    }

    fn try_runs(&self, spec: &Spec) -> Option<Failing> {
        let mut runs = (0..self.runs).take_while(|_| !self.until.stopped());
        runs.find_map(|number| {
            let run = Run::of(spec, number, self.until, self.observe).ok()?;
            let finding = run.earliest(self.until)?;
            Some(Failing { run, finding })
        })
    }
}
