//! How long a run takes, before it starts.

use strandline_sim::{Length, Spec};

/// The time of a log record, in that of filling a line.
const WORK_OF_RECORD: u64 = 32;

fn length(workload: &str, tasks: u64, rows: &[&str]) -> Length {
    Length::of(&Spec {
        tasks: Some(tasks),
        warm: Some(0),
        set: rows.iter().map(|row| (*row).to_owned()).collect(),
        ..Spec::new(workload, "x86")
    })
    .unwrap()
}

#[test]
fn tasks_and_rows_make_a_run_longer() {
    let (one, two) = (length("sps", 1000, &[]), length("sps", 2000, &[]));
    // A task of sps logs its two rows and the record of its commit. The rows that it touches are filled then.
    assert_eq!(two.tasks, 2000);
    assert!(two.work - one.work >= 1000 * 3 * WORK_OF_RECORD);
    let (few, many) = (
        length("tatp", 1000, &[]),
        length("tatp", 1000, &["workload.rows=1000000"]),
    );
    assert!(many.work > few.work + 500_000);
}

#[test]
fn a_task_of_tpcc_is_longer_than_ten_of_sps() {
    assert!(length("tpcc", 10_000, &[]).work > length("sps", 100_000, &[]).work);
}
