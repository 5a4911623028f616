//! Regions that are aborted while the machine is up: their tasks start again, and no crash sees anything of them.

use crate::common::crashing::{judge, plays, run, sampled, Game, Outcome};
use crate::common::{amount, logged, several, small, PLAN};
use strandline_runtime::adversary::{FENCED, SPECULATING};
use strandline_workloads::Built;

/// Runs to the end, crashing wherever the durable image changes, and judges one image in `every` and what is left, too.
fn aborted((workload, memory): &Built, game: Game, every: u64) -> Outcome {
    let mut crash = sampled(&**workload, memory, every, judge);
    let mut outcome = run(&**workload, memory, game, &mut crash);
    outcome.failure = outcome.failure.or(workload.check(memory).err());
    outcome
}

/// All workloads whose regions have logs. A task of several regions cannot start again.
fn restarted() -> impl Iterator<Item = &'static str> {
    logged().filter(|name| !name.ends_with("incremental=1"))
}

#[test]
fn every_crash_image_recovers_and_every_task_is_done_once() {
    for name in restarted() {
        for threads in [1, 4] {
            for play in plays(4) {
                let game = |lowering| Game::alone(lowering, threads, 24, play);
                let every = amount(2, 1) * if name == "tpcc" || name == "nstore" { 7 } else { 3 };
                let outcome = aborted(&small(name, &[], &PLAN), game(SPECULATING), every);
                assert_eq!(outcome.failure, None, "{name}, {threads} threads, {play:?}");
                assert!(outcome.aborted > 0, "{name}, {threads} threads, {play:?}: no abort");
                // How many of a thread's tasks write does not depend on aborts. Its crashes are those of `crash.rs`.
                if threads == 1 {
                    let undisturbed = aborted(&small(name, &[], &PLAN), game(FENCED), u64::MAX);
                    assert_eq!(undisturbed.aborted, 0);
                    assert_eq!(outcome.acknowledged, undisturbed.acknowledged, "{name}, {play:?}");
                }
            }
        }
    }
}

#[test]
fn regions_of_several_operations_are_aborted_as_a_whole() {
    for name in several() {
        for (operations, threads) in [("2", 4), ("7", 3)] {
            for play in plays(4) {
                let built = small(name, &[("operations", operations)], &PLAN);
                let outcome = aborted(&built, Game::alone(SPECULATING, threads, 6, play), amount(6, 3));
                let case = format!("{name}, {operations} operations, {play:?}");
                assert_eq!(outcome.failure, None, "{case}");
                assert!(outcome.aborted > 0, "{case}: no abort");
            }
        }
    }
}
