//! Eager flushing before its models and under crash exploration: small structures, several controllers, open windows of
//! speculation.

mod common;

use common::{assert_clean, is_thorough, spec, WORKLOADS};
use strandline_crash::litmus::{random, Registered};
use strandline_crash::Points;
use strandline_designs::abouts;
use strandline_sim::Spec;

const EAGER: [&str; 3] = ["asap-ep", "asap-rp", "asap-strand"];

/// Random programs of several threads, each before the model of its design: persists of whatever order memory had them in.
fn assert_sound(design: &str, sets: &[(&'static str, &'static str)], programs: u64) {
    let mut subject = Registered::named(design).expect("registered");
    for (key, value) in sets {
        subject = subject.with(key, value);
    }
    let report = random(&subject, 77, programs).expect("programs that can be run");
    assert!(report.violations.is_empty(), "{sets:?}: {:#?}", report.violations);
    assert_eq!(report.programs, programs);
}

#[test]
fn random_programs_are_in_order_however_small_tables_and_buffers_are() {
    let programs = if is_thorough() { 200_000 } else { 2_500 };
    for design in EAGER {
        assert_sound(design, &[("table", "1")], programs);
        assert_sound(design, &[("table", "2"), ("entries", "2"), ("epochs", "3")], programs);
        assert_sound(design, &[("table", "1"), ("entries", "1"), ("epochs", "2")], programs);
    }
    for design in ["hops-ep", "hops-rp"] {
        assert_sound(
            design,
            &[("entries", "1"), ("poll", "1"), ("poll_access", "1")],
            programs,
        );
    }
}

/// A workload under a design on ASAP's machine, lines in turn on two controllers.
fn on_two_controllers(workload: &str, design: &str, threads: u64) -> Spec {
    Spec {
        machine: Some("asap".to_owned()),
        set: vec!["machine.controllers.interleave_bytes=64".to_owned()],
        ..spec(workload, design, threads)
    }
}

#[test]
fn every_design_recovers_on_two_controllers() {
    let promising = abouts().into_iter().filter(|about| about.promises_recovery);
    for (number, about) in promising.enumerate() {
        for (index, workload) in WORKLOADS.iter().enumerate() {
            let turn = number + index;
            let eager = EAGER.contains(&about.name);
            if !is_thorough() && turn % if eager { 3 } else { 9 } != 0 {
                continue;
            }
            for threads in [1, 4] {
                if is_thorough() || (turn % 2 == 0) == (threads == 4) {
                    let mut spec = on_two_controllers(workload, about.name, threads);
                    if *workload == "tpcc" {
                        spec.tasks = Some(6);
                    }
                    assert_clean(&spec, Points::Count(160));
                }
            }
        }
    }
}

#[test]
fn crashes_fall_into_windows_of_speculation() {
    for (design, runtime) in EAGER.into_iter().flat_map(|design| [(design, "undo"), (design, "txn")]) {
        let spec = Spec {
            runtime: Some(runtime.to_owned()),
            ..on_two_controllers("hashmap", design, 4)
        };
        let report = assert_clean(&spec, Points::Count(400));
        let record = &report.record;
        assert!(
            record.stats.design.early_flushes > Some(0) && record.stats.design.undo_records > Some(0),
            "{record:?}"
        );
    }
}

#[test]
fn a_table_of_one_record_recovers_and_a_window_of_tasks_does() {
    for design in EAGER {
        for (sets, window) in [
            (vec!["design.table=1"], None),
            (vec!["design.table=1", "design.entries=2", "design.epochs=3"], None),
            (vec![], Some(3)),
        ] {
            let mut spec = on_two_controllers("hashmap", design, 4);
            spec.set.extend(sets.iter().map(|set| (*set).to_owned()));
            spec.window = window.map(strandline_sim::Window::Tasks);
            let report = assert_clean(&spec, Points::Count(160));
            if window.is_none() {
                assert!(
                    report.record.stats.design.nacks > Some(0),
                    "{design} {sets:?}: {:?}",
                    report.record
                );
            }
        }
    }
}

#[test]
fn a_table_of_one_record_is_slower() {
    for design in EAGER {
        let large = on_two_controllers("hashmap", design, 4);
        let mut small = large.clone();
        small.set.push("design.table=1".to_owned());
        let cycles = |spec: &Spec| strandline_sim::run(spec).expect("a run").stats.cycles;
        let (small, large) = (cycles(&small), cycles(&large));
        assert!(small > large, "{design}: {small} with one record, {large} with 32");
    }
}
