//! The programs of Atlas's kind: against models, their cost, and the faults that crash tests find in them.

use crate::common::crashing::{first_failure, left, Game};
use crate::common::{amount, counted, faults, logging, notes, restarted, run_plain, small, ALONE, PLAN};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use strandline_isa::{Addr, Call, Image, Lowering, Memory, Note, PM_BASE};
use strandline_runtime::adversary::{Play, FENCED};
use strandline_runtime::BuildPlan;
use strandline_workloads::{build, Built};

const NAMES: [&str; 3] = ["heap", "atlas-queue", "skiplist"];

/// The plan of this runtime.
fn under(threads: usize, runtime: &str) -> BuildPlan {
    BuildPlan {
        threads,
        logging: logging(runtime, 16),
        ..ALONE
    }
}

/// What a structure of the standard library does at a call.
enum Model {
    Queue(VecDeque<u64>),
    /// The upper half of a value is its priority.
    Heap(BTreeSet<u64>),
    Map(BTreeMap<u64, u64>),
}

impl Model {
    fn of(name: &str, contents: BTreeMap<u64, u64>) -> Model {
        match name {
            "atlas-queue" => Model::Queue(contents.into_values().collect()),
            "heap" => Model::Heap(contents.into_values().collect()),
            _ => Model::Map(contents),
        }
    }

    /// The answer to a call. Of values of least priority, `found` is as good as any.
    fn call(&mut self, call: Call, found: Option<u64>) -> Option<u64> {
        match (self, call) {
            (Model::Queue(queue), Call::Enqueue(value)) => {
                queue.push_back(value);
                Some(value)
            }
            (Model::Queue(queue), Call::Dequeue) => queue.pop_front(),
            (Model::Heap(heap), Call::Insert(value)) => heap.insert(value).then_some(value),
            (Model::Heap(heap), Call::DeleteMin) => {
                let least = *heap.first()?;
                let taken = found.filter(|found| found >> 32 == least >> 32).unwrap_or(least);
                heap.take(&taken)
            }
            (Model::Map(map), Call::Put { key, value }) => {
                map.insert(key, value);
                Some(value)
            }
            (Model::Map(map), Call::Remove(key)) => map.remove(&key).map(|_| key),
            (Model::Map(map), Call::Get(key)) => map.get(&key).copied(),
            (_, call) => panic!("{call:?} on another structure"),
        }
    }

    fn is(&self, contents: BTreeMap<u64, u64>) -> bool {
        match self {
            Model::Queue(queue) => contents.into_values().eq(queue.iter().copied()),
            Model::Heap(heap) => contents.into_values().collect::<BTreeSet<_>>() == *heap,
            Model::Map(map) => contents == *map,
        }
    }
}

/// Compares each call of a thread with a model's; counts those that did something and those that did not.
fn modelled(name: &str, (workload, memory): &Built, tasks: u64) -> [u64; 2] {
    let mut model = Model::of(name, workload.contents(memory));
    let mut did = [0, 0];
    for part in 0..tasks / 1000 {
        let mut begun = None;
        for note in notes(&**workload, memory, Lowering::NOTHING, 1000, 90 + part) {
            match note {
                Note::CallBegin(call) => begun = Some(call),
                Note::CallEnd { answer } => {
                    let call = begun.take().expect("it has begun");
                    assert_eq!(answer, model.call(call, answer), "{name}: {call:?}");
                    did[usize::from(answer.is_some())] += 1;
                }
                _ => {}
            }
        }
    }
    workload.check(memory).unwrap();
    assert!(model.is(workload.contents(memory)), "{name}");
    did
}

/// A hundred thousand operations; in `make thorough` a million. The structures are small, so that they are empty at
/// times, and large enough that they are never full.
#[test]
fn calls_do_what_a_model_does() {
    let tasks = amount(100_000, 1_000_000);
    for (name, set) in [
        ("heap", &[("nodes", "100000"), ("loaded", "0"), ("inserts", "50")][..]),
        (
            "atlas-queue",
            &[("nodes", "100000"), ("loaded", "0"), ("inserts", "50")],
        ),
        ("skiplist", &[("keys", "3000"), ("reads", "30"), ("inserts", "35")]),
    ] {
        for bytes in ["16", "128"] {
            let set = set.iter().copied().chain([("item_bytes", bytes)]);
            let did = modelled(name, &build(name, set, &ALONE).unwrap(), tasks);
            assert!(did[0] > 20 && did[1] > tasks / 2, "{name}: {did:?}");
        }
    }
}

/// Flushes and fences of an operation.
fn cost(name: &str, runtime: &str, set: &[(&str, &str)]) -> (f64, f64) {
    let (workload, memory) = build(name, set.iter().copied(), &under(1, runtime)).unwrap();
    let counts = counted(&*workload, &memory, FENCED, 2000, 3).counts();
    workload.check(&memory).unwrap();
    let found = (counts.per_task(counts.flushes), counts.per_task(counts.fences));
    println!(
        "{name} {runtime} {set:?}: {found:?} flushes and fences, {:.0} instructions, {:.0} loads, {:.0} stores",
        counts.per_task(counts.instructions()),
        counts.per_task(counts.loads),
        counts.per_task(counts.stores)
    );
    found
}

/// What follows from the programs' stores: under the undo log each store by itself has a record, a line and two
/// fences; so has the end of a region. A node of 80 bytes has three records of four words, two lines and two fences.
#[test]
fn a_queue_flushes_and_fences_for_each_store() {
    let (end, store, node) = ((2.0, 2.0), (2.0, 2.0), (5.0, 2.0));
    let dequeue = (store.0 + end.0, store.1 + end.1);
    let enqueue = (node.0 + 3.0 * store.0 + end.0, node.1 + 3.0 * store.1 + end.1);
    assert_eq!(cost("atlas-queue", "undo", &[("inserts", "0")]), dequeue);
    assert_eq!(cost("atlas-queue", "undo", &[("inserts", "100")]), enqueue);
}

/// What docs/workloads.md says: means of 2,000 operations.
#[test]
fn operations_flush_and_fence_as_often_as_the_page_says() {
    for (name, runtime, flushes, fences) in [
        ("heap", "undo", 20.7, 19.1),
        ("heap", "atlas", 40.7, 13.3),
        ("atlas-queue", "undo", 8.6, 7.1),
        ("atlas-queue", "atlas", 29.7, 8.8),
        ("skiplist", "undo", 9.6, 4.7),
        ("skiplist", "atlas", 30.2, 9.8),
    ] {
        let found = cost(name, runtime, &[]);
        assert!((found.0 - flushes).abs() < 0.06, "{name} under {runtime}: {found:?}");
        assert!((found.1 - fences).abs() < 0.06, "{name} under {runtime}: {found:?}");
    }
}

/// The first failure of a small structure with this fault, under plays of several kinds.
fn failure(name: &str, runtime: &str, fault: &str) -> Option<String> {
    let plays = if fault == "nothing" { amount(4, 24) } else { 24 };
    first_failure(name, &[("omits", fault)], &under(4, runtime), 40, plays)
}

/// A log or a flush that is left out is found, by the invariant or by what regions promise; nothing is where none is.
#[test]
fn what_a_faulty_program_leaves_out_is_found() {
    for name in NAMES {
        for fault in faults(name) {
            for runtime in ["undo", "atlas"] {
                let found = failure(name, runtime, fault);
                println!("{name} without {fault} under {runtime}: {found:?}");
                assert_eq!(
                    found.is_some(),
                    *fault != "nothing",
                    "{name} without {fault} under {runtime}: {found:?}"
                );
            }
        }
    }
}

/// Runs, crashes and restarts a structure several times.
fn crashed((workload, memory): Built, crashes: u64) -> Memory {
    let restart = |left: &Memory| {
        let memory = restarted(&*workload, left);
        workload.check(&memory).unwrap();
        memory
    };
    run_plain(&*workload, &memory, FENCED, 4, 500);
    (0..crashes).fold(restart(&memory), |memory, seed| {
        let game = Game::alone(FENCED, 4, 10, Play { seed, evict_one_in: 8 });
        let left = left(&*workload, &memory, game, 40);
        restart(&left.expect("there were as many images"))
    })
}

/// A row that is neither in the structure nor free would be missing when nothing fits any more.
#[test]
fn no_memory_is_lost_for_good() {
    for (name, room) in [("heap", 16), ("atlas-queue", 6), ("skiplist", 24)] {
        for (runtime, crashes) in [("undo", 0), ("undo", 30), ("atlas", 30), ("redo", 30)] {
            let plan = under(4, runtime);
            let left = crashed(small(name, &[], &plan), crashes);
            // Adds until nothing fits any more.
            let reads = (name == "skiplist").then_some(("reads", "0"));
            let adding: Vec<_> = reads.into_iter().chain([("inserts", "100")]).collect();
            let (workload, _) = small(name, &adding, &plan);
            run_plain(&*workload, &left, FENCED, 4, 500);
            workload.check(&left).unwrap();
            assert_eq!(
                workload.contents(&left).len(),
                room,
                "{name}, {runtime}, {crashes} crashes"
            );
        }
    }
}

/// An element with a word that is another's.
#[test]
fn a_torn_element_is_named() {
    for name in NAMES {
        let (workload, memory) = small(name, &[], &PLAN);
        let first = workload.contents(&memory).pop_first();
        let (_, value) = first.expect("a structure that is not empty");
        let all = (PM_BASE..PM_BASE + memory.pm_bytes()).step_by(8).map(Addr);
        let second: Vec<Addr> = all.filter(|addr| memory.word(*addr) == value.wrapping_add(1)).collect();
        assert!(!second.is_empty());
        for addr in second {
            memory.set_word(addr, 7);
        }
        let found = workload.check(&memory).unwrap_err();
        assert!(found.contains("word 1 of the element at"), "{found}");
    }
}

#[test]
fn sizes_that_do_not_go_together_are_refused() {
    for (name, set, expected) in [
        (
            "heap",
            &[("item_bytes", "20")][..],
            "workload.item_bytes=20: must be a multiple of 8; 24",
        ),
        (
            "skiplist",
            &[("reads", "30")],
            "workload.reads=30 with workload.inserts=80: together",
        ),
    ] {
        let error = build(name, set.iter().copied(), &ALONE).err().expect("refused");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}
