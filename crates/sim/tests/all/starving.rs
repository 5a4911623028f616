//! Runs that once stood still.

use strandline_sim::{run, FoundBy, Spec, Window};

#[test]
fn stores_whose_lines_share_a_set_do_not_drive_each_other_out_for_ever() {
    let caches = [
        "l1.bytes=128",
        "l1.ways=2",
        "l2.bytes=256",
        "l2.ways=2",
        "llc.bytes=4096",
        "llc.ways=4",
    ];
    let mut set = vec!["workload.rows=8".to_owned()];
    set.extend(caches.map(|cache| format!("machine.{cache}")));
    let spec = Spec {
        threads: Some(4),
        tasks: Some(8),
        runtime: Some("txn".to_owned()),
        window: Some(Window::Tasks(2)),
        set,
        ..Spec::new("pc", "x86")
    };
    assert_eq!(run(&spec).map(|record| record.stats.tasks_to_the_end), Ok(8));
}

/// A slot without a task, because the window shrinks or the run ends, still holds regions that others depend on.
#[test]
fn slots_without_a_task_leave_no_region_that_others_wait_for() {
    let spec = Spec {
        threads: Some(2),
        tasks: Some(40),
        runtime: Some("atlas".to_owned()),
        window: Some(Window::Found(FoundBy::Auto)),
        bmo: Some(300),
        set: vec!["workload.rows=64".to_owned(), "runtime.log_batch=2".to_owned()],
        ..Spec::new("sps", "cosplay")
    };
    assert_eq!(run(&spec).map(|record| record.stats.tasks_to_the_end), Ok(40));
}

/// A merge that finds its child locked lets it go first: its holder waits for the node that the merge holds.
#[test]
fn merges_of_p_art_let_the_holder_of_their_child_pass() {
    let set = ["gap=100", "keys=5", "reads=5", "deletes=45", "init_ops=4", "pool=64"];
    let spec = Spec {
        threads: Some(3),
        tasks: Some(200),
        set: set.map(|set| format!("workload.{set}")).to_vec(),
        ..Spec::new("p-art", "x86")
    };
    assert_eq!(run(&spec).map(|record| record.stats.tasks_to_the_end), Ok(200));
}

#[test]
fn a_thread_that_spins_does_not_outrun_the_one_that_it_has_woken() {
    // The last release wakes a sleeper. Nobody else acts then, and the log of the one that released waits for it.
    let spec = Spec {
        threads: Some(4),
        tasks: Some(41),
        machine: Some("asap".to_owned()),
        set: vec!["machine.simulation.warm=footprint".to_owned()],
        ..Spec::new("atlas-queue", "eadr")
    };
    assert_eq!(run(&spec).unwrap().stats.tasks, 41);
}
