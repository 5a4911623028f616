//! A window found during the run, compared with the best fixed one.

use crate::laws::cases;
use strandline_sim::{run, FoundBy, Spec, Window};

const SHORT: [u64; 5] = [1, 3, 6, 12, 24];
const THOROUGH: [u64; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

/// Cycles per task, after this many warm-up tasks.
fn takes(workload: &str, set: &[&str], bmo: u64, window: Window) -> f64 {
    let tasks = 2_000;
    let spec = Spec {
        window: Some(window),
        bmo: Some(bmo),
        tasks: Some(tasks),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Spec::new(workload, "cosplay")
    };
    run(&spec).expect("runs").stats.cycles.0 as f64 / tasks as f64
}

/// The figure `cosplay-window` shows all benchmarks at all latencies.
#[test]
fn a_window_that_has_settled_is_within_a_twentieth_of_the_best() {
    let windows = cases(&SHORT, &THOROUGH);
    for (workload, set) in [("pc", &[][..]), ("cq", &["workload.queues=4"])] {
        for bmo in [0, 700] {
            let fixed = windows
                .iter()
                .map(|window| takes(workload, set, bmo, Window::Tasks(*window)));
            let fixed: Vec<f64> = fixed.collect();
            let best = fixed.iter().copied().fold(f64::INFINITY, f64::min);
            let found = takes(workload, set, bmo, Window::Found(FoundBy::Auto));
            assert!(found <= 1.05 * best, "{workload} {bmo}: {found} against {fixed:?}");
        }
    }
}
