//! PMEM-Spec: every planted bug of its paths, its buffers, its fences and its runtime is found.

use strandline_crash::litmus::{conform, random, Registered};
use strandline_crash::{explore, Points};
use strandline_order::shelf;
use strandline_rules::{breaking, Rule};
use strandline_sim::{Error, Spec};

/// A run in which regions of three operations meet caches of a few lines.
fn spec(workload: &str, seed: u64) -> Spec {
    Spec {
        runtime: Some("undo".to_owned()),
        threads: Some(4),
        tasks: Some(12),
        seed,
        set: vec!["workload.operations=3".to_owned()],
        ..Spec::new(workload, "pmem-spec")
    }
}

/// Crash exploration finds something; where it cannot get on, that is something, too.
fn exploration_finds() -> bool {
    ["cq", "hashmap", "rb-tree"].into_iter().any(|workload| {
        let found = (1..3).find(|seed| match explore(&spec(workload, *seed), Points::All) {
            Ok(report) => !report.failures.is_empty(),
            Err(Error::Input(line)) => panic!("refused: {line}"),
            Err(_) => true,
        });
        found.is_some()
    })
}

fn litmus_finds() -> bool {
    let design = Registered::named("pmem-spec").expect("registered");
    shelf().into_iter().any(|entry| {
        let test = entry.test().expect("a right test");
        let conformance = conform(&design, &test, None, 300, 1).expect("it gets on");
        conformance.is_some_and(|conformance| !conformance.violations.is_empty())
    })
}

fn programs_find() -> bool {
    let design = Registered::named("pmem-spec").expect("registered");
    let report = random(&design, 1, 4000).expect("they get on");
    report.violations > 0
}

#[test]
fn planted_bugs_are_found() {
    let rules = [
        Rule::PathInOrder,
        Rule::LateStoreYields,
        Rule::StaleLoadFound,
        Rule::BufferHoldsWindow,
        Rule::DurableWaitsWindow,
        Rule::ValidateBeforeCommit,
        Rule::AbortDelivered,
        Rule::EveryWordUndone,
    ];
    let mut missed = Vec::new();
    for rule in rules {
        let finds = breaking(Some(rule), || [litmus_finds(), programs_find(), exploration_finds()]);
        println!("{rule:?}: litmus tests, random programs, exploration: {finds:?}");
        if finds == [false; 3] {
            missed.push(rule);
        }
    }
    assert_eq!(missed, []);
    assert_eq!([litmus_finds(), programs_find(), exploration_finds()], [false; 3]);
}
