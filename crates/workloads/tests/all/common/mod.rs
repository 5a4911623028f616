//! What the tests of all workloads share: running, counting, crashing.

pub mod counting;
pub mod crashing;

use counting::Counting;
use strandline_isa::{CoreId, Lowering, Memory, Note, Thread};
use strandline_runtime::{
    finish, run_thread, BuildPlan, CLibrary, LockKind, Logging, Plain, Program, Runtime, ThreadPlan,
};
use strandline_workloads::{build, describe, names, About, Built};

pub const PLAN: BuildPlan = BuildPlan {
    threads: 4,
    window: None,
    seed: 7,
    logging: Logging::UNDO,
};

/// One thread.
pub const ALONE: BuildPlan = BuildPlan {
    threads: 1,
    seed: 5,
    ..PLAN
};

/// The runtime of this name, with batches of this size.
pub fn logging(name: &str, batch: u64) -> Logging {
    Logging {
        runtime: Runtime::named(name).expect("a runtime"),
        batch,
        ..Logging::UNDO
    }
}

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

/// A small form of a workload, with these settings besides, and its filled memory.
pub fn small(form: &str, set: &[(&str, &str)], plan: &BuildPlan) -> Built {
    let (name, own) = parts(form);
    let small = describe(name).expect("a workload").small.iter().copied();
    build(name, small.chain(own).chain(set.iter().copied()), plan).expect("right settings")
}

/// Counts what so many tasks of a thread execute.
pub fn counted<'m>(
    workload: &dyn Program,
    memory: &'m Memory,
    lowering: Lowering,
    tasks: u64,
    seed: u64,
) -> Counting<'m> {
    let cpu = Counting::new(memory, lowering);
    finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, tasks, seed))).unwrap();
    cpu
}

/// What so many tasks of a thread announce.
pub fn notes(workload: &dyn Program, memory: &Memory, lowering: Lowering, tasks: u64, seed: u64) -> Vec<Note> {
    let cpu = Plain::recording(memory, CoreId(0), lowering);
    finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, tasks, seed))).unwrap();
    cpu.take_notes()
}

/// Memory after a crash that leaves this: recovered, and ready for threads.
pub fn restarted(workload: &dyn Program, left: &Memory) -> Memory {
    let memory = left.persistent_half();
    workload.recover(&memory);
    workload.repair(&memory);
    workload.start(&memory);
    memory
}

/// The faults that a program may have: what `workload.omits` chooses.
pub fn faults(form: &str) -> &'static [&'static str] {
    let params = describe(parts(form).0).expect("a workload").params;
    params.iter().find(|param| param.name == "omits").expect("faults").words
}
