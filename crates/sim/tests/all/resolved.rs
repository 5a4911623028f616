//! A record's `spec` repeats the run, even if the machine's file has changed.

use crate::common::without_host;
use serde_json::json;
use strandline_machine::{preset_names, MachineConfig};
use strandline_sim::{resolve, run, Error, FoundBy, Record, Spec, Window};

/// Runs `spec`, and then the `spec` of its record; returns the record.
fn repeated(spec: &Spec) -> Record {
    let record = run(spec).expect("runs");
    let keys = json!(record.origin.spec);
    let again: Spec = serde_json::from_value(keys).expect("a record's spec can be run");
    assert_eq!(resolve(spec).expect("can be run"), again);
    assert_eq!(resolve(&again).expect("can be run"), again, "no choice is left");
    assert_eq!(without_host(&run(&again).expect("runs again")), without_host(&record));
    record
}

fn short(workload: &str, design: &str) -> Spec {
    Spec {
        tasks: Some(40),
        ..Spec::new(workload, design)
    }
}

#[test]
fn a_run_by_default_is_repeated_with_every_parameter() {
    let record = repeated(&Spec {
        seed: 5,
        ..short("queue", "cosplay")
    });
    let spec: Spec = serde_json::from_value(json!(record.origin.spec)).expect("a spec");
    assert_eq!(spec.window, Some(Window::Tasks(8)), "the design's own");
    assert_eq!((spec.tasks, spec.threads, spec.seed), (Some(40), Some(1), 5));
    let machine = MachineConfig::preset("strandweaver").expect("queue's machine");
    let keys = machine
        .describe()
        .into_iter()
        .map(|info| format!("machine.{}", info.key));
    let others = ["design.contexts", "runtime.log_batch", "workload.nodes"].map(str::to_owned);
    for key in keys.chain(others) {
        assert!(spec.parameters.contains_key(&key), "{key}");
    }
}

#[test]
fn every_machine_is_repeated() {
    for machine in preset_names() {
        let spec = Spec {
            machine: Some(machine.to_owned()),
            ..short("sps", "unordered")
        };
        assert_eq!(repeated(&spec).ran.machine, machine);
    }
}

#[test]
fn every_memory_of_a_machine_is_repeated() {
    let mut cycles = Vec::new();
    for media in ["pcm", "dram", "pwq"] {
        // The user's own settings win over the memory's, wherever they stand.
        let set = ["machine.pm.banks=2".to_owned(), format!("machine.media={media}")];
        let record = repeated(&Spec {
            machine: Some("dpo".to_owned()),
            set: set.to_vec(),
            ..short("sps", "x86-pcommit")
        });
        let spec: Spec = serde_json::from_value(json!(record.origin.spec)).expect("a spec");
        assert_eq!(spec.parameters["machine.media"], media);
        assert_eq!(spec.parameters["machine.pm.banks"], "2");
        cycles.push(without_host(&record)["cycles"].as_u64().expect("a number"));
    }
    // A pcommit waits longer for PCM than for DRAM, and no longer where the write queue is persistent.
    assert!(cycles[0] > cycles[1], "{cycles:?}");
    assert!(cycles[0] >= cycles[2], "{cycles:?}");
}

#[test]
fn a_machine_is_repeated_without_its_file() {
    let path = std::env::temp_dir().join(format!("strandline-{}-mine.toml", std::process::id()));
    let text =
        "base = \"cosplay\"\nname = \"mine\"\n[l2]\nbytes = 0\n[pm]\nread_latency = { value = 150, unit = \"ns\" }\n";
    std::fs::write(&path, text).expect("can be written");
    let spec = Spec {
        machine: Some(path.to_string_lossy().into_owned()),
        ..short("sps", "x86")
    };
    let resolved = resolve(&spec).expect("can be run");
    let record = run(&spec).expect("runs");
    std::fs::remove_file(&path).expect("is there");
    assert_eq!(
        without_host(&run(&resolved).expect("needs no file")),
        without_host(&record)
    );
    assert_eq!(record.ran.machine, "mine");
    assert_eq!(resolved.parameters["machine.pm.read_latency"], "150 ns");
    assert_eq!(resolved.parameters["machine.l2.bytes"], "0");
}

#[test]
fn what_the_user_chose_is_repeated() {
    let set = [
        "machine.core.rob_entries=96",
        "workload.rows=256",
        "runtime.log_batch=8",
        "design.contexts=4",
    ];
    repeated(&Spec {
        runtime: Some("atlas".to_owned()),
        threads: Some(2),
        window: Some(Window::Found(FoundBy::Auto)),
        coroutines: Some("lean".to_owned()),
        bmo: Some(300),
        set: set.map(str::to_owned).to_vec(),
        ..short("sps", "cosplay")
    });
}

#[test]
fn some_parameters_of_a_machine_are_refused() {
    let mut spec = resolve(&short("sps", "x86")).expect("can be run");
    spec.parameters.remove("machine.core.rob_entries");
    let expected = "parameters: machine.core.rob_entries is missing; give every parameter of the machine, or none";
    assert_eq!(resolve(&spec), Err(Error::input(expected)));
}
