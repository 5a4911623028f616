//! Work of tasks outside of their locks.

use strandline_machine::Stats;
use strandline_sim::{run, Spec, Window};

/// A run of 200 swaps, by one thread.
fn swaps(design: &str, window: Option<Window>, think: u64, code: &str) -> Stats {
    let spec = Spec {
        tasks: Some(200),
        warm: Some(0),
        window,
        set: vec![format!("runtime.think={think}"), format!("runtime.code={code}")],
        ..Spec::new("sps", design)
    };
    run(&spec).expect("runs").stats
}

#[test]
fn each_task_executes_so_many_instructions_of_the_stated_mix() {
    for (design, window, code) in [
        ("x86", None, "optimized"),
        ("x86", None, "plain"),
        ("cosplay", Some(Window::Tasks(4)), "optimized"),
    ] {
        let [without, with] = [0, 1600].map(|think| swaps(design, window, think, code));
        // In plain code a value that the work leaves may lose its slot, and one that it finds may not be in a register.
        let about = |more: u64, expected: u64| more.abs_diff(200 * expected) <= if code == "plain" { 200 } else { 0 };
        assert!(
            about(with.instructions - without.instructions, 1600),
            "{design}, {code}"
        );
        assert!(about(with.loads - without.loads, 400), "{design}, {code}");
        assert!(about(with.stores - without.stores, 200), "{design}, {code}");
        assert_eq!(with.flushes, without.flushes, "{design}, {code}");
        // The machine dispatches four instructions a cycle; some overlap with waiting.
        assert!(with.cycles.0 - without.cycles.0 > 200 * 300, "{design}, {code}");
    }
}
