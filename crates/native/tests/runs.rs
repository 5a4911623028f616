//! The program itself: every workload keeps its invariant, on any number of threads, and its file recovers.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use strandline_workloads::{names, About};

/// Every workload under each of its names, small, with the settings of a run; also with several operations in a region,
/// if possible.
fn small() -> Vec<(&'static str, Vec<String>)> {
    let mut runs = Vec::new();
    for about in names() {
        let several = about.params.iter().any(|param| param.name == "operations");
        for name in about.names() {
            let mut settings = settings(about, name);
            runs.push((name, settings.clone()));
            if several {
                settings.push("--set=workload.operations=3".to_owned());
                runs.push((name, settings));
            }
        }
    }
    runs
}

/// The settings that make a workload small, except those of its name.
fn settings(about: &About, name: &str) -> Vec<String> {
    let of_name = |key: &str| about.sets(name).iter().any(|(set, _)| *set == key);
    let small = about.small.iter().filter(|(key, _)| !of_name(key));
    small
        .map(|(key, value)| format!("--set=workload.{key}={value}"))
        .collect()
}

fn native<S: AsRef<OsStr>>(args: &[S]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_strandline-native"))
        .args(args)
        .output()
        .expect("it runs")
}

/// What a run says.
fn said<S: AsRef<OsStr>>(args: &[S]) -> String {
    let output = native(args);
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// How many operations of a run on eight threads are linearizable, if the invariant holds.
fn judged(name: &str, sets: impl IntoIterator<Item = String>) -> u64 {
    let mut args: Vec<String> = [
        name,
        "--design=judged",
        "--check",
        "--threads=8",
        "--tasks=40000",
        "--warm=0",
    ]
    .map(str::to_owned)
    .into();
    args.extend(sets.into_iter().map(|set| format!("--set=workload.{set}")));
    let said = said(&args);
    assert!(said.contains("; the invariant holds"), "{args:?}: {said}");
    let judged = said
        .split("; ")
        .find_map(|part| part.strip_suffix(" operations are linearizable"));
    let judged = judged.and_then(|judged| judged.parse().ok());
    judged.unwrap_or_else(|| panic!("{args:?}: {said}"))
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs all workloads on files, checked by the program itself: the final memory, and the file after recovery.
fn every_workload_holds(design: &str, threads: &str) {
    for (workload, settings) in small() {
        let pm = file(&format!("{workload}-{design}-{threads}.pm"));
        let pm = pm.to_str().expect("a path in UTF-8");
        let mut args = vec![workload, "--check", "-d", design, "--threads", threads, "--pm", pm];
        args.push("--tasks=2000");
        args.extend(settings.iter().map(String::as_str));
        let output = native(&args);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{workload}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(said.trim_end().ends_with("; the invariant holds"), "{said}");
        assert!(said.contains(&format!("tasks on {threads} threads")), "{said}");
    }
}

#[test]
fn one_thread_keeps_the_invariants() {
    every_workload_holds("x86", "1");
}

#[test]
fn four_threads_keep_the_invariants() {
    every_workload_holds("x86", "4");
}

#[test]
fn programs_that_do_not_persist_keep_the_invariants_while_they_run() {
    every_workload_holds("volatile", "2");
}

#[test]
fn one_thread_leaves_the_same_bytes_twice_and_other_seeds_leave_others() {
    let bytes = |name: &str, seed: &str| {
        let pm = file(name);
        let args = ["cq", "--tasks=500", "--seed", seed, "--set", "workload.nodes=8", "--pm"];
        let output = native(&[&args[..], &[pm.to_str().expect("a path in UTF-8")]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read(pm).expect("the program wrote it")
    };
    assert_eq!(bytes("one.pm", "7"), bytes("two.pm", "7"));
    assert_ne!(bytes("one.pm", "7"), bytes("three.pm", "8"));
}

#[test]
fn bad_input_is_one_line_and_status_2() {
    let cases: [(&[&str], &str); 10] = [
        (&[], "name a workload"),
        (&["spss"], "did you mean sps?"),
        (&["sps", "pc"], "pc: one workload at a time"),
        (
            &["sps", "--threads", "0"],
            "--threads 0: must be a whole number from 1 to",
        ),
        (&["sps", "--tasks"], "--tasks: a value is missing"),
        (&["sps", "--check=yes"], "--check: takes no value"),
        (&["sps", "--frobnicate"], "--frobnicate: no such option"),
        (&["sps", "--set", "runtime.lock=mutex"], "runtime.lock=mutex: must be"),
        (
            &["sps", "--set", "workload.rows=1"],
            "workload.rows=1: must be a whole number from 2 to",
        ),
        (
            &["sps", "--pm", "/nowhere/pool"],
            "/nowhere/pool: persistent memory cannot be mapped",
        ),
    ];
    for (args, expected) in cases {
        let output = native(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(
            said.starts_with("strandline-native: ") && said.contains(expected),
            "{args:?}: {said}"
        );
    }
}

/// Four threads, few rows and one tree: each kind of lock, and those of the C library, are waited for.
#[test]
fn every_kind_of_lock_keeps_threads_apart() {
    let programs: [&[&str]; 2] = [
        &["rb-tree", "--tasks=2000"],
        &["sps", "--tasks=4000", "--set=workload.rows=8"],
    ];
    for kind in [
        "lock=test",
        "lock=backoff",
        "lock=ticket",
        "lock=mcs",
        "lock=pthread",
        "library=glibc",
    ] {
        for program in programs {
            let set = format!("--set=runtime.{kind}");
            let args = [program, &["--threads=4", "--check", "--warm=0", &set]].concat();
            let said = said(&args);
            assert!(said.contains("; the invariant holds"), "{args:?}: {said}");
        }
    }
}

/// Maps whose operations are announced.
const MAPS: [&str; 7] = [
    "cceh",
    "dash-eh",
    "dash-lh",
    "fast-fair",
    "p-art",
    "p-clht",
    "p-masstree",
];

/// Eight threads on few keys: they meet in every structure.
#[test]
fn maps_are_linearizable_under_eight_threads() {
    let maps = names().iter().filter(|about| MAPS.contains(&about.name));
    let records: &[&str] = &["key_bytes=16", "value_bytes=64"];
    for (about, pairs) in maps.flat_map(|about| [(about, &[][..]), (about, records)]) {
        let room = |(key, value): &(&str, &str)| match *key {
            // While a search is interrupted, what others retire is not free again: room for all insertions.
            "pool" | "segments" | "records" => format!("{key}=32768"),
            "keys" => "keys=300".to_owned(),
            "reads" | "deletes" => format!("{key}=30"),
            _ => format!("{key}={value}"),
        };
        let sets = about.small.iter().map(room);
        let judged = judged(about.name, sets.chain(pairs.iter().copied().map(str::to_owned)));
        assert_eq!(judged, 40_000, "{} {pairs:?}", about.name);
    }
}

/// As the maps, for structures whose calls are announced: full and empty at times.
#[test]
fn calls_are_linearizable_under_eight_threads() {
    for (name, set) in [
        ("heap", ["nodes=40", "loaded=50"]),
        ("atlas-queue", ["nodes=40", "loaded=50"]),
        ("skiplist", ["keys=40", "reads=30"]),
    ] {
        let judged = judged(name, set.into_iter().chain(["inserts=50"]).map(str::to_owned));
        // Those that found no room have done nothing.
        assert!((20_000..=40_000).contains(&judged), "{name}: {judged}");
    }
}

/// Applications of WHISPER.
const APPLICATIONS: [&str; 3] = ["memcached", "vacation", "echo"];

/// Eight threads on small tables: they wait for each other, evict and run out of what there is.
#[test]
fn applications_keep_their_invariants_under_eight_threads() {
    for about in names().iter().filter(|about| APPLICATIONS.contains(&about.name)) {
        let mut args = vec![about.name.to_owned()];
        args.extend(["--check", "--threads=8", "--tasks=80000"].map(str::to_owned));
        args.extend(settings(about, about.name));
        let said = said(&args);
        assert!(
            said.contains("80000 tasks on 8 threads") && said.contains("; the invariant holds"),
            "{}: {said}",
            about.name
        );
    }
}

/// Puts that never returned, and gets of a client's own batch, are not judged.
#[test]
fn batches_of_eight_threads_are_linearizable() {
    let sets = ["keys=60", "batch=4", "reads=30", "versions=2", "pool=400", "buckets=8"];
    let judged = judged("echo", sets.map(str::to_owned));
    assert!(judged > 38_000, "{judged}");
}

#[test]
fn a_workload_that_announces_nothing_is_not_judged() {
    let output = native(&["sps", "--design=judged", "--tasks=10", "--set=workload.rows=10"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("announces no operations"), "{said}");
}
