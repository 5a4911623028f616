//! What cannot be run is refused in one line: what is wrong, where, and how to mend it.

use strandline_sim::{run, Error, Plan, Spec, Window};

/// The line with which a run is refused.
fn refused(spec: &Spec) -> String {
    let text = match run(spec) {
        Err(Error::Input(text)) => text,
        Err(Error::Stuck(text)) => panic!("it ran, and stood: {text}"),
        Ok(_) => panic!("it ran: {spec:?}"),
    };
    assert!(!text.contains('\n'), "one line: {text}");
    text
}

/// As [`refused`], and before anything is built.
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
    for (design, window) in [("cosplay", 0), ("cosplay", 65), ("x86", 0), ("sbatch", u64::MAX)] {
        let mut spec = Spec::new("sps", design);
        spec.window = Some(Window::Tasks(window));
        let expected = format!("--window {window}: must be from 1 to 64");
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
        "--coroutines: tasks run one after the other under x86; ask for a --window too"
    );
    spec.window = Some(Window::Tasks(2));
    assert!(Plan::of(&spec).is_ok());
    // A design that does not exist has no way of running its tasks either.
    (spec.window, spec.design) = (None, "cosply".to_owned());
    assert!(refused_in_the_plan(&spec).starts_with("design cosply: there is none of this name; did you mean cosplay?"));
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
            "--set design.rows: no such parameter; did you mean design.contexts? (there are: contexts)",
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
        "--threads 3: machine.cores is 2 and a core runs one thread; ask for fewer threads or --set machine.cores=3"
    );
    spec.threads = Some(2);
    assert!(Plan::of(&spec).is_ok());
}

#[test]
fn more_tasks_at_once_than_undo_logs_tell_apart_are_refused() {
    let mut spec = Spec::new("sps", "cosplay");
    (spec.threads, spec.window) = (Some(33), Some(Window::Tasks(64)));
    // 33 times 64 is 2112; with one thread less it would be just 2048.
    assert_eq!(
        refused(&spec),
        "--threads 33 with --window 64: must be from 1 to 2048 tasks at once, all threads together; ask for fewer threads or a smaller window"
    );
}
