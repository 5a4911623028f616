//! The initial operations of a program.

use strandline_isa::{CoreId, Cpu, Lowering, Memory, Thread};
use strandline_runtime::{finish, Log, LogLayout, Plain, Random, ThreadState, Workload};

/// Runs the first `operations` tasks of a workload on plain memory: functional and untimed, as the "fast-forward mode" of
/// Speculative Persistence (ISCA 2017), 5.2.
pub(crate) fn populate<W: Workload>(workload: &W, memory: &Memory, seed: u64, operations: u64) {
    let plain = Plain::new(memory, CoreId(0), Lowering::NOTHING);
    let cpu = &Thread::on(&plain);
    let ended = finish(|| {
        let mut state = loader(cpu, &workload.logs(), seed);
        for _ in 0..operations {
            workload.task(&mut state);
        }
    });
    ended.expect("nobody holds a lock");
}

/// The thread that fills memory before a run.
pub(crate) fn loader<'c, C: Cpu>(cpu: &'c C, logs: &LogLayout, seed: u64) -> ThreadState<'c, C> {
    let _call = cpu.call(2);
    ThreadState {
        cpu,
        thread: 0,
        threads: 1,
        lane: 0,
        // No thread of a run has this number, so none repeats these operations.
        random: Random::new(cpu, seed, MAX_THREADS),
        log: Log::open(cpu, logs, 0),
    }
}

/// More than any run has.
pub(crate) const MAX_THREADS: usize = 1 << 16;
