//! How a run begins.

use serde_json::{json, Value};
use strandline_sim::{run, Error, Record, Spec};

/// A table of four times as many lines as the LLC, which has 1,024.
const LARGE: [&str; 4] = [
    "machine.l1.bytes=4096",
    "machine.l2.bytes=16384",
    "machine.llc.bytes=65536",
    "workload.rows=4096",
];

fn spec(design: &str, sets: &[&str], rule: &str) -> Spec {
    let sets = LARGE.iter().chain(sets).map(|set| (*set).to_owned());
    Spec {
        tasks: Some(2000),
        warm: Some(0),
        threads: Some(2),
        set: sets.chain([format!("machine.simulation.warm={rule}")]).collect(),
        ..Spec::new("sps", design)
    }
}

fn ran(spec: &Spec) -> Record {
    run(spec).unwrap_or_else(|error| panic!("{error}"))
}

fn warm(record: &Record) -> Value {
    record.params["warm"].clone()
}

#[test]
fn the_record_says_the_rule_and_what_it_took() {
    for rule in ["footprint", "cold"] {
        assert_eq!(warm(&ran(&spec("x86", &[], rule))), json!({ "rule": rule }));
    }
    let steady = warm(&ran(&spec("volatile", &[], "steady")));
    assert_eq!(
        (&steady["rule"], &steady["ended"], &steady["lines"]),
        (&json!("steady"), &json!("turned over"), &json!(1024))
    );
    let fits = warm(&ran(&spec("volatile", &["workload.rows=64"], "steady")));
    assert_eq!(fits["ended"], json!("fits"));
    let mut few = spec("volatile", &[], "steady");
    few.tasks = Some(20);
    let few = warm(&ran(&few));
    // Twice as many tasks as the run has would be 40, of hardly any accesses.
    assert!(few["tasks"].as_u64().is_some_and(|tasks| tasks > 400), "{few}");
}

#[test]
fn flushed_lines_are_clean() {
    let dirty = |design| {
        warm(&ran(&spec(design, &[], "steady")))["dirty_lines"]
            .as_u64()
            .unwrap()
    };
    // Each swap writes all persistent lines that it reads, and the words of its locks.
    assert!(dirty("volatile") > 900, "{}", dirty("volatile"));
    // Only locks are written and not flushed: eight of them are in a line, so that they are few.
    assert!(dirty("x86") < dirty("volatile") / 2, "{}", dirty("x86"));
}

/// Writes of persistent lines a task, reads of them, and cycles.
fn rates(record: &Record) -> [f64; 3] {
    let tasks = record.stats.tasks as f64;
    let (writes, reads) = (record.stats.pm_writes as f64, record.stats.pm_reads as f64);
    [writes / tasks, reads / tasks, record.stats.cycles.0 as f64 / tasks]
}

#[test]
fn a_run_from_a_steady_start_is_as_one_after_a_long_warm_up() {
    let steady = rates(&ran(&spec("volatile", &[], "steady")));
    // Ten thousand tasks of each thread turn the LLC over some thirty times.
    let long = Spec {
        warm: Some(10_000),
        ..spec("volatile", &[], "footprint")
    };
    let long = rates(&ran(&long));
    for (here, there) in steady.into_iter().zip(long) {
        assert!((here / there - 1.0).abs() < 0.05, "{steady:?} and {long:?}");
    }
    let footprint = rates(&ran(&spec("volatile", &[], "footprint")));
    assert!(
        footprint[0] < 0.95 * steady[0],
        "a clean start writes less back: {footprint:?}, {steady:?}"
    );
}

#[test]
fn it_is_the_same_each_time() {
    let once = |seed| {
        let record = ran(&Spec {
            seed,
            ..spec("x86", &[], "steady")
        });
        (warm(&record), record.stats)
    };
    assert_eq!(once(1), once(1));
    assert_ne!(once(1), once(2));
}

#[test]
fn tasks_of_the_run_are_others_than_those_that_warmed() {
    // One in four rows is in the LLC. Were the tasks the same, nearly all of theirs would be.
    let reads = |library: &str| {
        let set = format!("runtime.library={library}");
        let few = Spec {
            tasks: Some(40),
            ..spec("volatile", &[&set], "steady")
        };
        rates(&ran(&few))[1]
    };
    let (lean, glibc) = (reads("lean"), reads("glibc"));
    assert!((glibc / lean - 1.0).abs() < 0.2, "{lean} with lean, {glibc} with glibc");
}

#[test]
fn an_unknown_rule_is_bad_input() {
    let Err(Error::Input(text)) = run(&spec("x86", &[], "hot")) else {
        panic!("no error");
    };
    assert_eq!(
        text,
        "--set machine.simulation.warm=hot: expected steady or footprint or cold, found \"hot\" \
         (give steady or footprint or cold)"
    );
}

#[test]
fn the_warm_up_is_named_in_words() {
    let words = |rule| ran(&spec("volatile", &[], rule)).ran.warmup;
    assert_eq!(
        ["steady", "footprint", "cold"].map(words),
        [
            "shared cache in a steady state, then 0 tasks a thread",
            "footprint in the shared cache, then 0 tasks a thread",
            "empty shared cache, then 0 tasks a thread",
        ]
    );
}

#[test]
fn a_start_that_its_bound_ended_is_not_called_steady() {
    // So many rows neither fit in the LLC nor replace all of its lines in so few tasks.
    let large = Spec {
        tasks: Some(100),
        threads: Some(1),
        set: vec!["workload.rows=1000000".to_owned()],
        ..Spec::new("sps", "volatile")
    };
    let record = ran(&large);
    let begun = warm(&record);
    assert_eq!(begun["ended"], json!("bound"));
    let unsettled = begun["unsettled"].as_array().expect("they are named");
    assert!(unsettled.contains(&json!("LLC")), "{begun}");
    let words = format!("no steady state after {} tasks (not settled: LLC", begun["tasks"]);
    assert!(record.ran.warmup.starts_with(&words), "{}", record.ran.warmup);
}

#[test]
fn a_short_run_is_as_a_long_one() {
    // The table fits in the LLC and not in the private levels, which a short run would fill only in part.
    let run = |tasks| {
        let spec = Spec {
            tasks: Some(tasks),
            threads: Some(1),
            ..Spec::new("tatp", "x86")
        };
        rates(&ran(&spec))[2]
    };
    let (short, long) = (run(1_000), run(16_000));
    assert!((short / long - 1.0).abs() < 0.015, "{short} and {long} cycles a task");
}
