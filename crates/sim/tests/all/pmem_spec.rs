//! PMEM-Spec in whole runs: loads are found stale, regions are aborted, and every task ends.

use strandline_sim::{run, Record, Spec};

/// As many as need some hundred evictions of lines that their own region has written.
const TASKS: u64 = 400;

/// Caches that hold fewer lines than the regions in flight write, so that the LLC evicts lines whose stores are still
/// on their way. Without an L2, since an LLC of this size could not include one.
const SMALL_CACHES: [&str; 5] = [
    "l1.bytes=1024",
    "l1.ways=2",
    "l2.bytes=0",
    "llc.bytes=4096",
    "llc.ways=4",
];

/// `cq` on four threads; cores beyond the fourth have no program.
fn run_with(cores: u32, controllers: u32) -> Record {
    let sizes = [
        "channel.step=20".to_owned(),
        format!("cores={cores}"),
        format!("controllers.count={controllers}"),
    ];
    let caches = SMALL_CACHES.map(str::to_owned);
    let mut set: Vec<String> = caches
        .into_iter()
        .chain(sizes)
        .map(|set| format!("machine.{set}"))
        .collect();
    set.push("workload.operations=4".to_owned());
    let spec = Spec {
        machine: Some("asap".to_owned()),
        runtime: Some("undo".to_owned()),
        threads: Some(4),
        tasks: Some(TASKS),
        set,
        ..Spec::new("cq", "pmem-spec")
    };
    run(&spec).expect("every task ends")
}

/// An interrupt reaches all cores, those without a program too.
#[test]
fn regions_are_aborted_and_every_task_ends() {
    for controllers in [1, 2] {
        for cores in [4, 6] {
            let record = run_with(cores, controllers);
            let found = format!("{cores} cores, {controllers} controllers");
            assert_eq!(record.stats.tasks_to_the_end, TASKS, "{found}");
            assert!(record.own["stale_loads"] > Some(0), "{found}: no load was stale");
        }
    }
}
