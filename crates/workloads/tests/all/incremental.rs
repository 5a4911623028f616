//! Trees with incremental logging: crashes between the steps of rebalancing (Speculative Persistence, ISCA 2017, 3.2).

use crate::common::counting::{Counting, Counts};
use crate::common::crashing::{run, Game};
use crate::common::thread_plan;
use crate::common::{with_workload, Visitor};
use std::cell::Cell;
use strandline_isa::{Lowering, Memory, Thread};
use strandline_runtime::adversary::{Play, Watch, FENCED};
use strandline_runtime::{finish, run_thread, BuildPlan, Logging, Program};

const TREES: [&str; 3] = ["avl-tree", "b-tree", "sp-rb-tree"];

const ALONE: BuildPlan = BuildPlan {
    threads: 1,
    window: None,
    seed: 5,
    logging: Logging::UNDO,
};

fn set(incremental: &str) -> [(&str, &str); 3] {
    [("keys", "200"), ("init_ops", "400"), ("incremental", incremental)]
}

/// Crashes everywhere; counts the images in which the tree is not balanced before repair.
struct Unbalanced;

impl Visitor for Unbalanced {
    type Out = u64;

    fn visit(self, workload: &dyn Program, memory: Memory) -> u64 {
        let unbalanced = Cell::new(0);
        let mut crash = |image: &Memory, _: &Watch| {
            let image = &image.persistent_half();
            workload.recover(image);
            unbalanced.set(unbalanced.get() + u64::from(workload.check(image).is_err()));
            workload.repair(image);
            workload.check(image)
        };
        let game = Game {
            lowering: FENCED,
            threads: 1,
            tasks: 300,
            sharing: None,
            play: Play {
                seed: 1,
                evict_one_in: 0,
            },
        };
        let outcome = run(workload, &memory, game, &mut crash);
        assert_eq!(outcome.failure, None);
        unbalanced.get()
    }
}

#[test]
fn recovery_continues_to_rebalance() {
    for name in TREES {
        let unbalanced = with_workload(name, set("1"), &ALONE, Unbalanced).unwrap();
        assert!(unbalanced > 100, "{name}: {unbalanced}");
        // "The tree is always balanced regardless of when a failure occurs" (3.2).
        let unbalanced = with_workload(name, set("0"), &ALONE, Unbalanced).unwrap();
        assert_eq!(unbalanced, 0, "{name}");
    }
}

struct Count(Lowering);

impl Visitor for Count {
    type Out = Counts;

    fn visit(self, workload: &dyn Program, memory: Memory) -> Counts {
        let cpu = Counting::new(&memory, self.0);
        finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, 2000, 11))).unwrap();
        cpu.counts()
    }
}

/// Full logging "only requires a set of four pcommits regardless of whether rebalancing is triggered" (3.2): two fences of
/// this undo log. Incremental logging has as many for each step, and logs fewer nodes.
#[test]
fn full_logging_orders_once_and_incremental_logging_at_each_step() {
    for name in TREES {
        let count = |incremental| with_workload(name, set(incremental), &ALONE, Count(FENCED)).unwrap();
        let (full, steps) = (count("0"), count("1"));
        assert_eq!(full.fences, 2 * full.tasks, "{name}");
        assert!(steps.fences > full.fences, "{name}: {steps:?}");
        assert!(steps.flushes < full.flushes, "{name}: {steps:?}, {full:?}");
        println!("{name}: full {full:?}, incremental {steps:?}");
    }
}

/// Both ways write the same tree.
#[test]
fn the_plain_program_is_the_same_but_for_logging() {
    for name in TREES {
        let count = |incremental| with_workload(name, set(incremental), &ALONE, Count(Lowering::NOTHING)).unwrap();
        assert_eq!(count("0"), count("1"), "{name}");
    }
}
