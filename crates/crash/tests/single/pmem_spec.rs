//! PMEM-Spec: every planted bug of its paths, its buffers, its fences and its runtime is found.

use strandline_crash::litmus::{conform, random, Registered};
use strandline_crash::{explore, Points};
use strandline_order::shelf;
use strandline_rules::{breaking, Rule};
use strandline_sim::{Error, Spec};

/// A run in which regions of three operations meet caches of a few lines.
fn spec(workload: &str) -> Spec {
    Spec {
        runtime: Some("undo".to_owned()),
        threads: Some(4),
        tasks: Some(12),
        set: vec!["workload.operations=3".to_owned()],
        ..Spec::new(workload, "pmem-spec")
    }
}

/// Crash exploration finds something; where it cannot get on, that is something, too.
fn exploration_finds() -> bool {
    ["cq", "hashmap"]
        .into_iter()
        .any(|workload| match explore(&spec(workload), Points::All) {
            Ok(report) => !report.failures.is_empty(),
            Err(Error::Input(line)) => panic!("refused: {line}"),
            Err(_) => true,
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
    !report.violations.is_empty()
}

#[test]
fn bugs_of_paths_and_fences_are_found() {
    assert!(!litmus_finds());
    for rule in [Rule::PathInOrder, Rule::DurableWaitsWindow] {
        assert!(breaking(Some(rule), litmus_finds), "{rule:?}");
    }
}

#[test]
fn bugs_of_the_buffer_are_found() {
    assert!(!programs_find());
    for rule in [Rule::StaleLoadFound, Rule::BufferHoldsWindow] {
        assert!(breaking(Some(rule), programs_find), "{rule:?}");
    }
}

#[test]
fn bugs_of_the_abort_are_found() {
    assert!(!exploration_finds());
    for rule in [Rule::AbortDelivered, Rule::EveryWordUndone] {
        assert!(breaking(Some(rule), exploration_finds), "{rule:?}");
    }
}
