//! Work of tasks outside of their locks.

use strandline_machine::Stats;
use strandline_sim::{run, Spec, Window};

/// A run of 200 swaps, by one thread.
fn swaps(design: &str, window: Option<Window>, think: u64) -> Stats {
    let spec = Spec {
        tasks: Some(200),
        warm: Some(0),
        window,
        set: vec![format!("runtime.think={think}")],
        ..Spec::new("sps", design)
    };
    run(&spec).expect("runs").stats
}

#[test]
fn each_task_executes_so_many_additions_one_after_the_other() {
    for (design, window) in [("x86", None), ("cosplay", Some(Window::Tasks(4)))] {
        let [without, with] = [0, 1000].map(|think| swaps(design, window, think));
        assert_eq!(with.instructions - without.instructions, 200 * 1000, "{design}");
        assert_eq!(with.flushes, without.flushes, "{design}");
        // A cycle each, but for what overlaps.
        assert!(with.cycles.0 - without.cycles.0 > 200 * 900, "{design}");
    }
}
