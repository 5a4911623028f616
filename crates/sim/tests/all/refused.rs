//! Impossible runs are refused in one line: what is wrong, where, and the correction.

use strandline_sim::{run, Error, Plan, Spec, Window};

/// The error line of a refused run.
fn refused(spec: &Spec) -> String {
    let text = match run(spec) {
        Err(Error::Input(text)) => text,
        Err(error) => panic!("it ran, and failed: {error}"),
        Ok(_) => panic!("it ran: {spec:?}"),
    };
    assert!(!text.contains('\n'), "one line: {text}");
    text
}

/// As [`refused`], before anything is built.
fn refused_in_the_plan(spec: &Spec) -> String {
    let text = refused(spec);
    assert_eq!(Plan::of(spec).err(), Some(Error::Input(text.clone())));
    text
}

fn with_set(design: &str, set: &str) -> Spec {
    let mut spec = Spec::new("sps", design);
    spec.set.push(set.to_owned());
    spec
}

#[test]
fn windows_out_of_range_say_the_range() {
    for (design, window) in [("cosplay", 0), ("cosplay", 129), ("x86", 0), ("sbatch", u64::MAX)] {
        let mut spec = Spec::new("sps", design);
        spec.window = Some(Window::Tasks(window));
        let expected = format!("--window {window}: must be from 1 to 128");
        assert_eq!(refused_in_the_plan(&spec), expected);
    }
}

#[test]
fn an_unknown_library_of_coroutines_says_which_there_are_whatever_the_design() {
    for design in ["cosplay", "freeswitch", "x86"] {
        let mut spec = Spec::new("sps", design);
        spec.coroutines = Some("fast".to_owned());
        assert_eq!(
            refused_in_the_plan(&spec),
            "--coroutines fast: must be paper (stackful, with the paper's costs) or lean (stackless)"
        );
    }
}

#[test]
fn coroutines_without_a_window_are_refused_where_the_design_has_none_of_its_own() {
    let mut spec = Spec::new("sps", "x86");
    spec.coroutines = Some("lean".to_owned());
    assert_eq!(
        refused_in_the_plan(&spec),
        "--coroutines: tasks run one after the other under x86; give a --window too"
    );
    spec.window = Some(Window::Tasks(2));
    assert!(Plan::of(&spec).is_ok());
    // The unknown design is the reported error, not its coroutines.
    (spec.window, spec.design) = (None, "cosply".to_owned());
    assert!(refused_in_the_plan(&spec).starts_with("design cosply: unknown name; did you mean cosplay?"));
}

#[test]
fn parameters_of_a_design_are_refused_by_name_and_range() {
    for (design, set, expected) in [
        (
            "cosplay",
            "design.contexts=0",
            "--set design.contexts=0: must be a whole number from 1 to 256 (contexts that a core tells apart)",
        ),
        (
            "cosplay",
            "design.rows=1",
            "--set design.rows: no such parameter (there are: contexts)",
        ),
        (
            "x86",
            "design.contexts=2",
            "--set design.contexts: this design has no parameters; leave the setting out",
        ),
    ] {
        assert_eq!(refused(&with_set(design, set)), expected);
    }
}

#[test]
fn parameters_of_a_workload_are_refused_by_name_and_range() {
    let unknown = refused(&with_set("cosplay", "workload.rowz=5"));
    assert!(
        unknown.starts_with("--set workload.rowz: no such parameter; did you mean workload.rows?"),
        "{unknown}"
    );
    let small = refused(&with_set("cosplay", "workload.rows=1"));
    assert!(
        small.starts_with("--set workload.rows=1: must be a whole number from 2 to "),
        "{small}"
    );
}

#[test]
fn more_threads_than_cores_are_refused_with_the_setting_that_would_do() {
    let mut spec = with_set("cosplay", "machine.cores=2");
    spec.threads = Some(3);
    assert_eq!(
        refused_in_the_plan(&spec),
        "--threads 3: machine.cores is 2 and a core runs one thread; give fewer --threads or --set machine.cores=3"
    );
    spec.threads = Some(2);
    assert!(Plan::of(&spec).is_ok());
}

#[test]
fn more_tasks_at_once_than_undo_logs_tell_apart_are_refused() {
    let mut spec = Spec::new("sps", "cosplay");
    (spec.threads, spec.window) = (Some(33), Some(Window::Tasks(64)));
    // 33 times 64 is 2112; one thread less gives exactly 2048.
    assert_eq!(
        refused(&spec),
        "--threads 33 with --window 64: must be from 1 to 2048 tasks at once, all threads together; ask for fewer threads or a smaller window"
    );
}

#[test]
fn tasks_of_several_regions_are_refused_where_one_would_start_again() {
    for workload in ["avl-tree", "b-tree", "sp-rb-tree"] {
        let mut spec = Spec::new(workload, "pmem-spec");
        spec.runtime = Some("undo".to_owned());
        let set = [
            "workload.incremental=1",
            "workload.init_ops=100",
            "machine.controllers.adr=true",
        ];
        spec.set = set.map(str::to_owned).to_vec();
        let line = refused(&spec);
        assert!(
            line.ends_with("tasks of several regions cannot; leave workload.incremental out"),
            "{line}"
        );
    }
}

/// Regions of a runtime that all write, with this many operations each.
fn with_operations(workload: &str, runtime: &str, operations: u64) -> Spec {
    let updates = match workload {
        "hashmap" => Some("workload.updates=100"),
        "nstore" => Some("workload.reads=0"),
        _ => None,
    };
    let sets = [format!("workload.operations={operations}")];
    Spec {
        runtime: Some(runtime.to_owned()),
        tasks: Some(30),
        set: sets.into_iter().chain(updates.map(str::to_owned)).collect(),
        ..Spec::new(workload, "x86")
    }
}

#[test]
fn operations_that_a_log_cannot_hold_are_refused_with_the_most_that_it_can() {
    for (workload, runtime, most) in [
        ("nstore", "txn", 24),
        ("nstore", "sfr", 24),
        ("nstore", "redo", 3),
        ("queue", "redo", 15),
    ] {
        let line = refused(&with_operations(workload, runtime, 64));
        assert!(
            line.starts_with("--set workload.operations=64: a region may write "),
            "{line}"
        );
        let end = format!("({runtime}); set workload.operations to at most {most}, or choose another --runtime");
        assert!(line.ends_with(&end), "{line}");
        refused(&with_operations(workload, runtime, most + 1));
        assert!(
            run(&with_operations(workload, runtime, most)).is_ok(),
            "{workload} {runtime}"
        );
    }
}

#[test]
fn all_operations_run_under_every_other_runtime() {
    for workload in ["nstore", "hashmap", "sps", "queue", "rb-tree"] {
        for runtime in ["undo", "txn", "atlas", "sfr", "redo", "log-p-sf"] {
            let refused = match (workload, runtime) {
                ("nstore", "undo") => false,
                ("nstore", _) | ("queue" | "rb-tree", "redo") => true,
                _ => false,
            };
            if !refused {
                let ran = run(&with_operations(workload, runtime, 64));
                assert!(ran.is_ok(), "{workload} {runtime}: {:?}", ran.err());
            }
        }
    }
}

#[test]
fn a_region_that_turns_out_too_large_is_refused_in_one_line() {
    // The writes of a tree's region depend on the tree's shape.
    assert_eq!(
        refused(&with_operations("rb-tree", "redo", 64)),
        "--set workload.operations: a region writes more words than the 512 that the runtime's set holds; set it lower, \
         or choose another --runtime"
    );
}
