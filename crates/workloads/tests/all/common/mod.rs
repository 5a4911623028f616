//! What the tests of all workloads share: running, counting, crashing.

pub mod counting;
pub mod crashing;

use strandline_isa::{CoreId, Lowering, Memory, Thread};
use strandline_runtime::{
    finish, run_thread, BuildPlan, CLibrary, LockKind, Logging, Plain, Program, Runtime, ThreadPlan,
};
use strandline_workloads::{build, describe, names, About, Error};

pub const PLAN: BuildPlan = BuildPlan {
    threads: 4,
    window: None,
    seed: 7,
    logging: Logging::UNDO,
};

/// An amount: the short one, or in `make thorough`, which sets `STRANDLINE_THOROUGH`, the other.
pub fn amount(short: u64, thorough: u64) -> u64 {
    match std::env::var_os("STRANDLINE_THOROUGH") {
        Some(_) => thorough,
        None => short,
    }
}

/// A program whose numbers, rows and locks are glibc's.
pub const GLIBC: BuildPlan = BuildPlan {
    logging: Logging {
        lock: LockKind::Pthread,
        library: CLibrary::Glibc,
        ..Logging::UNDO
    },
    ..PLAN
};

/// All runtimes that recover, except the undo log, with batches of these sizes.
pub fn models(batches: &[u64]) -> Vec<Logging> {
    let names = ["txn", "atlas", "sfr", "redo", "log-p-sf"];
    let has_batches = |runtime| matches!(runtime, Runtime::Atlas | Runtime::Sfr | Runtime::Redo);
    let logging = |name: &str, batch| Logging {
        runtime: Runtime::named(name).expect("a runtime"),
        batch,
        ..Logging::UNDO
    };
    names
        .iter()
        .flat_map(|name| batches.iter().map(move |batch| logging(name, *batch)))
        .filter(|logging| has_batches(logging.runtime) || logging.batch == batches[0])
        .collect()
}

pub fn thread_plan(thread: usize, threads: usize, tasks: u64, seed: u64) -> ThreadPlan {
    ThreadPlan {
        thread,
        threads,
        warm_tasks: 0,
        tasks,
        seed,
    }
}

/// Runs the threads one after the other.
pub fn run_plain(workload: &dyn Program, memory: &Memory, lowering: Lowering, threads: usize, tasks: u64) {
    for thread in 0..threads {
        let cpu = Plain::new(memory, CoreId(thread as u16), lowering);
        finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(thread, threads, tasks, 3))).unwrap();
    }
}

/// Forms of a workload that a parameter selects: a key and its value behind the name.
const FORMS: [&str; 9] = [
    "cq locks=2",
    "nstore partitions=threads",
    "p-masstree slice=64",
    "cceh value_bytes=64",
    "fast-fair key_bytes=16",
    "p-art value_bytes=128",
    "avl-tree incremental=1",
    "b-tree incremental=1",
    "sp-rb-tree incremental=1",
];

/// All of them, and their other forms.
pub fn workloads() -> impl Iterator<Item = &'static str> {
    names().iter().map(|about| about.name).chain(FORMS)
}

/// Those whose regions have logs, in all forms.
pub fn logged() -> impl Iterator<Item = &'static str> {
    workloads().filter(|name| is_logged(name))
}

/// Whether the regions of a workload have logs.
pub fn is_logged(form: &str) -> bool {
    describe(parts(form).0).expect("a workload").is_logged()
}

/// The name of a workload, and the parameter that selects this form of it.
pub fn parts(form: &str) -> (&str, Option<(&str, &str)>) {
    match form.split_once(' ') {
        Some((name, set)) => (name, set.split_once('=')),
        None => (form, None),
    }
}

/// Workloads that can have several operations in a region.
pub fn several() -> impl Iterator<Item = &'static str> {
    let several = |about: &&About| about.params.iter().any(|param| param.name == "operations");
    names().iter().filter(several).map(|about| about.name)
}

/// An operation on a built workload.
pub trait Visitor {
    /// What comes of it.
    type Out;

    /// Receives the workload and its filled memory.
    fn visit(self, workload: &dyn Program, memory: Memory) -> Self::Out;
}

/// Builds a workload and passes it to `visitor`.
pub fn with_workload<'a, V: Visitor>(
    name: &str,
    set: impl IntoIterator<Item = (&'a str, &'a str)>,
    plan: &BuildPlan,
    visitor: V,
) -> Result<V::Out, Error> {
    let (workload, memory) = build(name, set, plan)?;
    Ok(visitor.visit(&*workload, memory))
}

/// Builds a workload in its small form, with regions of `operations` operations, and passes it to `visitor`.
pub fn with_several<V: Visitor>(name: &str, operations: &str, visitor: V) -> V::Out {
    let set = small(name).iter().copied().chain([("operations", operations)]);
    with_workload(name, set, &PLAN, visitor).unwrap()
}

fn small(name: &str) -> &'static [(&'static str, &'static str)] {
    describe(name).expect("a workload").small
}

/// Builds a workload in its small form and passes it to `visitor`.
pub fn with_small<V: Visitor>(name: &str, visitor: V) -> V::Out {
    with_small_for(name, &PLAN, visitor)
}

/// As [`with_small`], for these threads.
pub fn with_small_for<V: Visitor>(name: &str, plan: &BuildPlan, visitor: V) -> V::Out {
    let (name, set) = parts(name);
    with_workload(name, small(name).iter().copied().chain(set), plan, visitor).unwrap()
}
