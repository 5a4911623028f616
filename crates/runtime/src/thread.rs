//! A thread of a program: it runs its tasks, one after the other.

use crate::resume::{resume_point, resumed, Progress};
use crate::{Log, Program, Random, Tasks};
use strandline_isa::{Cpu, Note, Thread};

/// The work of one thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadPlan {
    /// Which thread this is, from 0.
    pub thread: usize,
    /// How many there are.
    pub threads: usize,
    /// Tasks before the timed region.
    pub warm_tasks: u64,
    /// Tasks in the timed region.
    pub tasks: u64,
    /// The seed of the thread's random numbers, the same for all threads.
    pub seed: u64,
}

/// The most tasks of a timed region for which warm-up grows.
const MOST_WARM_TASKS: u64 = 20_000;

impl ThreadPlan {
    /// How many of `tasks` a thread runs: an equal share, the first threads one more where it does not come out even.
    #[must_use]
    pub fn share(tasks: u64, thread: u64, threads: u64) -> u64 {
        tasks / threads + u64::from(thread < tasks % threads)
    }

    /// How many tasks each thread runs before the timed region of `tasks` tasks by default: a tenth
    /// of its share.
    #[must_use]
    pub fn usual_warm_tasks(tasks: u64, threads: u64) -> u64 {
        (tasks / threads / 10).min(MOST_WARM_TASKS)
    }
}

/// A thread's state across tasks.
pub struct ThreadState<'c, C: Cpu> {
    /// The back end that the thread runs on.
    pub cpu: &'c C,
    /// Which thread this is, from 0.
    pub thread: usize,
    /// How many there are.
    pub threads: usize,
    /// Its number among all tasks that can run at once, which selects its log and other resources
    /// of its own.
    pub lane: usize,
    /// Its random numbers.
    pub random: Random<'c, C>,
    /// Its log.
    pub log: Log<'c, C>,
}

/// Runs one thread: warming tasks, the start line, the tasks that count.
pub fn run_thread<P: Tasks<C> + ?Sized, C: Cpu>(program: &P, cpu: &C, plan: ThreadPlan) {
    let mut state = open(program, cpu, plan, plan.thread);
    let mut progress = resumed(&mut state);
    loop {
        let tasks = if progress.timed { plan.tasks } else { plan.warm_tasks };
        run_tasks(program, &mut state, progress, tasks);
        // No lane may wait at the start line with regions for which others wait.
        state.log.close();
        if progress.timed {
            return;
        }
        cpu.start_line();
        progress = Progress { timed: true, tasks: 0 };
    }
}

/// Runs one thread that warms caches, for as long as it is to go on. Its lanes run a task each in turn. Nothing of it is
/// left open.
pub fn run_warming(program: &dyn Program, cpu: &Thread<'_>, plan: ThreadPlan, lanes: usize) {
    let mut states = Vec::with_capacity(lanes);
    for slot in 0..lanes {
        states.push(open(program, cpu, plan, plan.thread * lanes + slot));
    }
    let mut slot = 0;
    while cpu.has_warm_task() {
        cpu.note(Note::TaskBegin);
        crate::restart::run_task(program, &mut states[slot]);
        cpu.note(Note::TaskEnd);
        slot = (slot + 1) % lanes;
    }
    for state in &mut states {
        state.log.close();
    }
}

/// The state of a lane that runs one task at a time.
fn open<'c, P: Tasks<C> + ?Sized, C: Cpu>(
    program: &P,
    cpu: &'c C,
    plan: ThreadPlan,
    lane: usize,
) -> ThreadState<'c, C> {
    let logs = program.logs();
    ThreadState {
        cpu,
        thread: plan.thread,
        threads: plan.threads,
        lane,
        random: logs.random(cpu, plan.seed, lane),
        log: Log::open(cpu, &logs, lane),
    }
}

/// Runs the tasks of one part that have not ended, of `tasks` in all.
fn run_tasks<P: Tasks<C> + ?Sized, C: Cpu>(
    program: &P,
    state: &mut ThreadState<'_, C>,
    progress: Progress,
    tasks: u64,
) {
    for ended in progress.tasks..tasks {
        resume_point(
            state,
            Progress {
                tasks: ended,
                ..progress
            },
        );
        state.cpu.note(Note::TaskBegin);
        crate::restart::run_task(program, state);
        state.cpu.note(Note::TaskEnd);
    }
}
