//! Runs a task to its end, with a restart after each abort of its region.

use crate::{ThreadState, Workload};
use std::cell::Cell;
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::task::Poll;
use strandline_isa::Cpu;

/// Runs a task. If its region must be aborted, the task is dropped, the log aborts the region, and
/// the task restarts with the same random numbers. Those of the C library go on: others may have drawn since.
pub(crate) async fn run_task<W: Workload, C: Cpu>(workload: &W, state: &mut ThreadState<'_, C>) {
    let _call = state.cpu.call(1);
    think(state.cpu, workload.logs().think);
    let random = state.random;
    let Some(abandoned) = state.log.abandoned() else {
        return workload.task(state).await;
    };
    while !finishes(workload.task(state), &abandoned).await {
        state.log.abort().await;
        state.random = random;
    }
}

/// Work of a task that touches nothing that others see: a loop of additions, each of which needs the one before.
pub(crate) fn think<C: Cpu>(cpu: &C, additions: u64) {
    let mut sum = cpu.word(0);
    for _ in 0..additions {
        sum = sum + 1;
    }
}

/// Whether the task ends before it is abandoned.
async fn finishes(task: impl Future<Output = ()>, abandoned: &Cell<bool>) -> bool {
    let mut task = pin!(task);
    poll_fn(|context| match task.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending if abandoned.take() => Poll::Ready(false),
        Poll::Pending => Poll::Pending,
    })
    .await
}
