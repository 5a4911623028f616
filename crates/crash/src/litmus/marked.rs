//! Acquire and release annotations, under the designs that use them.

use super::{random, Registered};
use crate::judge::order::{judge_all, Models};
use strandline_sim::{observe, Spec};

#[test]
fn random_programs_of_release_persistency_are_mostly_free_of_races() {
    let design = Registered::named("hops-rp").expect("registered");
    let report = random(&design, 1, 3000).expect("programs that can be run");
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
    // In a third of the programs, threads access each other's data; the oracle misses a race in some of these runs.
    assert!(
        report.undefined > 0 && report.undefined < 1000,
        "{} of 3000",
        report.undefined
    );
}

/// The synchronisation of the workloads and of every runtime is annotated: no part of a run is undefined.
#[test]
fn whole_runs_of_workloads_have_no_race_under_any_runtime() {
    for workload in ["hashmap", "sps", "pc", "tatp", "cq"] {
        for runtime in ["undo", "txn", "atlas", "sfr", "redo", "log-p-sf"] {
            let spec = Spec {
                threads: Some(4),
                tasks: Some(80),
                runtime: Some(runtime.to_owned()),
                ..Spec::new(workload, "asap-rp")
            };
            let seen = observe(&spec).unwrap_or_else(|error| panic!("{error}"));
            let mut models = Models::named("rp").expect("a model");
            let model = models.on(&seen.machine).expect("a model");
            let judged = judge_all(model, &seen.journal, &seen.initial, &|addr| addr.to_string());
            assert!(
                !judged.is_undefined && judged.disorder.is_none(),
                "{workload}, {runtime}: {judged:?}"
            );
        }
    }
}
