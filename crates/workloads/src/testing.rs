//! What the tests of workloads share.

use crate::populate::loader;
use std::fmt::Display;
use strandline_isa::{Addr, CoreId, Cpu, Image, Lowering, Memory};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{
    finish, run_thread, BuildPlan, LogLayout, Logging, Plain, Random, Tasks, ThreadPlan, ThreadState, Workload,
};

/// Values of these parameters.
pub fn params<V: Display>(declared: &[Param], set: &[(&str, V)]) -> Result<Params, ParamError> {
    let set: Vec<(&str, String)> = set.iter().map(|(key, value)| (*key, value.to_string())).collect();
    Params::parse(
        "workload",
        declared,
        set.iter().map(|(key, value)| (*key, value.as_str())),
    )
}

/// A plan of one thread.
pub fn plan(seed: u64) -> BuildPlan {
    BuildPlan {
        threads: 1,
        window: None,
        seed,
        logging: Logging::UNDO,
    }
}

/// A workload of one thread with these parameters, and its filled memory.
pub fn try_built<W: Workload, V: Display>(
    declared: &[Param],
    seed: u64,
    set: &[(&str, V)],
) -> Result<(W, Memory), ParamError> {
    W::build(&params(declared, set)?, &plan(seed))
}

/// As [`try_built`], with parameters that go together.
pub fn built<W: Workload, V: Display>(declared: &[Param], seed: u64, set: &[(&str, V)]) -> (W, Memory) {
    try_built(declared, seed, set).expect("right parameters")
}

/// A core that makes nothing durable.
pub fn plain(memory: &Memory) -> Plain<'_> {
    Plain::new(memory, CoreId(0), Lowering::NOTHING)
}

/// The first thread, between tasks.
pub fn thread<'c, C: Cpu>(cpu: &'c C, logs: &LogLayout, seed: u64) -> ThreadState<'c, C> {
    ThreadState {
        random: Random::new(cpu, seed, 0),
        ..loader(cpu, logs, seed)
    }
}

/// Runs so many tasks of a thread.
pub fn run<P: Tasks<C>, C: Cpu>(workload: &P, cpu: &C, seed: u64, tasks: u64) {
    let plan = ThreadPlan {
        thread: 0,
        threads: 1,
        warm_tasks: 0,
        tasks,
        seed,
    };
    finish(|| run_thread(workload, cpu, plan)).expect("nobody holds a lock");
}

/// A number that is drawn from `0..below`.
pub fn drawn<C: Cpu>(random: &mut Random<'_, C>, below: u64) -> u64 {
    finish(|| random.below(below)).expect("nobody holds a lock").bits()
}

/// A hundred thousand operations; in `make thorough` a million.
pub fn many() -> u64 {
    match std::env::var_os("STRANDLINE_THOROUGH") {
        Some(_) => 1_000_000,
        None => 100_000,
    }
}

/// Changes each of these words alone, and expects a complaint with this text.
pub fn damage(memory: &Memory, check: impl Fn(&Memory) -> Result<(), String>, cases: &[(u64, u64, &str)]) {
    for (at, word, expected) in cases {
        let damaged = memory.clone();
        damaged.set_word(Addr(*at), *word);
        let error = check(&damaged).expect_err(expected);
        assert!(error.contains(expected), "{error}, not: {expected}");
    }
    assert_eq!(check(memory), Ok(()));
}
