//! Regions that are aborted while the machine is up: their tasks start again, and no crash sees anything of them.

use crate::common::crashing::{judge, run, sampled, Game, Outcome};
use crate::common::Visitor;
use crate::common::{amount, logged, several, with_several, with_small};
use strandline_isa::{Lowering, Memory};
use strandline_runtime::adversary::{Play, FENCED, SPECULATING};
use strandline_runtime::Program;

/// Runs to the end, crashing wherever the durable image changes, and judges what is left, too.
struct Aborted {
    lowering: Lowering,
    threads: usize,
    tasks: u64,
    play: Play,
    /// Judges one image in `every`.
    every: u64,
}

impl Visitor for Aborted {
    type Out = Outcome;

    fn visit(self, workload: &dyn Program, memory: Memory) -> Outcome {
        let game = Game {
            lowering: self.lowering,
            threads: self.threads,
            tasks: self.tasks,
            sharing: None,
            play: self.play,
        };
        let mut crash = sampled(workload, &memory, self.every, judge);
        let mut outcome = run(workload, &memory, game, &mut crash);
        outcome.failure = outcome.failure.or(workload.check(&memory).err());
        outcome
    }
}

/// All workloads whose regions have logs. A task of several regions cannot start again.
fn restarted() -> impl Iterator<Item = &'static str> {
    logged().filter(|name| !name.ends_with("incremental=1"))
}

fn plays() -> impl Iterator<Item = Play> {
    let evictions = [0, 50, 8, 2];
    evictions
        .into_iter()
        .zip(1..)
        .map(|(evict_one_in, seed)| Play { seed, evict_one_in })
}

#[test]
fn every_crash_image_recovers_and_every_task_is_done_once() {
    for name in restarted() {
        for threads in [1, 4] {
            for play in plays() {
                let aborted = |lowering, every| Aborted {
                    lowering,
                    threads,
                    tasks: 24,
                    play,
                    every,
                };
                let every = amount(2, 1) * if name == "tpcc" || name == "nstore" { 7 } else { 3 };
                let outcome = with_small(name, aborted(SPECULATING, every));
                assert_eq!(outcome.failure, None, "{name}, {threads} threads, {play:?}");
                assert!(outcome.aborted > 0, "{name}, {threads} threads, {play:?}: no abort");
                // How many of a thread's tasks write does not depend on aborts. Its crashes are those of `crash.rs`.
                if threads == 1 {
                    let undisturbed = with_small(name, aborted(FENCED, u64::MAX));
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
            for play in plays() {
                let aborted = Aborted {
                    lowering: SPECULATING,
                    threads,
                    tasks: 6,
                    play,
                    every: amount(6, 3),
                };
                let outcome = with_several(name, operations, aborted);
                assert_eq!(outcome.failure, None, "{name}, {operations} operations, {play:?}");
                assert!(
                    outcome.aborted > 0,
                    "{name}, {operations} operations, {play:?}: no abort"
                );
            }
        }
    }
}
