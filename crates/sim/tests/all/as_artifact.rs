//! What ASAP's public code does in place of its text.

use strandline_machine::Stats;
use strandline_sim::{observe, run, Error, Spec};

fn spec(word: &str) -> Spec {
    Spec {
        machine: Some("asap".to_owned()),
        threads: Some(4),
        tasks: Some(400),
        runtime: Some("txn".to_owned()),
        set: vec![format!("design.as_artifact={word}")],
        ..Spec::new("queue", "asap-rp")
    }
}

fn stats(word: &str) -> Stats {
    run(&spec(word)).expect("runs").stats
}

#[test]
fn undo_records_read_nothing() {
    let [text, code] = ["none", "reads"].map(stats);
    // All cores together execute the same tasks, and hardly anything else reads.
    assert!(
        code.pm_reads * 2 < text.pm_reads,
        "{} for {}",
        code.pm_reads,
        text.pm_reads
    );
}

#[test]
fn commits_that_wait_for_no_answer_end_sooner() {
    let [text, code] = ["none", "commits"].map(stats);
    // A queue has an epoch for each record and each update, and each waited for a round trip to two controllers.
    assert!(
        code.cycles.0 * 10 < text.cycles.0 * 9,
        "{} cycles for {}",
        code.cycles.0,
        text.cycles.0
    );
}

#[test]
fn crash_tests_take_no_design_whose_settings_waive_recovery() {
    for word in ["commits", "both"] {
        let Err(Error::Input(text)) = observe(&spec(word)) else {
            panic!("{word}: it ran");
        };
        assert_eq!(
            text,
            format!("design asap-rp promises no recovery with --set design.as_artifact={word}, so no crash test takes it; leave it out")
        );
    }
    // What is read costs time, and orders nothing.
    for word in ["none", "reads"] {
        assert!(observe(&spec(word)).is_ok(), "{word}");
    }
}
