//! Explorations that end early return their findings.

use std::cell::Cell;
use strandline_crash::{explore, explore_until, explore_with, Points, Request, Stop, Until};
use strandline_sim::{observe, Error, Spec};

fn spec() -> Spec {
    Spec {
        tasks: Some(20),
        ..Spec::new("sps", "unordered")
    }
}

#[test]
fn enough_failures_end_it() {
    let all = explore(&spec(), Points::Count(100)).expect("runs");
    assert!(all.complete && all.failures.len() > 1 && all.points >= 100);
    let until = Until::new(Some(1), Stop::default());
    let one = explore_until(&spec(), Points::Count(100), &until, &observe).expect("runs");
    assert!(!one.complete && one.points < all.points);
    assert_eq!(one.failures.len(), 1);
    assert_eq!(one.record.recovers, Some(false));
}

#[test]
fn more_failures_than_there_are_end_nothing() {
    let until = Until::new(Some(u64::MAX), Stop::default());
    let report = explore_until(&spec(), Points::Count(100), &until, &observe).expect("runs");
    let plain = explore_with(&spec(), Points::Count(100), &observe).expect("runs");
    assert_eq!(report.failures, plain.failures);
    assert!(report.complete);
}

#[test]
fn a_stop_leaves_what_was_found() {
    let (stop, runs) = (Stop::default(), Cell::new(0));
    let until = Until::new(None, stop.clone());
    let in_the_third_run = |spec: &Spec| {
        runs.set(runs.get() + 1);
        if runs.get() == 3 {
            stop.set();
        }
        observe(spec)
    };
    let report = explore_until(&spec(), Points::Count(100), &until, &in_the_third_run).expect("runs");
    assert_eq!((report.complete, runs.get()), (false, 3), "nothing is shrunk");
    assert!((1..100).contains(&report.points));
    assert!(!report.failures.is_empty());
    assert!(report.failures.iter().all(|failure| failure.case.is_none()), "in short");
}

#[test]
fn a_stop_while_the_first_run_is_judged_is_no_verdict() {
    let stop = Stop::default();
    let until = Until::new(None, stop.clone());
    let in_the_first_run = |spec: &Spec| {
        stop.set();
        observe(spec)
    };
    let report = explore_until(&spec(), Points::All, &until, &in_the_first_run);
    assert_eq!(report, Err(Error::Stopped));
}

#[test]
fn a_stop_while_the_smallest_case_is_sought_leaves_what_was_found() {
    let (stop, runs) = (Stop::default(), Cell::new(0));
    let until = Until::new(None, stop.clone());
    let after_the_survey = |spec: &Spec| {
        runs.set(runs.get() + 1);
        if runs.get() == 9 {
            stop.set();
        }
        observe(spec)
    };
    let report = explore_until(&spec(), Points::Count(100), &until, &after_the_survey).expect("runs");
    assert_eq!((report.complete, runs.get()), (true, 9), "nothing is shrunk");
    assert!(!report.failures.is_empty());
}

#[test]
fn a_run_under_way_is_stopped() {
    let stop = Stop::default();
    stop.set();
    let run = Spec {
        tasks: Some(5_000),
        ..spec()
    };
    let request = Request {
        fails: None,
        run,
        points: Points::Count(50),
        replay: None,
        max_failures: None,
    };
    assert_eq!(request.answer(stop), Err(Error::Stopped), "there is nothing to report");
}

#[test]
fn a_later_run_that_is_stopped_leaves_what_was_found() {
    let runs = Cell::new(0);
    let report = explore_with(&spec(), Points::Count(80), &|spec| {
        runs.set(runs.get() + 1);
        match runs.get() {
            1 | 2 => observe(spec),
            _ => Err(Error::Stopped),
        }
    });
    let report = report.expect("two runs'");
    assert_eq!((report.complete, report.runs), (false, 2));
    assert!(!report.failures.is_empty());
}
