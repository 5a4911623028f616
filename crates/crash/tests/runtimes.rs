//! The language-level runtimes under crash exploration: what promises recovery recovers, and what orders nothing is caught.

mod common;

use common::{assert_clean, spec, WORKLOADS};
use strandline_crash::{explore, Points};
use strandline_sim::{Error, Spec};

const RUNTIMES: [&str; 4] = ["txn", "atlas", "sfr", "redo"];

fn under(runtime: &str, workload: &str, design: &str, threads: u64) -> Spec {
    Spec {
        runtime: Some(runtime.to_owned()),
        // Batches end within the run, and logs come round.
        set: vec!["runtime.log_batch=3".to_owned(), "runtime.log_group=3".to_owned()],
        tasks: Some(if workload == "tpcc" { 8 } else { 40 }),
        ..spec(workload, design, threads)
    }
}

#[test]
fn every_runtime_recovers_where_the_design_promises_it() {
    for workload in WORKLOADS {
        for runtime in RUNTIMES {
            for threads in [1, 4] {
                assert_clean(&under(runtime, workload, "x86", threads), Points::Count(200));
            }
        }
    }
}

#[test]
fn every_runtime_recovers_under_designs_of_other_kinds() {
    for design in ["x86-pcommit", "eadr", "cosplay", "sbatch"] {
        for runtime in RUNTIMES {
            assert_clean(&under(runtime, "cq", design, 3), Points::Count(160));
        }
    }
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
    assert_eq!(report.record.runtime, "atlas");
    let report = explore(&spec("sps", "x86", 1), Points::Count(8)).unwrap();
    assert_eq!(report.record.runtime, "undo");
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
