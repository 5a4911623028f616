//! Eager flushing: the events that crash exploration must have covered.

use super::spec;
use strandline_sim::{run, Record, Spec};

const EAGER: [&str; 4] = ["asap-ep", "asap-rp", "asap-strand", "asap-frontier-ep"];

/// Lines alternate between two controllers.
fn on_two_controllers(design: &str, sets: &[&str]) -> Record {
    let usual = ["machine.controllers.count=2", "machine.controllers.interleave_bytes=64"];
    let spec = Spec {
        machine: Some("asap".to_owned()),
        set: usual.iter().chain(sets).map(|set| (*set).to_owned()).collect(),
        tasks: Some(64),
        ..spec("hashmap", design, 4)
    };
    run(&spec).expect("a run")
}

#[test]
fn flushes_are_early_and_are_recorded() {
    for design in EAGER {
        let record = on_two_controllers(design, &[]);
        assert!(
            record.stats.design.early_flushes > Some(0) && record.stats.design.undo_records > Some(0),
            "{record:?}"
        );
    }
}

#[test]
fn a_table_of_one_record_refuses_flushes_and_is_slower() {
    for design in EAGER {
        let (large, small) = (
            on_two_controllers(design, &[]),
            on_two_controllers(design, &["design.table=1"]),
        );
        assert!(small.stats.design.nacks > Some(0), "{design}: {small:?}");
        assert!(
            small.stats.cycles.0 > large.stats.cycles.0,
            "{design}: {} with one record, {} with 32",
            small.stats.cycles.0,
            large.stats.cycles.0
        );
    }
}
