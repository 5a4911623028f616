//! Designs with strands: litmus tests of strand persistency, random programs, small structures.

use strandline_crash::litmus::{conform, random, Registered};
use strandline_order::shelf;

/// Sets that make every queue small, and the sizes of the papers.
fn designs() -> Vec<(&'static str, Registered)> {
    let named = |name: &str| Registered::named(name).expect("registered");
    vec![
        ("as in the paper", named("strandweaver")),
        ("one entry in the queue", named("strandweaver").with("queue", "1")),
        (
            "one buffer of one entry",
            named("strandweaver").with("buffers", "1").with("entries", "1"),
        ),
        (
            "two buffers of two",
            named("strandweaver").with("buffers", "2").with("entries", "2"),
        ),
        ("no persist queue", named("no-persist-queue")),
        (
            "no persist queue, small",
            named("no-persist-queue").with("buffers", "2").with("entries", "1"),
        ),
    ]
}

#[test]
fn strands_show_nothing_that_the_model_forbids_whatever_the_sizes() {
    let programs = programs(4_000);
    for (sizes, design) in designs() {
        let report = random(&design, 1, programs).expect("programs that can be run");
        assert!(report.violations.is_empty(), "{sizes}: {:#?}", report.violations);
        assert_eq!(report.programs, programs);
    }
}

#[test]
fn the_litmus_tests_of_figure_2_show_nothing_forbidden() {
    for (sizes, design) in designs() {
        let figure_2 = |path: &str| path.contains("strandweaver-2") || path.contains("strand/");
        let tests: Vec<_> = shelf().into_iter().filter(|entry| figure_2(entry.path)).collect();
        assert!(tests.len() > 8);
        for entry in tests {
            let test = entry.test().expect("a right test");
            let Some(ran) = conform(&design, &test, None, 60, 1).expect("runs") else {
                continue;
            };
            assert!(
                ran.violations.is_empty(),
                "{sizes}, {}: {:#?}",
                entry.path,
                ran.violations
            );
        }
    }
}

/// How many random programs: so many, or as many as the slow suite asks for (`STRANDLINE_STRAND_PROGRAMS`).
fn programs(usual: u64) -> u64 {
    let asked = std::env::var("STRANDLINE_STRAND_PROGRAMS");
    asked.ok().and_then(|asked| asked.parse().ok()).unwrap_or(usual)
}
