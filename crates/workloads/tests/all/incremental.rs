//! Trees with incremental logging: crashes between the steps of rebalancing (Speculative Persistence, ISCA 2017, 3.2).

use crate::common::counting::Counts;
use crate::common::crashing::{run, Game};
use crate::common::{counted, ALONE};
use std::cell::Cell;
use strandline_isa::{Lowering, Memory};
use strandline_runtime::adversary::{Play, Watch, FENCED};
use strandline_workloads::{build, Built};

const TREES: [&str; 3] = ["avl-tree", "b-tree", "sp-rb-tree"];

fn tree(name: &str, incremental: &str) -> Built {
    let set = [("keys", "200"), ("init_ops", "400"), ("incremental", incremental)];
    build(name, set, &ALONE).unwrap()
}

/// Crashes everywhere; counts the images in which the tree is not balanced before repair.
fn unbalanced((workload, memory): &Built) -> u64 {
    let unbalanced = Cell::new(0);
    let mut crash = |image: &Memory, _: &Watch| {
        let image = &image.persistent_half();
        workload.recover(image);
        unbalanced.set(unbalanced.get() + u64::from(workload.check(image).is_err()));
        workload.repair(image);
        workload.check(image)
    };
    let play = Play {
        seed: 1,
        evict_one_in: 0,
    };
    let outcome = run(&**workload, memory, Game::alone(FENCED, 1, 300, play), &mut crash);
    assert_eq!(outcome.failure, None);
    unbalanced.get()
}

#[test]
fn recovery_continues_to_rebalance() {
    for name in TREES {
        let found = unbalanced(&tree(name, "1"));
        assert!(found > 100, "{name}: {found}");
        // "The tree is always balanced regardless of when a failure occurs" (3.2).
        assert_eq!(unbalanced(&tree(name, "0")), 0, "{name}");
    }
}

fn count(name: &str, incremental: &str, lowering: Lowering) -> Counts {
    let (workload, memory) = tree(name, incremental);
    counted(&*workload, &memory, lowering, 2000, 11).counts()
}

/// Full logging "only requires a set of four pcommits regardless of whether rebalancing is triggered" (3.2): two fences of
/// this undo log. Incremental logging has as many for each step, and logs fewer nodes.
#[test]
fn full_logging_orders_once_and_incremental_logging_at_each_step() {
    for name in TREES {
        let (full, steps) = (count(name, "0", FENCED), count(name, "1", FENCED));
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
        let count = |incremental| count(name, incremental, Lowering::NOTHING);
        assert_eq!(count("0"), count("1"), "{name}");
    }
}
