//! Runs that end once their mean is known well enough.

use serde_json::{json, Value};
use strandline_sim::{run, Error, Record, Spec};

/// A run of so many tasks with a precision of one per cent.
fn precise(workload: &str, tasks: u64) -> Record {
    run(&spec(workload, tasks)).expect("runs")
}

fn spec(workload: &str, tasks: u64) -> Spec {
    Spec {
        threads: Some(2),
        tasks: Some(tasks),
        warm: Some(200),
        precision: Some(0.01),
        ..Spec::new(workload, "x86")
    }
}

fn ended(record: &Record) -> &Value {
    &record.params["precision"]["ended"]
}

/// Half the width of the interval, as a share.
fn share(record: &Record) -> f64 {
    record.derived.error_cycles.expect("an interval") as f64 / record.stats.cycles.0 as f64
}

#[test]
fn a_stationary_run_ends_once_it_is_precise() {
    let found = precise("sps", 100_000);
    assert_eq!(ended(&found), &json!("precise"));
    assert!((1_000..20_000).contains(&found.stats.tasks), "{}", found.stats.tasks);
    // What has ended since the last look is counted too.
    assert!(share(&found) < 0.012, "{}", share(&found));
    let whole = run(&Spec {
        precision: None,
        ..spec("sps", 20_000)
    })
    .expect("runs");
    let of_a_task = |record: &Record| record.stats.cycles.0 as f64 / record.stats.tasks as f64;
    let off = of_a_task(&found) / of_a_task(&whole) - 1.0;
    assert!(off.abs() < share(&found) + share(&whole), "{off}");
}

#[test]
fn the_same_run_ends_at_the_same_task() {
    let [first, second] = [(); 2].map(|()| {
        let record = precise("hashmap", 100_000);
        (record.stats, record.derived)
    });
    assert_eq!(first, second);
}

#[test]
fn a_run_that_is_not_precise_has_all_tasks() {
    let short = precise("sps", 500);
    assert_eq!((ended(&short), short.stats.tasks_to_the_end), (&json!("tasks"), 500));
}

#[test]
fn a_program_that_is_not_stationary_has_all_tasks() {
    let record = precise("tpcc", 300);
    assert_eq!(
        (ended(&record), record.stats.tasks_to_the_end),
        (&json!("not stationary"), 300)
    );
}

#[test]
fn a_precision_lies_between_none_and_half_of_the_mean() {
    for share in [0.0, -0.1, 0.6, f64::NAN] {
        let spec = Spec {
            precision: Some(share),
            ..Spec::new("sps", "x86")
        };
        let Err(Error::Input(line)) = run(&spec) else {
            panic!("{share} is refused")
        };
        assert!(line.starts_with("--precision "), "{line}");
        assert!(line.ends_with("%: must be more than 0% and at most 50%"), "{line}");
    }
}
