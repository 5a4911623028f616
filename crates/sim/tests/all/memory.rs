//! Estimates of the host memory that a run takes.

use strandline_sim::{MemoryNeed, Spec};

/// Bytes of journal and trace for a log record.
const JOURNAL_OF_RECORD: u64 = 6 << 10;

fn need(set: &[&str], threads: u64) -> MemoryNeed {
    let spec = Spec {
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        threads: Some(threads),
        ..Spec::new("sps", "x86")
    };
    MemoryNeed::of(&spec, false).unwrap()
}

#[test]
fn a_cache_takes_its_tags() {
    // 2^34 lines of 16 bytes.
    let caches = need(&["machine.llc.bytes=1099511627776"], 1).caches;
    assert!((1 << 38..(1 << 38) + (1 << 20)).contains(&caches), "{caches}");
}

#[test]
fn private_caches_count_for_each_core() {
    let (one, four) = (need(&[], 1), need(&[], 4));
    let private = (four.caches - one.caches) / 3;
    assert!((1..one.caches).contains(&private));
    assert_eq!(four.queues - one.queues, 3 * (need(&[], 2).queues - one.queues));
}

#[test]
fn rows_take_memory_as_far_as_tasks_touch_them() {
    let spec = |rows: u64, tasks: u64| Spec {
        set: vec![
            format!("workload.rows={rows}"),
            "machine.simulation.warm=footprint".to_owned(),
        ],
        tasks: Some(tasks),
        warm: Some(0),
        ..Spec::new("sps", "x86")
    };
    let program = |rows, tasks| MemoryNeed::of(&spec(rows, tasks), false).unwrap().program;
    // A line and a lock each.
    assert!(program(1000, 1_000_000) >= 1000 * 72);
    // Two rows a task, each with a block of eight lines and one of locks.
    assert_eq!(program(1 << 26, 2000) - program(1 << 26, 1000), 1000 * 4 * 512);
    // The pointer to a block.
    assert_eq!(program(1 << 26, 1000) - program(1 << 25, 1000), (72 << 25) / 512 * 8);
}

#[test]
fn a_steady_start_touches_memory_before_the_run() {
    let program = |rule: &str, rows: u64| {
        let set = [
            format!("workload.rows={rows}"),
            format!("machine.simulation.warm={rule}"),
        ];
        let spec = Spec {
            set: set.to_vec(),
            tasks: Some(1 << 20),
            warm: Some(0),
            ..Spec::new("sps", "x86")
        };
        MemoryNeed::of(&spec, false).unwrap().program
    };
    let more = |rows| program("steady", rows) - program("footprint", rows);
    // All of a small table is there at once.
    assert_eq!(more(1000), 0);
    // Of a large one blocks of eight lines, for three times the lines of an LLC of 16 MiB.
    assert_eq!(more(1 << 26), 3 * (16 << 20) * 8);
}

#[test]
fn an_observed_run_keeps_copies_and_a_journal() {
    let spec = Spec {
        set: vec!["machine.simulation.warm=footprint".to_owned()],
        ..Spec::new("sps", "x86")
    };
    let (run, observed) = (MemoryNeed::of(&spec, false), MemoryNeed::of(&spec, true));
    let (run, observed) = (run.unwrap(), observed.unwrap());
    assert_eq!(observed.program, 4 * run.program);
    assert_eq!(run.journal, 0);
    // A hundred thousand tasks and a tenth of them as warm-up, with three records each.
    assert_eq!(observed.journal, 110_000 * 3 * JOURNAL_OF_RECORD);
}

#[test]
fn free_lists_of_many_threads_are_not_all_used() {
    let keys = |threads| {
        let spec = Spec {
            threads: Some(threads),
            set: vec!["workload.keys=4000000".to_owned()],
            ..Spec::new("hashmap", "x86")
        };
        MemoryNeed::of(&spec, false).unwrap().program
    };
    assert!(keys(64) < 2 * keys(4));
}
