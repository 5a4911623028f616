//! The error of a run's mean, by batch means.

use strandline_sim::{run, Record, Spec};

/// A run of hashmap on two threads.
fn inserts(tasks: u64, seed: u64) -> Record {
    let spec = Spec {
        threads: Some(2),
        tasks: Some(tasks),
        seed,
        ..Spec::new("hashmap", "x86")
    };
    run(&spec).expect("runs")
}

#[test]
fn a_short_run_has_no_interval() {
    let derived = inserts(40, 1).derived;
    assert_eq!((derived.error_cycles, derived.drifts), (None, None));
    assert_eq!(derived.task_latency_p99_error_cycles, None);
}

#[test]
fn a_longer_run_has_a_narrower_interval() {
    let share = |tasks| {
        let record = inserts(tasks, 1);
        record.derived.error_cycles.expect("an interval") as f64 / record.stats.cycles.0 as f64
    };
    let (short, long) = (share(1_000), share(16_000));
    assert!(long < short / 2.0 && long < 0.02, "{short} {long}");
}

#[test]
fn most_intervals_hold_the_mean_of_many_runs() {
    let runs: Vec<(f64, f64)> = (1..=12)
        .map(|seed| {
            let record = inserts(2_000, seed);
            let error = record.derived.error_cycles.expect("an interval") as f64;
            (record.stats.cycles.0 as f64, error)
        })
        .collect();
    let mean = runs.iter().map(|(cycles, _)| cycles).sum::<f64>() / runs.len() as f64;
    let held = runs
        .iter()
        .filter(|(cycles, error)| (cycles - mean).abs() <= *error)
        .count();
    assert!(held >= 10, "{held} of 12: {mean} {runs:?}");
}
