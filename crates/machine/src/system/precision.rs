//! Ends a run once the mean of its tasks is known well enough.

use super::running::Running;
use crate::core::Core;
use strandline_kernel::Pace;

/// How well the cycles of a task are to be known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Half the width of their 95 % interval, as a share of them.
    pub share: f64,
    /// Tasks of the timed region, all cores together, before which the run does not end.
    pub least_tasks: u64,
}

/// By how much there are more tasks at each look: an interval that is looked at often is small by chance at some time.
const GROWTH: f64 = 1.25;

/// When a run is looked at for its [`Precision`].
#[derive(Default)]
pub(super) struct Looks {
    /// Tasks that had ended before the timed region; `None` before it.
    before: Option<u64>,
    /// Tasks of the timed region at which the next look is due.
    due: u64,
    /// The mean is known well enough: the run is over.
    pub(super) enough: bool,
}

impl Looks {
    /// The timed region begins, before which so many tasks have ended.
    pub(super) fn start(&mut self, ended: u64) {
        self.before = Some(ended);
    }
}

impl Running {
    /// Ends the run if its mean is known well enough. A run whose tasks come ever faster or slower goes on.
    ///
    /// It is called after a fixed number of steps, so the same run ends at the same task on every host.
    #[cold]
    pub(super) fn look_for_precision(&mut self) {
        let (Some(before), Some(precision)) = (self.looks.before, self.options.precision) else {
            return;
        };
        if self.region_has_ended() {
            return;
        }
        let cores = || self.hw.harts.iter().map(|hart| &*hart.core);
        let tasks = cores().map(|core: &Core| core.notes.tasks()).sum::<u64>() - before;
        if tasks < self.looks.due.max(precision.least_tasks) {
            return;
        }
        self.looks.due = (tasks as f64 * GROWTH) as u64;
        let latencies: Vec<_> = cores().map(|core| core.notes.latencies()).collect();
        let pace = Pace::of(latencies.iter().map(|core| &**core), self.hw.now());
        self.looks.enough =
            pace.drifts() == Some(false) && pace.half_width().is_some_and(|half| half <= precision.share);
        drop(latencies);
        if self.looks.enough {
            self.end_region(self.hw.now());
        }
    }
}
