//! The program itself: every workload keeps its invariant, on any number of threads, and its file recovers.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The workloads, small, with the tasks of a run.
const SMALL: [(&str, &[&str]); 12] = [
    ("bandwidth", &["--tasks=500", "--set", "workload.writes=5"]),
    ("sps", &["--tasks=20000", "--set", "workload.rows=50"]),
    ("pc", &["--tasks=20000", "--set", "workload.rows=50"]),
    ("tatp", &["--tasks=20000", "--set", "workload.rows=50"]),
    (
        "tpcc",
        &[
            "--tasks=1000",
            "--set",
            "workload.items=50",
            "--set",
            "workload.customers=10",
        ],
    ),
    (
        "cq",
        &[
            "--tasks=5000",
            "--set",
            "workload.queues=3",
            "--set",
            "workload.nodes=8",
        ],
    ),
    (
        "queue",
        &[
            "--tasks=1000",
            "--set",
            "workload.nodes=8",
            "--set",
            "workload.operations=6",
        ],
    ),
    (
        "array-swap",
        &[
            "--tasks=5000",
            "--set",
            "workload.rows=50",
            "--set",
            "workload.operations=6",
        ],
    ),
    (
        "hashmap",
        &[
            "--tasks=20000",
            "--set",
            "workload.keys=50",
            "--set",
            "workload.buckets=20",
        ],
    ),
    ("rb-tree", &["--tasks=5000", "--set", "workload.keys=50"]),
    ("nstore-bal", &["--tasks=5000", "--set", "workload.rows=20"]),
    (
        "nstore-wr",
        &[
            "--tasks=1000",
            "--set",
            "workload.rows=20",
            "--set",
            "workload.operations=3",
        ],
    ),
];

fn native(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_strandline-native"))
        .args(args)
        .output()
        .expect("it runs")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs all workloads on files, checked by the program itself: memory at the end, and the file after recovery.
fn every_workload_holds(design: &str, threads: &str) {
    for (workload, settings) in SMALL {
        let pm = file(&format!("{workload}-{design}-{threads}.pm"));
        let pm = pm.to_str().expect("a path in UTF-8");
        let mut args = vec![workload, "--check", "-d", design, "--threads", threads, "--pm", pm];
        args.extend(settings);
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
    let cases: [(&[&str], &str); 9] = [
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
