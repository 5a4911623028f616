//! What tests of crash exploration share.

#![allow(dead_code)] // Each test uses its part.

use strandline_crash::{explore, replay, Points, Report};
use strandline_sim::{Found, Spec, Window};

/// The benchmarks of COSPlay, and those that StrandWeaver has beside them.
pub const WORKLOADS: [&str; 9] = [
    "sps",
    "pc",
    "tatp",
    "tpcc",
    "cq",
    "hashmap",
    "rb-tree",
    "nstore-wr",
    "bandwidth",
];

/// With `STRANDLINE_THOROUGH` set, as `make thorough` does, every combination, and more crash states of each.
pub fn is_thorough() -> bool {
    std::env::var_os("STRANDLINE_THOROUGH").is_some()
}

/// A run of so many threads, all else by default.
pub fn spec(workload: &str, design: &str, threads: u64) -> Spec {
    Spec {
        threads: Some(threads),
        ..Spec::new(workload, design)
    }
}

/// Explores, and finds nothing.
pub fn assert_clean(spec: &Spec, points: Points) -> Report {
    let report = explore(spec, points).unwrap();
    assert_eq!(report.failures, [], "{spec:?}");
    assert_eq!(report.record.recovers, Some(true));
    report
}

/// The failing command's options, as the front end would read them.
pub fn replayed(spec: &Spec, command: &str) -> Report {
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(
        words[..4],
        ["crash", spec.workload.as_str(), "-d", spec.design.as_str()]
    );
    let mut again = Spec::new(&spec.workload, &spec.design);
    let mut place = "";
    for option in words[4..].chunks(2) {
        match option[0] {
            "--threads" => again.threads = Some(option[1].parse().unwrap()),
            "--tasks" => again.tasks = option[1].parse().ok(),
            "--seed" => again.seed = option[1].parse().unwrap(),
            "--window" => again.window = Some(window(option[1])),
            "--coroutines" => again.coroutines = Some(option[1].to_owned()),
            "--set" => again.set.push(option[1].to_owned()),
            "--replay" => place = option[1],
            other => panic!("{other} is no option of crash"),
        }
    }
    replay(&again, place).unwrap()
}

fn window(text: &str) -> Window {
    match text {
        "auto" => Window::Found(Found::Auto),
        number => Window::Tasks(number.parse().unwrap()),
    }
}
