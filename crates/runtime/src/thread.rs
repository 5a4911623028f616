//! What a thread of a program does: its tasks, one after the other.

use crate::{Random, UndoLog, Workload};
use strandline_isa::{Cpu, Note};

/// What one thread has to do.
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

/// What a thread carries from task to task.
pub struct ThreadState<'c, C: Cpu> {
    /// The back end that the thread runs on.
    pub cpu: &'c C,
    /// Which thread this is, from 0.
    pub thread: usize,
    /// How many there are.
    pub threads: usize,
    /// Its random numbers.
    pub random: Random<'c, C>,
    /// Its undo log.
    pub log: UndoLog<'c, C>,
}

/// Runs one thread: warming tasks, the start line, the tasks that count.
pub async fn run_thread<W: Workload, C: Cpu>(workload: &W, cpu: &C, plan: ThreadPlan) {
    let mut state = ThreadState {
        cpu,
        thread: plan.thread,
        threads: plan.threads,
        random: Random::new(cpu, plan.seed, plan.thread),
        log: UndoLog::open(cpu, &workload.logs(), plan.thread).await,
    };
    run_tasks(workload, &mut state, plan.warm_tasks).await;
    cpu.start_line().await;
    run_tasks(workload, &mut state, plan.tasks).await;
}

async fn run_tasks<W: Workload, C: Cpu>(workload: &W, state: &mut ThreadState<'_, C>, tasks: u64) {
    for _ in 0..tasks {
        state.cpu.note(Note::TaskBegin);
        workload.task(state).await;
        state.cpu.note(Note::TaskEnd);
    }
}
