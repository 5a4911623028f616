//! Every workload on plain memory: its invariant, its cost, and its restart after a crash.

use crate::common::counting::{Counting, Counts};
use crate::common::{
    is_logged, parts, run_plain, several, thread_plan, with_several, with_small, with_small_for, workloads, GLIBC, PLAN,
};
use crate::common::{with_workload, Visitor};
use std::collections::HashMap;
use strandline_isa::{Addr, CoreId, Image, Lowering, Memory, Note, Thread, PM_BASE};
use strandline_runtime::adversary::FENCED;
use strandline_runtime::{finish, run_thread, BuildPlan, Logging, Plain, Program};
use strandline_workloads::describe;

struct Invariant;

impl Visitor for Invariant {
    type Out = ();

    fn visit(self, workload: &dyn Program, memory: Memory) {
        workload.check(&memory).unwrap();
        for lowering in [FENCED, Lowering::NOTHING] {
            run_plain(workload, &memory, lowering, PLAN.threads, 500);
            workload.check(&memory).unwrap();
        }
    }
}

#[test]
fn the_invariant_holds_after_many_tasks() {
    for name in workloads() {
        with_small(name, Invariant);
    }
}

/// Flips each persistent word outside the logs in turn, and counts the changes that the invariant detects.
struct Sensitivity;

impl Visitor for Sensitivity {
    type Out = (u64, u64);

    fn visit(self, workload: &dyn Program, memory: Memory) -> (u64, u64) {
        run_plain(workload, &memory, FENCED, PLAN.threads, 20);
        let (mut noticed, mut tried) = (0, 0);
        for addr in (PM_BASE..PM_BASE + memory.pm_bytes()).step_by(8).map(Addr) {
            if addr.0 % 64 == 56 || workload.logs().range().contains(&addr.0) {
                continue;
            }
            let old = memory.word(addr);
            memory.set_word(addr, old ^ 1);
            tried += 1;
            noticed += u64::from(workload.check(&memory).is_err());
            memory.set_word(addr, old);
        }
        (noticed, tried)
    }
}

#[test]
fn the_invariant_sees_a_flipped_bit_where_it_says_it_does() {
    // Used words of the seven of each line: sps and pc one of seven, tatp twelve of fourteen, bandwidth all.
    let shares = HashMap::from([
        ("sps", 1.0 / 7.0),
        ("pc", 1.0 / 7.0),
        ("tatp", 12.0 / 14.0),
        ("bandwidth", 1.0),
    ]);
    for name in workloads() {
        let (noticed, tried) = with_small(name, Sensitivity);
        match shares.get(name) {
            Some(share) => assert_eq!(noticed as f64, tried as f64 * share, "{name}: {noticed} of {tried}"),
            // The tables that follow the one in use are most of the memory; of that one, a word of each empty entry
            // counts.
            None if name == "sp-hashmap" => assert!(noticed * 40 > tried, "{name}: {noticed} of {tried}"),
            // The others also hold free nodes, old orders, arbitrary texts and unused bytes.
            None => assert!(noticed * 10 > tried, "{name}: {noticed} of {tried}"),
        }
    }
}

struct Count {
    lowering: Lowering,
    tasks: u64,
}

impl Visitor for Count {
    type Out = Counts;

    fn visit(self, workload: &dyn Program, memory: Memory) -> Counts {
        let cpu = Counting::new(&memory, self.lowering);
        finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, self.tasks, 11))).unwrap();
        cpu.counts()
    }
}

fn count(name: &str, lowering: Lowering) -> Counts {
    let plan = BuildPlan {
        threads: 1,
        window: None,
        seed: 5,
        logging: Logging::UNDO,
    };
    let (name, set) = parts(name);
    // Structures of the usual size need not be full.
    let about = describe(name).expect("a workload");
    let few = about
        .params
        .iter()
        .any(|param| param.name == "init_ops")
        .then_some(("init_ops", "1000"));
    let set = set.into_iter().chain(few);
    with_workload(name, set, &plan, Count { lowering, tasks: 3000 }).unwrap()
}

/// COSPlay (MICRO 2021), Table 3: flushes and fences per task follow from its CKI and SKI and from Figure 4(a).
#[test]
fn flushes_and_fences_are_those_of_the_paper() {
    for (name, flushes, fences) in [("sps", 4, 2), ("pc", 2, 2), ("tatp", 2, 2)] {
        let counts = count(name, FENCED);
        assert_eq!(
            (counts.flushes, counts.fences),
            (flushes * counts.tasks, fences * counts.tasks),
            "{name}"
        );
    }
    // ASAP VI-C: 64 writes of four lines, each followed by a fence.
    let counts = count("bandwidth", FENCED);
    assert_eq!(
        (counts.flushes, counts.fences),
        (64 * 4 * counts.tasks, 64 * counts.tasks)
    );
    // CKI 23.2 and SKI 2.7 give 8.6 flushes per fence; CKI 19.5 and SKI 2.3 give 8.5. Section 6.3 counts 12 fences of
    // tpcc; ten items on average, their district and their order are 12 pairs of log and update, and the end is one
    // more.
    for (name, fences, ratio) in [("tpcc", 13.0, 23.2 / 2.7), ("cq", 2.0, 19.5 / 2.3)] {
        let counts = count(name, FENCED);
        let (flushes, found) = (counts.per_task(counts.flushes), counts.per_task(counts.fences));
        assert!((found / fences - 1.0).abs() < 0.02, "{name}: {found} fences a task");
        assert!(
            (flushes / found / ratio - 1.0).abs() < 0.1,
            "{name}: {flushes} flushes a task"
        );
    }
}

/// StrandWeaver's benchmarks, store by store: each store flushes its record and its line, each followed by a fence. A
/// region ends with the same for a line of the log.
#[test]
fn regions_of_single_stores_flush_and_fence_each() {
    // Five words of a value; an insertion (one key in ten is absent) has three more stores.
    let hashmap = |insertions: f64| 2.0 * (5.0 + 1.0 + 3.0 * insertions);
    let counts = count("hashmap", FENCED);
    let found = counts.per_task(counts.flushes);
    // Half of the tasks update.
    assert!(
        (0.5 * hashmap(0.05)..0.55 * hashmap(0.1)).contains(&found),
        "hashmap: {found}"
    );
    assert_eq!(counts.flushes, counts.fences, "hashmap");

    let counts = count("rb-tree", FENCED);
    let found = counts.per_task(counts.flushes);
    // An insertion has nine stores and a deletion at least three, half each, without recolouring and rotations; these
    // are at most a few on average (Mehlhorn and Tsakalidis).
    assert!(
        (2.0 * (1.0 + 6.0)..2.0 * (1.0 + 6.0 + 10.0)).contains(&found),
        "rb-tree: {found}"
    );
    assert_eq!(counts.flushes, counts.fences, "rb-tree");

    // A field has two lines and four records, with two fences. The version adds a line and a record to the last field.
    for (name, reads) in [("nstore-rd", 0.9), ("nstore-bal", 0.5), ("nstore-wr", 0.1)] {
        let counts = count(name, FENCED);
        let updates = counts.fences as f64 / 20.0;
        assert_eq!(counts.flushes as f64, 62.0 * updates, "{name}");
        let share = updates / counts.tasks as f64;
        // Three thousand tasks: five standard deviations.
        assert!((share - (1.0 - reads)).abs() < 0.05, "{name}: {share}");
    }
}

/// Speculative Persistence (ISCA 2017), Table 1, under the undo log: a logged line of 56 bytes has two records, and is
/// flushed with them; a region has two fences. `wal.rs` counts what the paper's own log does.
#[test]
fn operations_on_lines_flush_them_and_two_records_of_each() {
    // A string has four such lines and one of 32 bytes, with one record.
    let counts = count("string-swap", FENCED);
    assert_eq!(
        (counts.flushes, counts.fences),
        (2 * (9 + 5) * counts.tasks, 2 * counts.tasks)
    );
    // An insertion logs a node and the free one; a deletion logs a node. While the structure fills, more tasks insert.
    for (name, most) in [("linked-list", 4.7), ("graph", 6.0)] {
        let counts = count(name, FENCED);
        let flushes = counts.per_task(counts.flushes);
        assert_eq!(counts.fences, 2 * counts.tasks, "{name}");
        assert!((4.3..=most).contains(&flushes), "{name}: {flushes}");
    }
    // An insertion logs an entry and a word; a deletion logs an entry. A resizing flushes each record that it copies.
    let counts = count("sp-hashmap", FENCED);
    let flushes = counts.per_task(counts.flushes);
    assert!((3.8..=8.0).contains(&flushes), "sp-hashmap: {flushes}");
}

struct Show;

impl Visitor for Show {
    type Out = (f64, f64, f64);

    fn visit(self, workload: &dyn Program, memory: Memory) -> Self::Out {
        let cpu = Counting::new(&memory, FENCED);
        finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, 400, 11))).unwrap();
        let counts = cpu.counts();
        let per_task = |count| counts.per_task(count);
        (
            per_task(counts.flushes),
            per_task(counts.fences),
            per_task(counts.instructions()),
        )
    }
}

/// Eight operations cost eight times one, except for the end of a region: two flushes, which single stores share and
/// queue has only in this case. Keys are drawn again, so there is some noise.
#[test]
fn a_region_of_eight_operations_flushes_about_eight_times_as_often() {
    let plan = BuildPlan {
        threads: 1,
        window: None,
        seed: 5,
        logging: strandline_runtime::Logging::UNDO,
    };
    for name in ["sps", "queue", "hashmap", "rb-tree", "nstore-wr"] {
        let cost = |operations| with_workload(name, [("operations", operations)], &plan, Show).unwrap();
        let (one, eight) = (cost("1"), cost("8"));
        println!("{name}: flushes, fences, instructions of a region of one {one:?}, of eight {eight:?}");
        assert!((6.5..8.5).contains(&(eight.0 / one.0)), "{name}: {one:?} {eight:?}");
    }
}

/// CKI and SKI compared with the paper's: within a factor of three, because instructions depend on compilers and
/// libraries.
#[test]
fn instructions_are_of_the_papers_order() {
    let paper = [
        ("sps", 21.7),
        ("pc", 20.0),
        ("tatp", 30.3),
        ("tpcc", 23.2),
        ("cq", 19.5),
    ];
    for (name, cki) in paper {
        let counts = count(name, FENCED);
        let found = 1000.0 * counts.flushes as f64 / counts.instructions() as f64;
        println!(
            "{name}: {:.0} instructions a task, CKI {found:.1}, paper {cki}: {counts:?}",
            counts.per_task(counts.instructions())
        );
        assert!((cki / 3.0..cki * 3.0).contains(&found), "{name}: CKI {found}");
    }
}

#[test]
fn without_persistence_there_is_neither_log_nor_flush_nor_fence() {
    for name in workloads() {
        let (with, without) = (count(name, FENCED), count(name, Lowering::NOTHING));
        assert_eq!((without.flushes, without.fences), (0, 0));
        let logs = is_logged(name);
        assert_eq!(
            without.stores < with.stores && without.loads < with.loads,
            logs,
            "{name}"
        );
    }
}

/// Power fails with everything durable; threads restart on the remaining memory.
struct Restart;

impl Visitor for Restart {
    type Out = ();

    fn visit(self, workload: &dyn Program, memory: Memory) {
        let mut memory = memory;
        for _ in 0..5 {
            run_plain(workload, &memory, FENCED, PLAN.threads, 50);
            memory = memory.persistent_half();
            workload.recover(&memory);
            workload.repair(&memory);
            workload.start(&memory);
            workload.check(&memory).unwrap();
        }
    }
}

#[test]
fn threads_go_on_after_a_crash() {
    for name in workloads() {
        with_small(name, Restart);
        with_small_for(name, &GLIBC, Restart);
    }
}

struct Tell;

impl Visitor for Tell {
    type Out = Vec<Note>;

    fn visit(self, workload: &dyn Program, memory: Memory) -> Vec<Note> {
        let cpu = Plain::recording(&memory, CoreId(0), FENCED);
        finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, 20, 1))).unwrap();
        cpu.take_notes()
    }
}

#[test]
fn notes_come_in_order() {
    for name in workloads() {
        let mut inside = (false, false);
        for note in with_small(name, Tell) {
            let before = inside;
            let expected = match note {
                // A batch of echo keeps its operations under way across tasks.
                Note::OperationBegin { .. } | Note::OperationDurable { .. } if name == "echo" => before,
                Note::TaskBegin => {
                    inside.0 = true;
                    (false, false)
                }
                Note::RegionBegin | Note::OperationBegin { .. } | Note::SearchBegin { .. } => {
                    inside.1 = true;
                    (true, false)
                }
                Note::RegionWrite { .. } | Note::RegionFresh { .. } => (true, true),
                // Several regions of bandwidth end and are acknowledged together.
                Note::RegionEnd => {
                    inside.1 = false;
                    (true, true)
                }
                Note::RegionDurable => {
                    inside.1 = false;
                    (true, name != "bandwidth")
                }
                Note::OperationDurable { .. } | Note::SearchEnd { .. } => {
                    inside.1 = false;
                    (true, true)
                }
                Note::CallBegin(_) | Note::CallEnd { .. } => (true, false),
                Note::RegionAbort => panic!("{name}: nothing aborts a region here"),
                Note::Output { .. } | Note::Running(_) | Note::Window(_) => before,
                Note::TaskEnd => {
                    inside.0 = false;
                    (true, false)
                }
            };
            assert_eq!(before, expected, "{name}: {note:?}");
        }
    }
}

#[test]
fn queue_is_cq_with_one_queue() {
    struct Pm;
    impl Visitor for Pm {
        type Out = u64;
        fn visit(self, _: &dyn Program, memory: Memory) -> u64 {
            memory.pm_bytes()
        }
    }
    let plan = BuildPlan {
        threads: 1,
        window: None,
        seed: 5,
        logging: Logging::UNDO,
    };
    let bytes = |name, set: &[_]| with_workload(name, set.iter().copied(), &plan, Pm).unwrap();
    assert_eq!(bytes("queue", &[]), bytes("cq", &[("queues", "1")]));
    assert_eq!(bytes("queue", &[("queues", "4")]), bytes("cq", &[("queues", "4")]));
}

#[test]
fn cq_with_two_locks_logs_and_flushes_as_with_one() {
    let (one, two) = (count("cq", FENCED), count("cq locks=2", FENCED));
    assert_eq!((one.flushes, one.fences), (two.flushes, two.fences));
    // A second lock is taken and freed in each task.
    let more = two.per_task(two.instructions()) - one.per_task(one.instructions());
    assert!((5.0..30.0).contains(&more), "{more} instructions");
}

#[test]
fn regions_of_several_operations_take_one_lock() {
    let set = [("locks", "2"), ("operations", "4")];
    let error = with_workload("cq", set, &PLAN, Restart).unwrap_err().to_string();
    assert!(
        error.starts_with("workload.operations=4 with workload.locks=2:"),
        "{error}"
    );
    let error = with_workload("cq", [("locks", "3")], &PLAN, Restart)
        .unwrap_err()
        .to_string();
    assert!(error.contains("locks") && error.contains('2'), "{error}");
}

/// DPO (MICRO 2016) has 64 updates of its tree in a critical section.
#[test]
fn regions_of_64_operations_fit_their_logs() {
    for name in several() {
        with_several(name, "64", Restart);
    }
}
