//! Every workload survives a crash anywhere, under the most adverse persist order.
//!
//! What a log does under each runtime, `strandline-crash` finds too, under designs. Here are crashes that no design has:
//! a line may be written back at any time; recovery is cut short; threads go on after a crash, and it crashes again.

use crate::common::crashing::{crashed, judge, judge_twice, left, plays, Game, Outcome};
use crate::common::{amount, is_logged, logged, models, restarted, several, small, workloads, GLIBC, PLAN};
use strandline_isa::{Lowering, Primitive, Tasking};
use strandline_runtime::adversary::{Play, FENCED};
use strandline_runtime::{BuildPlan, Library, Logging, Runtime, Sharing, Window};

const UNORDERED_LOG: Lowering = Lowering {
    log_before_update: &[],
    ..FENCED
};

/// Each kind of play once.
const PLAYS: u64 = 4;

/// One image in this number is judged; one in a quarter of it by the thorough suite. Tasks of some workloads make a hundred
/// durable changes and more.
fn every(name: &str) -> u64 {
    let thorough = match name {
        "tpcc" | "nstore" => 5,
        // Trees whose operations log whole paths.
        tree if tree.starts_with("avl-tree") || tree.starts_with("b-tree") || tree.starts_with("sp-rb-tree") => 5,
        "string-swap" => 3,
        _ => 1,
    };
    amount(4 * thorough, thorough)
}

/// Nothing failed, and there were images to judge.
fn recovers(name: &str, outcome: &Outcome, case: &str) {
    assert_eq!(outcome.failure, None, "{name}, {case}");
    // A region writes its log, too: two changes at least. An operation without one may write one line, or none.
    let least = if is_logged(name) { 2.0 } else { 0.3 };
    assert!(
        outcome.crashes as f64 >= least * outcome.acknowledged as f64,
        "{name}, {case}: hardly any crash image"
    );
    acknowledges(name, outcome, case);
}

fn acknowledges(name: &str, outcome: &Outcome, case: &str) {
    assert_eq!(outcome.failure, None, "{name}, {case}");
    assert!(
        outcome.acknowledged > 0,
        "{name}, {case}: nothing was ever acknowledged"
    );
}

#[test]
fn every_crash_image_recovers() {
    for name in workloads() {
        for threads in [1, 4] {
            for play in plays(PLAYS) {
                let game = Game::alone(FENCED, threads, 24, play);
                let outcome = crashed(&small(name, &[], &PLAN), game, every(name), judge);
                recovers(name, &outcome, &format!("{threads} threads, {play:?}"));
            }
        }
    }
}

#[test]
fn every_crash_image_of_regions_of_several_operations_recovers() {
    for name in several() {
        for (operations, threads) in [("2", 4), ("7", 3)] {
            for play in plays(PLAYS) {
                let game = Game::alone(FENCED, threads, 6, play);
                let built = small(name, &[("operations", operations)], &PLAN);
                let outcome = crashed(&built, game, amount(6, 3), judge);
                acknowledges(name, &outcome, &format!("{operations} operations, {play:?}"));
            }
        }
    }
}

#[test]
fn regions_of_several_operations_without_order_are_found() {
    for name in several() {
        let found = plays(PLAYS).find_map(|play| {
            let game = Game::alone(UNORDERED_LOG, 4, 6, play);
            crashed(&small(name, &[("operations", "4")], &PLAN), game, 1, judge).failure
        });
        assert!(found.is_some(), "{name}");
    }
}

#[test]
fn recovery_may_crash_too() {
    for name in workloads() {
        for play in plays(PLAYS) {
            let game = Game::alone(FENCED, 3, 4, play);
            let outcome = crashed(&small(name, &[], &PLAN), game, 7 * every(name), judge_twice);
            assert_eq!(outcome.failure, None, "{name}, {play:?}");
        }
    }
}

#[test]
fn a_missing_fence_or_flush_is_found() {
    let never_durable = Lowering { durable: &[], ..FENCED };
    let unflushed = Lowering { flush: None, ..FENCED };
    let unlogged = Lowering { log: false, ..FENCED };
    for name in workloads() {
        for broken in [UNORDERED_LOG, never_durable, unflushed, unlogged] {
            // Tatp's region is one store to one line, which is atomic without a log. Some have no log. Recovery finds the
            // entry of a shared log, which is durable before its header is written. Queues of hosts only wait.
            let harmless = name == "tatp" && (broken == UNORDERED_LOG || broken == unlogged)
                || !is_logged(name) && broken == unlogged
                || name == "shared-log" && broken == never_durable
                || name == "host-queue" && broken == UNORDERED_LOG;
            let found = plays(PLAYS).find_map(|play| {
                let game = Game::alone(broken, 4, 24, play);
                crashed(&small(name, &[], &PLAN), game, 1, judge).failure
            });
            assert_eq!(found.is_none(), harmless, "{name} under {broken:?}");
        }
    }
}

/// A crash, recovery and restart, and then a crash anywhere.
struct Again {
    /// Durable changes before the first crash.
    first_crash: u64,
    /// Tasks of each thread before it.
    tasks: u64,
    /// Judges one image in `every`.
    every: u64,
}

impl Again {
    fn crashes(self, form: &str, plan: &BuildPlan, play: Play) -> Outcome {
        let (workload, memory) = small(form, &[], plan);
        let game = Game::alone(FENCED, 3, self.tasks, play);
        let left = left(&*workload, &memory, game, self.first_crash).expect("there were as many images");
        let again = restarted(&*workload, &left);
        // As many, in proportion: a batch returns only when it is full.
        let tasks = self.tasks * 3 / 8;
        crashed(&(workload, again), Game { tasks, ..game }, self.every, judge)
    }
}

#[test]
fn a_second_crash_recovers_too() {
    for name in workloads() {
        let again = |first_crash| Again {
            first_crash,
            tasks: if is_logged(name) { 8 } else { 48 },
            every: every(name),
        };
        for play in plays(PLAYS) {
            for first_crash in [3, 17, 40] {
                let outcome = again(first_crash).crashes(name, &PLAN, play);
                acknowledges(name, &outcome, &format!("{play:?}, {first_crash}"));
            }
        }
        // It loses the state of `rand` and the heap, too; a second one finds what the first restart has made of them.
        for (play, first_crash) in plays(PLAYS).zip([17, 40]) {
            let outcome = again(first_crash).crashes(name, &GLIBC, play);
            acknowledges(name, &outcome, &format!("glibc, {play:?}, {first_crash}"));
        }
    }
}

/// Tasks that share each of two threads.
const WINDOW: u64 = 3;

const SHARED: BuildPlan = BuildPlan {
    threads: 2,
    window: Some(WINDOW as usize),
    ..PLAN
};

/// Each task waits at fences for its own context (COSPlay 4).
const BY_CONTEXT: Lowering = Lowering {
    log_before_update: &[Primitive::Cfence(0)],
    commit: &[Primitive::Cfence(0)],
    durable: &[Primitive::Cfence(0)],
    resumed: &[Primitive::Setctx(0)],
    ..FENCED
};

/// One fence after each round of the window (COSPlay 5, "SBatch").
const BATCHED: Lowering = Lowering {
    tasking: Tasking::Batched,
    ..FENCED
};

/// Crashes two threads of shared tasks wherever their durable image changes.
fn crash_shared(name: &str, lowering: Lowering, library: Library, play: Play) -> Outcome {
    let sharing = Sharing {
        window: Window::Fixed(WINDOW),
        library,
    };
    let game = Game {
        sharing: Some(sharing),
        ..Game::alone(lowering, SHARED.threads, 18, play)
    };
    crashed(&small(name, &[], &SHARED), game, every(name), judge)
}

#[test]
fn every_crash_image_of_tasks_that_share_a_thread_recovers() {
    for name in workloads() {
        for lowering in [BY_CONTEXT, BATCHED, FENCED] {
            for (play, library) in plays(PLAYS).zip([Library::Paper, Library::Lean].into_iter().cycle()) {
                let outcome = crash_shared(name, lowering, library, play);
                recovers(name, &outcome, &format!("{lowering:?}, {play:?}"));
            }
        }
    }
}

#[test]
fn tasks_that_share_a_thread_and_order_nothing_are_found() {
    // Stores and flushes of all tasks are in context 0, while their fences wait for other contexts.
    let never_set = Lowering {
        resumed: &[],
        ..BY_CONTEXT
    };
    let never_durable = Lowering {
        durable: &[],
        ..BATCHED
    };
    for name in workloads() {
        for broken in [never_set, never_durable] {
            let found = plays(PLAYS).find_map(|play| crash_shared(name, broken, Library::Paper, play).failure);
            // Tasks that never wait for a lock run in lockstep. Between two fences of any of these tasks is, but for rare turns of
            // shared-heap, a fence of the first one, which is in context 0. The entry of a shared log is durable before its
            // header is written.
            let harmless = match name {
                "bandwidth" | "publish" | "shared-heap" | "host-queue" => broken == never_set,
                "shared-log" => true,
                _ => false,
            };
            assert!(found.is_some() || harmless, "{name} under {broken:?}");
        }
    }
}

/// A plan of three threads under another runtime.
fn under(logging: Logging) -> BuildPlan {
    BuildPlan {
        threads: 3,
        logging,
        ..PLAN
    }
}

/// A region of tpcc writes hundreds of lines. Crash exploration has two of its tasks, which are too few to find a field that
/// is not logged.
#[test]
fn every_crash_image_of_tpcc_recovers_under_every_runtime() {
    for logging in models(&[1, 3]) {
        for threads in [1, 4] {
            for play in plays(PLAYS) {
                let plan = BuildPlan {
                    threads,
                    ..under(logging)
                };
                let game = Game::alone(FENCED, threads, 12, play);
                let outcome = crashed(&small("tpcc", &[], &plan), game, 60, judge);
                acknowledges("tpcc", &outcome, &format!("{logging:?}, {threads} threads, {play:?}"));
            }
        }
    }
}

#[test]
fn recovery_may_crash_too_under_every_runtime() {
    // Every other play for a workload, the others for the next, or in `make thorough` all.
    let apart = amount(2, 1) as usize;
    for (number, name) in logged().enumerate() {
        for logging in models(&[3]) {
            for play in plays(PLAYS).skip(number % apart).step_by(apart) {
                let game = Game::alone(FENCED, 3, 4, play);
                let outcome = crashed(&small(name, &[], &under(logging)), game, 60, judge_twice);
                assert_eq!(outcome.failure, None, "{name}, {logging:?}, {play:?}");
            }
        }
    }
}

#[test]
fn a_second_crash_recovers_too_under_every_runtime() {
    for name in logged() {
        for logging in models(&[3]) {
            for play in plays(PLAYS) {
                let again = Again {
                    // A write-ahead log writes few lines: two for each, and its word twice.
                    first_crash: if matches!(logging.runtime, Runtime::Wal(_)) {
                        40
                    } else {
                        90
                    },
                    tasks: 8,
                    every: 5 * every(name),
                };
                let outcome = again.crashes(name, &under(logging), play);
                assert_eq!(outcome.failure, None, "{name}, {logging:?}, {play:?}");
            }
        }
    }
}
