//! Whole runs of tasks that share threads. Under any window, number of contexts, library and design, a run finishes,
//! does all tasks, keeps the structure sound, and is repeatable.

use crate::common::without_host;
use proptest::prelude::*;
use strandline_isa::{Addr, Image, Memory};
use strandline_machine::{Journal, TraceOp};
use strandline_sim::{observe, run, Observation, Record, Spec, Window};

/// Each workload is so small that the tasks of a large window contend for its locks.
const SMALL: [(&str, &[&str]); 5] = [
    ("sps", &["rows=16", "log_records=64"]),
    ("pc", &["rows=8", "log_records=64"]),
    ("tatp", &["rows=8", "log_records=64"]),
    (
        "tpcc",
        &[
            "districts=3",
            "customers=4",
            "items=20",
            "orders=8",
            "new_orders=3",
            "log_records=402",
        ],
    ),
    ("cq", &["queues=3", "nodes=4", "log_records=64"]),
];

/// Its place among them.
const TPCC: usize = 3;

const DESIGNS: [&str; 7] = [
    "cosplay",
    "sbatch",
    "freeswitch",
    "x86",
    "unordered",
    "volatile",
    "eadr",
];

/// A run of a small workload.
fn small(workload: usize, design: &str) -> Spec {
    let (name, set) = SMALL[workload];
    Spec {
        set: set.iter().map(|set| format!("workload.{set}")).collect(),
        ..Spec::new(name, design)
    }
}

fn random_spec() -> impl Strategy<Value = Spec> {
    let shape = (0..SMALL.len(), 0..DESIGNS.len(), 1u64..=64, 1u64..=64, 1u64..=3);
    let rest = (prop::bool::ANY, 1u64..150, 0u64..20, 0u64..=1000, 1u64..1000);
    (shape, rest).prop_map(
        |((workload, design, window, contexts, threads), (lean, tasks, warm, bmo, seed))| {
            let mut spec = Spec {
                window: Some(Window::Tasks(window)),
                coroutines: Some(if lean { "lean" } else { "paper" }.to_owned()),
                threads: Some(threads),
                tasks: Some(tasks),
                warm: Some(warm),
                bmo: Some(bmo),
                seed,
                ..small(workload, DESIGNS[design])
            };
            if matches!(DESIGNS[design], "cosplay" | "freeswitch") {
                spec.set.push(format!("design.contexts={contexts}"));
            }
            spec
        },
    )
}

/// The final visible memory: every store of the trace, in the order in which they became visible.
fn visible(run: &Observation) -> Memory {
    let memory = run.initial.clone();
    for id in &run.journal.trace.visible {
        match run.journal.trace.programs[id.core.index()][id.index as usize] {
            TraceOp::Store { addr, size, value } | TraceOp::StoreNt { addr, size, value } => {
                memory.write(addr, size, value)
            }
            TraceOp::Rmw { addr, new, .. } => memory.write(addr, 8, new),
            other => panic!("{other:?} writes nothing"),
        }
    }
    memory
}

/// The memory after a power failure directly after the end.
fn durable(initial: &Memory, journal: &Journal) -> Memory {
    let memory = initial.clone();
    for durable in &journal.durable {
        for (word, value) in (0..).zip(durable.data) {
            memory.set_word(Addr(durable.line.addr().0 + 8 * word), value);
        }
    }
    memory
}

/// The most contexts that a run can use: those of its tasks, and of its hardware, if it has any.
fn most_contexts(spec: &Spec) -> Option<u64> {
    let set = |set: &String| set.strip_prefix("design.contexts=")?.parse::<u64>().ok();
    let contexts = spec.set.iter().find_map(set)?;
    match spec.window {
        Some(Window::Tasks(window)) => Some(contexts.min(window)),
        _ => Some(contexts),
    }
}

/// What a record says of queues, buffers and contexts: no mean is above its maximum, and no maximum above what COSPlay's
/// core (Table 2) and the design have.
fn check_occupancy(record: &Record, contexts: Option<u64>) -> Result<(), String> {
    let derived = &record.derived;
    let queue = (derived.store_queue_occupancy_mean, derived.store_queue_occupancy_max);
    let buffer = (
        derived.writeback_buffer_occupancy_mean,
        derived.writeback_buffer_occupancy_max,
    );
    let table = (
        derived.context_table_occupancy_mean,
        derived.context_table_occupancy_max.unwrap_or(0),
    );
    let wrong =
        |((mean, max), most): ((Option<f64>, u64), u64)| mean.is_some_and(|mean| mean > max as f64) || max > most;
    match [(queue, 56), (buffer, 32), (table, contexts.unwrap_or(0))]
        .into_iter()
        .find(|each| wrong(*each))
    {
        _ if derived.context_table_occupancy_max.is_some() != contexts.is_some() => {
            Err("contexts where none are".to_owned())
        }
        Some(wrong) => Err(format!("mean, maximum and entries: {wrong:?}")),
        None => Ok(()),
    }
}

fn check(spec: &Spec) -> Result<(), String> {
    let once = run(spec).map_err(|error| error.to_string())?;
    let again = run(spec).map_err(|error| error.to_string())?;
    if without_host(&once) != without_host(&again) {
        return Err("the same run again has another record".to_owned());
    }
    check_occupancy(&once, most_contexts(spec))?;
    let observed = observe(spec).map_err(|error| error.to_string())?;
    for record in [&once, &observed.record] {
        if Some(record.stats.tasks_to_the_end) != spec.tasks {
            return Err(format!("{} tasks ended", record.stats.tasks_to_the_end));
        }
    }
    let program = &observed.program;
    program
        .check(&visible(&observed))
        .map_err(|wrong| format!("in the end: {wrong}"))?;
    if observed.about.promises_recovery {
        let image = durable(&observed.initial, &observed.journal);
        program.recover(&image);
        program.repair(&image);
        program.check(&image).map_err(|wrong| format!("recovered: {wrong}"))?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_window_of_any_contexts_finishes_what_was_asked_for(spec in random_spec()) {
        prop_assert_eq!(check(&spec), Ok(()));
    }
}

/// A core that spins requests the lock's line ahead of time, always just before the other core's releasing store is
/// due.
#[test]
fn a_store_that_frees_a_lock_is_not_kept_from_its_line_for_ever() {
    let mut spec = Spec {
        window: Some(Window::Tasks(51)),
        coroutines: Some("paper".to_owned()),
        threads: Some(2),
        tasks: Some(111),
        warm: Some(2),
        bmo: Some(466),
        seed: 52,
        ..small(TPCC, "freeswitch")
    };
    spec.set.push("design.contexts=1".to_owned());
    assert_eq!(check(&spec), Ok(()));
}

#[test]
fn the_contexts_cost_what_table_1_says() {
    // COSPlay 4.3: 32 x 4 bits + 32 x 4 bits + 16 x 7 bits = 46 bytes a core.
    let table_1 = [
        "machine.core.store_queue_entries=32",
        "machine.core.writeback_buffer_entries=32",
        "design.contexts=16",
    ];
    for threads in [1, 3] {
        let mut spec = small(0, "cosplay");
        spec.set.extend(table_1.map(str::to_owned));
        (spec.tasks, spec.threads) = (Some(6), Some(threads));
        assert_eq!(run(&spec).expect("runs").derived.storage_bytes, 46 * threads);
    }
}

#[test]
fn cores_that_wait_for_locks_of_one_line_do_not_take_it_from_each_other_for_ever() {
    // Free switches make loops of a few cycles on held locks. Here, a few items share lines. A core that runs ahead by
    // the slack must not take the line from a store that is due.
    for (window, tasks, warm, bmo, seed, contexts) in [(48, 83, 11, 299, 395, 12), (31, 142, 13, 963, 859, 42)] {
        let mut spec = Spec {
            window: Some(Window::Tasks(window)),
            threads: Some(2),
            tasks: Some(tasks),
            warm: Some(warm),
            bmo: Some(bmo),
            seed,
            ..small(TPCC, "freeswitch")
        };
        spec.set.push(format!("design.contexts={contexts}"));
        assert_eq!(run(&spec).map(|record| record.stats.tasks_to_the_end), Ok(tasks));
    }
}
