//! The language-level runtimes under crash exploration: what promises recovery recovers, and what orders nothing is caught.

mod common;

use common::{assert_clean, is_thorough, spec, WORKLOADS};
use strandline_crash::{explore, Points};
use strandline_designs::abouts;
use strandline_sim::{Error, Spec};

const RUNTIMES: [&str; 4] = ["txn", "atlas", "sfr", "redo"];
const UNDO: &str = "undo";

fn under(runtime: &str, workload: &str, design: &str, threads: u64) -> Spec {
    Spec {
        runtime: Some(runtime.to_owned()),
        // Batches end within the run, and logs come round.
        set: vec!["runtime.log_batch=3".to_owned(), "runtime.log_group=3".to_owned()],
        tasks: Some(if workload == "tpcc" { 8 } else { 40 }),
        ..spec(workload, design, threads)
    }
}

/// Without it one workload of this many for each pair of a runtime and a design, in turn.
const ONE_IN: usize = 6;

#[test]
fn every_runtime_recovers_under_every_design_that_promises_it() {
    let promising = || abouts().into_iter().filter(|about| about.promises_recovery);
    let pairs = RUNTIMES
        .iter()
        .chain([&UNDO])
        .flat_map(|runtime| promising().map(move |about| (*runtime, about.name)));
    let mut explored = 0;
    for (number, (runtime, design)) in pairs.enumerate() {
        for (turn, workload) in WORKLOADS.iter().enumerate().map(|(index, name)| (number + index, name)) {
            if !is_thorough() && turn % ONE_IN != 0 {
                continue;
            }
            for threads in [1, 4] {
                let alone = turn / ONE_IN % 2 == 0;
                if is_thorough() || alone == (threads == 1) {
                    let points = if is_thorough() { 1000 } else { 100 };
                    assert_clean(&under(runtime, workload, design, threads), Points::Count(points));
                    explored += 1;
                }
            }
        }
    }
    assert!(
        explored >= RUNTIMES.len() * promising().count(),
        "each pair at least once"
    );
}

#[test]
fn every_runtime_needs_its_order() {
    for runtime in RUNTIMES {
        for design in ["unordered", "volatile"] {
            let report = explore(&under(runtime, "sps", design, 2), Points::Count(200)).unwrap();
            assert!(!report.failures.is_empty(), "{runtime} under {design}");
        }
        let report = explore(&under(runtime, "cq", "non-atomic", 2), Points::Count(800)).unwrap();
        assert!(!report.failures.is_empty(), "{runtime} under non-atomic");
    }
}

#[test]
fn the_record_says_which_runtime_it_was() {
    let report = explore(&under("atlas", "sps", "x86", 1), Points::Count(8)).unwrap();
    assert_eq!(report.record.ran.runtime, "atlas");
    let report = explore(&spec("sps", "x86", 1), Points::Count(8)).unwrap();
    assert_eq!(report.record.ran.runtime, "undo");
}

#[test]
fn a_runtime_that_there_is_not_is_refused_in_one_line_with_those_there_are() {
    let Err(Error::Input(line)) = explore(&under("atlass", "sps", "x86", 1), Points::Count(8)) else {
        panic!("atlass was run")
    };
    assert!(
        line.contains("undo, txn, atlas, sfr, redo") && !line.contains('\n'),
        "{line}"
    );
    let mut spec = under("sfr", "sps", "x86", 1);
    spec.set.push("runtime.log_batch=0".to_owned());
    let Err(Error::Input(line)) = explore(&spec, Points::Count(8)) else {
        panic!("a batch of nothing was run")
    };
    assert!(line.contains("log_batch") && !line.contains('\n'), "{line}");
}
