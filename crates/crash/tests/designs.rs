//! Designs that promise recovery keep the promise; those that do not are caught.

mod common;

use common::{assert_clean, is_thorough, replayed, spec, WORKLOADS};
use strandline_crash::{explore, recovers, replay, Points};
use strandline_designs::abouts;
use strandline_sim::{Error, Spec};

#[test]
fn what_promises_recovery_recovers() {
    // Of StrandWeaver's own three each design runs one here; `runtimes.rs` has all.
    let (first, own) = WORKLOADS.split_at(5);
    for (number, about) in abouts().iter().filter(|about| about.promises_recovery).enumerate() {
        let workloads = first.iter().chain([&own[number % own.len()]]).copied();
        for (turn, workload) in workloads.enumerate() {
            // Every other one, with one thread and four in turn; all of them with both in the slow suite, and of the baseline.
            let both = is_thorough() || about.name == "x86";
            if !both && (number + turn) % 2 == 1 {
                continue;
            }
            for threads in [1, 4]
                .into_iter()
                .filter(|n| both || (number + turn) / 2 % 2 == usize::from(*n == 4))
            {
                let mut spec = spec(workload, about.name, threads);
                // Long tasks; those that share a thread and wait for few locks go round for long, besides.
                if workload == "tpcc" && (about.window.is_some() || !is_thorough()) {
                    spec.tasks = Some(6);
                }
                let points = if is_thorough() { 240 } else { 160 };
                let report = assert_clean(&spec, Points::Count(points));
                assert_eq!(
                    (report.points, report.runs),
                    (points, 8),
                    "{workload} under {}",
                    about.name
                );
            }
        }
    }
}

#[test]
fn ordered_writes_over_two_controllers_leave_a_prefix() {
    for design in ["x86", "hops-ep", "strandweaver", "eadr", "bbb"] {
        assert_clean(&spec("bandwidth", design, 2), Points::Count(80));
    }
    let report = explore(&spec("bandwidth", "unordered", 2), Points::Count(80)).unwrap();
    assert!(!report.failures.is_empty());
}

#[test]
fn every_point_of_short_runs_recovers() {
    for threads in [1, 4] {
        let report = assert_clean(&spec("sps", "x86", threads), Points::All);
        // Point 0 of each run comes before its first event.
        assert_eq!(report.points, report.durable_events + report.runs);
    }
}

#[test]
fn pcommit_recovers_with_and_without_adr() {
    for adr in [false, true] {
        for threads in [1, 4] {
            let mut spec = spec("sps", "x86-pcommit", threads);
            spec.set = vec![format!("machine.controllers.adr={adr}")];
            assert_clean(&spec, Points::All);
        }
    }
}

#[test]
fn pcommit_recovers_on_every_machine() {
    // Weak and total store order, snooping and directory, with ADR and without.
    for machine in ["cosplay", "strandweaver", "dpo", "asap", "sp"] {
        let machine = Some(machine.to_owned());
        assert_clean(
            &Spec {
                machine,
                ..spec("cq", "x86-pcommit", 3)
            },
            Points::Count(200),
        );
    }
}

#[test]
fn what_does_not_order_persists_is_caught_and_fails_again_when_replayed() {
    let without_order = [("unordered", 1), ("unordered", 4), ("volatile", 2)];
    for (turn, workload) in WORKLOADS.into_iter().enumerate() {
        // One of them for each workload in turn; all of them in the slow suite, and of the first workload.
        for (number, (design, threads)) in without_order.into_iter().enumerate() {
            if !is_thorough() && turn > 0 && number != turn % without_order.len() {
                continue;
            }
            let spec = spec(workload, design, threads);
            let report = explore(&spec, Points::Count(200)).unwrap();
            assert!(!report.failures.is_empty(), "{workload} under {design}");
            assert_eq!(report.record.recovers, Some(false));
            for failure in &report.failures {
                let again = replayed(&spec, &failure.replay);
                assert_eq!((again.points, again.runs), (1, 1));
                assert_eq!(again.failures[0].why, failure.why, "{}", failure.replay);
                assert_eq!(again.failures[0].replay, failure.replay);
            }
            // Without fences the first task is acknowledged before any of it is durable.
            let smallest = &report.failures[0];
            assert_eq!((smallest.tasks, smallest.threads), (1, 1), "{workload} under {design}");
        }
    }
}

#[test]
fn updates_that_overtake_their_log_are_caught() {
    let report = explore(&spec("sps", "non-atomic", 1), Points::All).unwrap();
    let smallest = report
        .failures
        .first()
        .expect("an update that is durable before its log record");
    assert!(replayed(&spec("sps", "non-atomic", 1), &smallest.replay).failures[0].why == smallest.why);
    assert!(smallest.tasks <= report.record.stats.tasks && smallest.tasks <= report.failures[1].tasks);
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
fn the_quick_look_tells_them_apart() {
    for (design, recovered) in [
        ("x86", true),
        ("eadr", true),
        ("x86-pcommit", true),
        ("unordered", false),
    ] {
        assert_eq!(recovers(&spec("sps", design, 2)), Ok(recovered), "{design}");
    }
}
