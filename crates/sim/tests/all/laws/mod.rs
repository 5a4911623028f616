//! Laws that any machine obeys, over designs, workloads, locks and presets, as data; and faults of time, each with the laws
//! that catch it (`planted`).
//!
//! A tolerance bounds both forms: the short one, and the thorough one, whose cases are more.

mod bounds;
mod busy;
mod far;
mod idle;
mod little;
mod locks;
mod monotone;
mod own;
mod planted;
mod programs;
mod scale;
mod stale;
mod waits;
mod why;

use strandline_design::{About, Drains};
use strandline_designs::abouts;
use strandline_machine::MachineConfig;
use strandline_sim::Spec;

/// What a law says of a case: where it is broken.
type Verdict = Result<(), String>;

/// The short form of the cases, or in `make thorough` all of them.
pub fn cases<T: Copy>(short: &[T], thorough: &[T]) -> Vec<T> {
    match std::env::var_os("STRANDLINE_THOROUGH") {
        Some(_) => thorough.to_vec(),
        None => short.to_vec(),
    }
}

/// The names of all designs.
fn designs() -> Vec<&'static str> {
    abouts().into_iter().map(|about| about.name).collect()
}

/// The consistency that a design needs.
fn consistency(design: &str) -> &'static str {
    let of = |about: &About| about.name == design;
    match abouts().iter().find(|about| of(about)).expect("a design").needs.stores {
        Drains::Weak => "weak",
        Drains::Any | Drains::InOrder => "tso",
    }
}

/// Caches that cost little to build, and a run that begins with the structures as they are built.
const SMALL: [&str; 2] = ["machine.llc.bytes=524288", "machine.simulation.warm=footprint"];

/// A run of a workload under a design on a machine with small caches.
fn spec(workload: &str, design: &str, machine: &str, threads: u64, tasks: u64, set: &[String]) -> Spec {
    let mut all: Vec<String> = SMALL.map(str::to_owned).into();
    let preset = MachineConfig::preset(machine).expect("a preset");
    all.extend(preset.l2.map(|_| "machine.l2.bytes=131072".to_owned()));
    all.push(format!("machine.core.consistency={}", consistency(design)));
    all.extend_from_slice(set);
    Spec {
        machine: Some(machine.to_owned()),
        runtime: Some("undo".to_owned()),
        threads: Some(threads),
        tasks: Some(tasks),
        set: all,
        ..Spec::new(workload, design)
    }
}

/// What is run: a workload with a small structure, its threads, and its tasks.
#[derive(Clone, Copy)]
struct Program {
    workload: &'static str,
    sets: &'static [&'static str],
    threads: u64,
    tasks: u64,
}

const SPS: Program = Program {
    workload: "sps",
    sets: &["workload.rows=4000"],
    threads: 1,
    tasks: 60,
};

const HASHMAP: Program = Program {
    workload: "hashmap",
    sets: &["workload.keys=4000", "workload.buckets=4000"],
    threads: 4,
    tasks: 120,
};

const CQ: Program = Program {
    workload: "cq",
    sets: &[],
    threads: 4,
    tasks: 60,
};

/// Threads that share one queue.
const fn queue(threads: u64, tasks: u64) -> Program {
    Program {
        workload: "queue",
        sets: &[],
        threads,
        tasks,
    }
}

impl Program {
    /// A run of it under a design on a machine with small caches.
    fn spec(&self, design: &str, machine: &str, set: &[String]) -> Spec {
        let mut all: Vec<String> = self.sets.iter().map(|set| (*set).to_owned()).collect();
        all.extend_from_slice(set);
        spec(self.workload, design, machine, self.threads, self.tasks, &all)
    }
}

/// Cycles of the timed region.
fn cycles(spec: &Spec) -> f64 {
    let record = strandline_sim::run(spec).unwrap_or_else(|error| panic!("{} {}: {error}", spec.workload, spec.design));
    record.stats.cycles.0 as f64
}

/// As [`judge`], of each pair.
fn judge_pairs<A: Copy, B: Copy>(firsts: &[A], seconds: &[B], holds: impl Fn(A, B) -> Verdict) {
    let holds = &holds;
    judge(firsts.iter().flat_map(|a| seconds.iter().map(|b| holds(*a, *b))));
}

/// Fails with every case that breaks its law.
fn judge(verdicts: impl IntoIterator<Item = Verdict>) {
    let broken: Vec<String> = verdicts.into_iter().filter_map(Result::err).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
