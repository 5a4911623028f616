//! Runs a task to its end, with a restart after each abort of its region.

use crate::abort::Abandoned;
use crate::finish::caught;
use crate::{Tasks, ThreadState};
use strandline_isa::Cpu;

/// Runs a task. If its region must be aborted, the task is unwound, the log aborts the region, and
/// the task restarts with the same random numbers. Those of the C library go on: others may have drawn since.
pub(crate) fn run_task<P: Tasks<C> + ?Sized, C: Cpu>(program: &P, state: &mut ThreadState<'_, C>) {
    let _call = state.cpu.call(1);
    program.logs().think.run(state.cpu, state.lane);
    let random = state.random;
    if !state.log.may_abort() {
        return program.task(state);
    }
    while let Err(Abandoned) = caught(|| program.task(state)) {
        state.log.abort();
        state.random = random;
    }
}
