//! What several runs begin with, and share.

use crate::common::without_host;
use strandline_runtime::runtimes;
use strandline_sim::{run, Computed, Error, Progress, Record, Run, Spec, Starts, Window};
use strandline_workloads::names;

/// Small caches, which soon are in a steady state.
const SMALL: [&str; 5] = [
    "machine.simulation.warm=steady",
    "machine.l1.bytes=4096",
    "machine.l2.bytes=16384",
    "machine.llc.bytes=65536",
    "workload.log_records=64",
];

fn spec(workload: &str, design: &str, threads: u64, set: &str) -> Spec {
    let sets = SMALL.into_iter().chain((!set.is_empty()).then_some(set));
    Spec {
        tasks: Some(200),
        warm: Some(0),
        threads: Some(threads),
        runtime: Some("undo".to_owned()),
        set: sets.map(str::to_owned).collect(),
        ..Spec::new(workload, design)
    }
}

fn sps(design: &str) -> Spec {
    spec("sps", design, 2, "")
}

/// A record without the host's times.
fn untimed(record: Result<Record, Error>) -> serde_json::Value {
    without_host(&record.unwrap_or_else(|error| panic!("{error}")))
}

fn shared(spec: &Spec, starts: &Starts) -> serde_json::Value {
    untimed(sharing(spec, starts, &Progress::default()))
}

fn sharing(spec: &Spec, starts: &Starts, progress: &Progress) -> Result<Record, Error> {
    let run = Run {
        starts: Some(starts),
        progress: progress.clone(),
        ..Run::of(spec)
    };
    run.record()
}

const fn computed(filled: u64, steady: u64) -> Computed {
    Computed { filled, steady }
}

#[test]
fn a_shared_start_changes_nothing() {
    let windowed = |design| Spec {
        window: Some(Window::Tasks(4)),
        ..sps(design)
    };
    let groups = [
        vec![sps("x86"), sps("x86-pcommit"), sps("unordered"), sps("dccvap")],
        vec![
            spec("tatp", "dpo", 1, ""),
            spec("tatp", "hops-ep", 1, ""),
            spec("tatp", "bbb", 1, "design.entries=8"),
        ],
        vec![windowed("sbatch"), windowed("cosplay"), windowed("freeswitch")],
        vec![
            spec("sps", "dpo", 3, "machine.pm.banks=8"),
            spec("sps", "dpo", 3, "machine.controllers.wpq_entries=8"),
            spec("sps", "lb-pp", 3, "machine.simulation.slack=0"),
        ],
        vec![spec("pc", "strandweaver", 2, ""), spec("pc", "no-persist-queue", 2, "")],
    ];
    for specs in groups {
        let starts = Starts::of(&specs);
        assert_eq!(Starts::groups(&specs), vec![(0, 0); specs.len()], "{specs:?}");
        for (number, spec) in specs.iter().enumerate() {
            assert_eq!(shared(spec, &starts), untimed(run(spec)), "{spec:?}");
            assert_eq!(
                starts.bytes() > 0,
                number + 1 < specs.len(),
                "the last run has taken it"
            );
        }
        assert_eq!(starts.computed(), computed(1, 1));
    }
}

#[test]
fn runs_that_begin_in_other_ways_share_nothing() {
    let window = Spec {
        window: Some(Window::Tasks(4)),
        ..sps("sbatch")
    };
    let specs = [
        sps("x86"),
        Spec { seed: 2, ..sps("x86") },
        Spec {
            tasks: Some(300),
            ..sps("x86")
        },
        Spec {
            runtime: Some("redo".to_owned()),
            ..sps("x86")
        },
        window,
        spec("sps", "x86", 3, ""),
        spec("sps", "x86", 2, "machine.llc.bytes=131072"),
        spec("sps", "x86", 2, "workload.rows=4096"),
        spec("sps", "x86", 2, "machine.core.clwb_keeps_ownership=false"),
        spec("sps", "x86", 2, "machine.simulation.warm=footprint"),
        spec("sps", "unordered", 2, "machine.simulation.warm=footprint"),
        // No flush, other non-temporal stores, lines that pass clean, regions that may be restarted, no log.
        sps("eadr"),
        sps("bbb"),
        sps("strandweaver"),
        sps("pmem-spec"),
        sps("volatile"),
    ];
    let groups: Vec<usize> = Starts::groups(&specs).into_iter().map(|(_, steady)| steady).collect();
    assert_eq!(groups, (0..specs.len()).collect::<Vec<_>>());
}

#[test]
fn runs_with_other_structures_or_logs_fill_memory_alone() {
    let auto = |window| Spec {
        window: Some(Window::Tasks(window)),
        ..sps("sbatch")
    };
    let runtime = |runtime: &str| Spec {
        runtime: Some(runtime.to_owned()),
        ..sps("x86")
    };
    let specs = [
        sps("x86"),
        Spec { seed: 2, ..sps("x86") },
        runtime("redo"),
        runtime("none"),
        auto(4),
        auto(5),
        spec("sps", "x86", 3, ""),
        spec("sps", "x86", 2, "workload.rows=4096"),
        spec("sps", "x86", 2, "runtime.lock=mcs"),
        spec("tatp", "x86", 2, ""),
    ];
    let groups: Vec<usize> = Starts::groups(&specs).into_iter().map(|(filled, _)| filled).collect();
    assert_eq!(groups, (0..specs.len()).collect::<Vec<_>>());
}

#[test]
fn runtimes_that_fill_memory_alike_share_it_and_run_as_alone() {
    for about in names() {
        let of_runtime = |runtime: &str| {
            let small = about.small.iter().map(|(key, value)| format!("workload.{key}={value}"));
            Spec {
                tasks: Some(8),
                warm: Some(0),
                threads: Some(2),
                machine: Some("sp".to_owned()),
                runtime: Some(runtime.to_owned()),
                set: small.chain(["machine.simulation.warm=footprint".to_owned()]).collect(),
                ..Spec::new(about.name, "x86-pcommit")
            }
        };
        let specs: Vec<Spec> = runtimes().iter().map(|runtime| of_runtime(runtime.name)).collect();
        let groups = Starts::groups(&specs);
        let alike = |own: usize| groups.iter().filter(|(filled, _)| *filled == own).count() > 1;
        let together: Vec<Spec> = specs
            .iter()
            .zip(&groups)
            .filter(|(_, group)| alike(group.0))
            .map(|(spec, _)| spec.clone())
            .collect();
        assert_eq!(together.len(), 4, "{}: the variants of write-ahead logs", about.name);
        let starts = Starts::of(&together);
        for spec in &together {
            assert_eq!(shared(spec, &starts), untimed(run(spec)), "{spec:?}");
        }
        assert_eq!(
            (starts.computed(), starts.bytes()),
            (computed(1, 0), 0),
            "{}",
            about.name
        );
    }
}

#[test]
fn steady_starts_over_one_filled_memory_are_those_of_runs_alone() {
    let with = |runtime: &str, design: &str| Spec {
        runtime: Some(runtime.to_owned()),
        set: SMALL[..4]
            .iter()
            .chain(&["workload.init_ops=500", "workload.keys=1000"])
            .map(|&set| set.to_owned())
            .collect(),
        ..spec("b-tree", design, 2, "")
    };
    let specs = [
        with("none", "x86-pcommit"),
        with("log", "x86-pcommit"),
        with("log-p", "x86-pcommit"),
        with("log-p-sf", "x86-pcommit"),
        with("log-p-sf", "sp"),
    ];
    let starts = Starts::of(&specs);
    assert_eq!(Starts::groups(&specs), [(0, 0), (0, 1), (0, 2), (0, 3), (0, 3)]);
    for spec in &specs {
        assert_eq!(shared(spec, &starts), untimed(run(spec)), "{spec:?}");
    }
    assert_eq!((starts.computed(), starts.bytes()), (computed(1, 1), 0));
}

#[test]
fn runs_at_once_wait_for_the_one_that_computes_their_start() {
    let specs = ["x86", "unordered", "non-atomic", "dccvap"].map(sps);
    let starts = Starts::of(&specs);
    std::thread::scope(|scope| {
        let runs = specs.each_ref().map(|spec| scope.spawn(|| shared(spec, &starts)));
        for (run, spec) in runs.into_iter().zip(&specs) {
            assert_eq!(run.join().expect("it ends"), untimed(strandline_sim::run(spec)));
        }
    });
    assert_eq!((starts.computed(), starts.bytes()), (computed(1, 1), 0));
}

#[test]
fn starts_take_no_more_memory_than_they_may() {
    let specs = [
        sps("x86"),
        sps("unordered"),
        sps("eadr"),
        spec("sps", "eadr", 2, "machine.pm.banks=8"),
    ];
    let starts = Starts::of(&specs);
    shared(&specs[0], &starts);
    let first = starts.bytes();
    shared(&specs[2], &starts);
    let second = starts.bytes() - first;
    assert!(second > 16 << 10, "an LLC of 64 KiB has 1,024 tags: {second}");
    assert!(
        first > second,
        "the memory, and what the first steady start takes over it: {first}"
    );

    // Room for filled memory and the first steady start; none at all.
    for (most, bytes) in [(first + second / 2, first), (0, 0)] {
        let starts = Starts::bounded(&specs, most);
        shared(&specs[0], &starts);
        shared(&specs[2], &starts);
        assert_eq!((starts.computed(), starts.bytes()), (computed(1, 2), bytes));
        assert_eq!(shared(&specs[3], &starts), untimed(run(&specs[3])));
        assert_eq!(shared(&specs[1], &starts), untimed(run(&specs[1])));
        assert_eq!((starts.computed(), starts.bytes()), (computed(1, 2), 0));
    }
}

#[test]
fn a_start_is_kept_for_runs_that_will_be_made() {
    let specs = ["x86", "unordered", "non-atomic"].map(sps);
    let starts = Starts::of(&specs);
    starts.forgo(&specs[1]);
    shared(&specs[0], &starts);
    assert!(starts.bytes() > 0);
    starts.forgo(&specs[2]);
    assert_eq!(starts.bytes(), 0);
}

#[test]
fn a_run_that_is_stopped_leaves_the_start_to_the_others() {
    let specs = ["x86", "unordered", "non-atomic"].map(sps);
    let starts = Starts::of(&specs);
    let stopped = Progress::default();
    stopped.stop();
    assert_eq!(sharing(&specs[0], &starts, &stopped).err(), Some(Error::Stopped));
    assert_eq!(shared(&specs[1], &starts), untimed(run(&specs[1])));
    assert_eq!(starts.computed(), computed(1, 0));
    assert!(starts.bytes() > 0, "filled memory, for the last run");
    assert_eq!(shared(&specs[2], &starts), untimed(run(&specs[2])));
    assert_eq!((starts.computed(), starts.bytes()), (computed(1, 0), 0));
}
