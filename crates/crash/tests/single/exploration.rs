//! Crash exploration: every point, replays, messages; and that a seed shows the same of litmus tests, too.

use super::spec;
use strandline_crash::litmus::{conform, Registered};
use strandline_crash::{explore, replay, run, Points, Request, Stop};
use strandline_order::shelf;
use strandline_sim::{Error, Progress, Spec};

#[test]
fn every_point_of_short_runs_recovers() {
    let report = explore(&spec("sps", "x86", 4), Points::All).unwrap();
    assert_eq!(report.failures, []);
    assert_eq!(report.record.recovers, Some(true));
    // Point 0 of each run precedes its first event.
    assert_eq!(report.points, report.durable_events + report.runs);
}

#[test]
fn updates_that_overtake_their_log_are_caught() {
    let report = explore(&spec("sps", "non-atomic", 1), Points::All).unwrap();
    let [smallest, next, ..] = &report.failures[..] else {
        panic!("{:?}", report.failures)
    };
    assert!(smallest.tasks <= report.record.stats.tasks && smallest.tasks <= next.tasks);
}

#[test]
fn a_point_that_recovers_does_so_when_replayed() {
    let report = replay(&spec("sps", "x86", 2), "3:40").unwrap();
    assert_eq!((report.points, report.failures.len()), (1, 0));
}

#[test]
fn what_cannot_be_replayed_says_why_in_one_line() {
    for (place, why) in [
        ("3", "must be RUN:EVENT"),
        ("8:1", "only the runs 0 to 7"),
        ("0:999999", "durable events"),
    ] {
        let Err(Error::Input(line)) = replay(&spec("sps", "x86", 1), place) else {
            panic!("{place} was replayed")
        };
        assert!(line.contains(why) && !line.contains('\n'), "{line}");
    }
    let Err(Error::Input(line)) = explore(&spec("spz", "x86", 1), Points::All) else {
        panic!("spz was run")
    };
    assert!(line.contains("did you mean sps?"), "{line}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let bytes = |seed| {
        let spec = Spec {
            seed,
            tasks: Some(16),
            ..spec("cq", "unordered", 4)
        };
        let mut report = explore(&spec, Points::Count(50)).unwrap();
        (report.record.host_seconds, report.record.host_mips) = (0.0, 0.0);
        serde_json::to_string(&report).unwrap()
    };
    assert_eq!(bytes(5), bytes(5));
    assert_ne!(bytes(5), bytes(6));
}

#[test]
fn a_record_recovers_by_promise() {
    // Without a log no runtime promises it. Nothing orders log and update under non-atomic: short runs of tatp are lucky.
    for (design, runtime, recovered) in [
        ("x86", None, true),
        ("eadr", None, true),
        ("x86-pcommit", None, true),
        ("x86", Some("none"), false),
        ("non-atomic", None, false),
        ("unordered", None, false),
    ] {
        for tasks in [1, 100] {
            let spec = Spec {
                tasks: Some(tasks),
                runtime: runtime.map(str::to_owned),
                recovers: true,
                ..spec("sps", design, 2)
            };
            let record = run(&spec, None, &Progress::default()).unwrap();
            assert_eq!(record.recovers, Some(recovered), "{design}, {tasks} tasks");
        }
    }
    let lucky = Request {
        fails: None,
        run: Spec {
            tasks: Some(10),
            ..Spec::new("tatp", "non-atomic")
        },
        points: Points::Count(20),
        replay: None,
        max_failures: None,
    };
    let report = lucky.answer(Stop::default()).unwrap();
    assert_eq!((report.failures.len(), report.record.recovers), (0, Some(false)));
}

#[test]
fn the_record_says_which_runtime_it_was() {
    for (asked, runtime) in [(Some("atlas"), "atlas"), (None, "undo")] {
        let spec = Spec {
            runtime: asked.map(str::to_owned),
            tasks: Some(4),
            ..spec("sps", "x86", 1)
        };
        let report = explore(&spec, Points::Count(8)).unwrap();
        assert_eq!(report.record.ran.runtime, runtime);
    }
}

#[test]
fn a_runtime_that_there_is_not_is_refused_in_one_line_with_those_there_are() {
    for (runtime, set, why) in [
        ("atlass", "runtime.log_batch=3", "undo, txn, atlas, sfr, redo"),
        ("sfr", "runtime.log_batch=0", "log_batch"),
    ] {
        let spec = Spec {
            runtime: Some(runtime.to_owned()),
            set: vec![set.to_owned()],
            ..spec("sps", "x86", 1)
        };
        let Err(Error::Input(line)) = explore(&spec, Points::Count(8)) else {
            panic!("{runtime} was run with {set}")
        };
        assert!(line.contains(why) && !line.contains('\n'), "{line}");
    }
}

#[test]
fn the_same_seed_shows_the_same_of_a_litmus_test() {
    let design = Registered::named("x86").expect("registered");
    let entry = shelf().into_iter().find(|entry| entry.path == "classic/mp+plain+dram");
    let test = entry.expect("is on the shelf").test().expect("a right test");
    let runs: Vec<String> = (0..2)
        .map(|_| format!("{:?}", conform(&design, &test, None, 20, 7)))
        .collect();
    assert_eq!(runs[0], runs[1]);
}
