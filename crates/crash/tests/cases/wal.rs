//! Crash exploration of the programs of Speculative Persistence: its workloads (Table 1) and its variants of
//! write-ahead logging, on its machine (Table 2).

use crate::case::Case;
use crate::exploration::{explored, fails_again};
use crate::mutants::all::mutants;
use crate::planted::Planted;
use crate::thinning::amount;
use strandline_crash::{FaultKind, Points};
use strandline_runtime::{Runtime, Wal};
use strandline_sim::Spec;

/// The workloads of Table 1.
const WORKLOADS: [&str; 7] = [
    "graph",
    "sp-hashmap",
    "linked-list",
    "string-swap",
    "avl-tree",
    "b-tree",
    "sp-rb-tree",
];

/// The designs that the paper compares, and speculation past an `sfence`, which needs ADR. The paper's machine has none.
const DESIGNS: [(&str, &[&str]); 3] = [
    ("x86-pcommit", &[]),
    ("sp", &[]),
    ("sp-adr", &["machine.controllers.adr=true"]),
];

/// The paper's one thread; more of them meet in locks.
const THREADS: [u64; 2] = [1, 4];

/// Tasks of a run, and its recovered crash states: the covering tables have longer runs of some of these.
const TASKS: u64 = 8;
const POINTS: Points = Points::Count(60);

fn spec(workload: &str, (design, sets): (&str, &[&str]), runtime: Wal, threads: u64) -> Spec {
    Spec {
        machine: Some("sp".to_owned()),
        runtime: Some(Runtime::Wal(runtime).name().to_owned()),
        threads: Some(threads),
        tasks: Some(TASKS),
        set: sets.iter().map(|set| (*set).to_owned()).collect(),
        ..Spec::new(workload, design)
    }
}

/// All tests.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![Case::new(
        "wal",
        "sp::pcommit-not-awaited",
        10,
        early_commits_are_caught,
    )];
    for workload in WORKLOADS {
        for design in DESIGNS {
            let name = format!("{}::{workload}", design.0);
            cases.push(Case::new("wal", name, 20, move || recovers(workload, design)));
        }
    }
    for runtime in [Wal::Log, Wal::LogP] {
        for design in DESIGNS {
            let spec = spec("linked-list", design, runtime, 4);
            let name = format!("{}::linked-list::{}", design.0, Runtime::Wal(runtime).name());
            cases.push(Case::new("caught", name, 50, move || fails_again(&spec, amount())));
        }
    }
    cases
}

/// `Log+P+Sf` "is the only one of these that is correct and failure safe".
fn recovers(workload: &str, design: (&'static str, &[&str])) -> Result<(), String> {
    let runs = THREADS.map(|threads| spec(workload, design, Wal::LogPSf, threads));
    let mut found = runs
        .iter()
        .filter_map(|spec| explored(&Planted::unbroken(design.0), spec, POINTS));
    found.next().map_or(Ok(()), |found| Err(found.text))
}

/// An epoch that commits before the `pcommit` before it is answered is noticed in the paper's own programs.
fn early_commits_are_caught() -> Result<(), String> {
    let mutant = mutants()
        .into_iter()
        .find(|mutant| mutant.name == "sp/pcommit-not-awaited");
    let planted = Planted::of(mutant.expect("a mutant"));
    let spec = spec("linked-list", ("sp", &[]), Wal::LogPSf, 1);
    match explored(&planted, &spec, POINTS) {
        Some(found) if found.kind == Some(FaultKind::Unrecovered) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
