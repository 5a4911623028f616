//! Runs in which every core's store finds its line gone: caches so small that lines of several cores share a set.

use strandline_sim::{run, Spec, Window};

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
    assert_eq!(run(&spec).map(|record| record.stats.tasks), Ok(8));
}
