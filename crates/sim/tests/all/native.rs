//! A workload compiled for the host behaves as the simulated one.

use strandline_native::Mode;
use strandline_sim::Spec;

/// Tasks of a run: enough for the log's ring of each workload to wrap around many times.
const TASKS: u64 = 500;

fn is_thorough() -> bool {
    std::env::var_os("STRANDLINE_THOROUGH").is_some()
}

/// Small structures, which take less time to build than the tasks; in `make thorough` those that a user has.
fn sizes(workload: &str) -> Vec<(String, String)> {
    let small = strandline_workloads::describe(workload).expect("a workload").small;
    let kept = small.iter().filter(|_| !is_thorough());
    kept.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// Flushes and fences of the native program in its timed region.
fn native(workload: &str, seed: u64) -> (u64, u64) {
    let args = strandline_native::Args {
        workload: workload.to_owned(),
        mode: Mode::Counted,
        threads: 1,
        tasks: Some(TASKS),
        warm: None,
        seed,
        pm: None,
        runtime: Vec::new(),
        set: sizes(workload),
        check: true,
    };
    let ran = strandline_native::run(&args).expect("it runs, and its invariant holds");
    let counts = ran.counts.expect("it counts");
    (counts.flushes, counts.fences)
}

/// Flushes and fences of the simulator under x86.
fn simulated(workload: &str, seed: u64) -> (u64, u64) {
    let small = sizes(workload)
        .into_iter()
        .map(|(key, value)| format!("workload.{key}={value}"));
    // The native run begins with the structure as it is built.
    let built = "machine.simulation.warm=footprint".to_owned();
    let record = strandline_sim::run(&Spec {
        tasks: Some(TASKS),
        seed,
        // x86 needs ADR, which not every workload's own machine has.
        machine: Some("cosplay".to_owned()),
        // The native back end has only the undo log.
        runtime: Some("undo".to_owned()),
        set: small.chain([built]).collect(),
        ..Spec::new(workload, "x86")
    })
    .expect("it runs");
    (record.stats.flushes, record.stats.fences)
}

/// One test, because a process runs one native program at a time.
#[test]
fn a_native_thread_flushes_and_fences_exactly_as_often_as_the_simulated_one() {
    let seeds = if is_thorough() { 2 } else { 1 };
    let logged_ahead = |about: &&strandline_workloads::About| about.runtime == "log-p-sf";
    let native_ones = strandline_workloads::names()
        .iter()
        .filter(|about| !logged_ahead(about));
    for workload in native_ones.map(|about| about.name) {
        for seed in 1..=seeds {
            assert_eq!(
                native(workload, seed),
                simulated(workload, seed),
                "{workload}, seed {seed}"
            );
        }
    }
    // COSPlay, Figure 4(a): a swap flushes two records and two elements, with a fence behind each pair.
    assert_eq!(native("sps", 1), (4 * TASKS, 2 * TASKS));
}
