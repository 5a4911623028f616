//! Tasks that share a thread: designs that promise recovery keep the promise whatever the window, the library of coroutines,
//! the contexts and what locks order.

mod common;

use common::{assert_clean, is_thorough, replayed, spec, WORKLOADS};
use strandline_crash::{explore, Points};
use strandline_designs::{abouts, design};
use strandline_sim::{Found, Spec, Window};

fn points() -> Points {
    Points::Count(if is_thorough() { 2000 } else { 80 })
}

/// Designs whose programs share threads among tasks unless told otherwise.
fn designs() -> Vec<&'static str> {
    let shares = abouts()
        .into_iter()
        .filter(|about| about.window.is_some() && about.promises_recovery);
    shares.map(|about| about.name).collect()
}

fn has_contexts(name: &str) -> bool {
    let design = design(name).expect("a registered design");
    design.params().iter().any(|param| param.name == "contexts")
}

/// How tasks share a thread, and on which machine.
#[derive(Clone, Copy, Debug)]
struct Variant {
    /// The design's own if `None`.
    window: Option<Window>,
    library: &'static str,
    /// Fewer contexts than tasks, where the design has contexts.
    collide: bool,
    locks_order_flushes: bool,
}

const THREE: Option<Window> = Some(Window::Tasks(3));
const AUTO: Option<Window> = Some(Window::Found(Found::Auto));

/// Each value of each, beside the others. Each second of them has a window of three, and contexts that collide.
const VARIANTS: [Variant; 4] = [
    variant(THREE, "lean", false, true),
    variant(THREE, "paper", true, false),
    variant(None, "paper", true, true),
    variant(AUTO, "lean", false, false),
];

const fn variant(window: Option<Window>, library: &'static str, collide: bool, locks_order_flushes: bool) -> Variant {
    Variant {
        window,
        library,
        collide,
        locks_order_flushes,
    }
}

impl Variant {
    fn of(self, workload: &str, design: &str, threads: u64) -> Spec {
        let mut set = vec![format!("machine.core.lock_orders_flushes={}", self.locks_order_flushes)];
        if self.collide && has_contexts(design) {
            set.push("design.contexts=2".to_owned());
        }
        Spec {
            window: self.window,
            coroutines: Some(self.library.to_owned()),
            set,
            ..spec(workload, design, threads)
        }
    }
}

/// The variants; all combinations in the thorough suite.
fn variants() -> Vec<Variant> {
    if !is_thorough() {
        return VARIANTS.to_vec();
    }
    let mut all = Vec::new();
    for window in [None, THREE, AUTO] {
        for library in ["paper", "lean"] {
            for collide in [false, true] {
                all.extend([false, true].map(|locks| variant(window, library, collide, locks)));
            }
        }
    }
    all
}

/// Workloads whose tasks are long, or wait for few locks.
const HEAVY: [&str; 3] = ["tpcc", "rb-tree", "nstore-wr"];

/// The runs of one workload under a design: each second variant; of heavy ones fewer tasks, under one variant.
fn specs(workload: &str, number: usize, design: &str) -> Vec<Spec> {
    let is_heavy = HEAVY.contains(&workload) && !is_thorough();
    let mut variants = variants();
    if !is_thorough() {
        variants = variants.into_iter().skip(number % 2).step_by(2).collect();
    }
    if is_heavy {
        variants.truncate(1);
    }
    let threads = |variant: Variant| [1, 4].map(|threads| variant.of(workload, design, threads));
    let mut specs: Vec<Spec> = variants.into_iter().flat_map(threads).collect();
    if is_heavy {
        specs.iter_mut().for_each(|spec| spec.tasks = Some(6));
    }
    specs
}

#[test]
fn tasks_that_share_a_thread_recover() {
    assert!(designs().len() >= 3, "cosplay, sbatch and freeswitch share threads");
    for (number, design) in designs().into_iter().enumerate() {
        for (of_workload, workload) in WORKLOADS.into_iter().enumerate() {
            for spec in specs(workload, number + of_workload, design) {
                let report = assert_clean(&spec, points());
                assert!(report.points > 0 && report.durable_events > report.runs);
            }
        }
    }
}

#[test]
fn any_design_takes_a_window_and_recovers() {
    for about in abouts().iter().filter(|about| about.promises_recovery) {
        assert_clean(&VARIANTS[0].of("cq", about.name, 2), points());
    }
}

#[test]
fn every_point_of_short_runs_recovers() {
    for design in designs() {
        assert_clean(&spec("sps", design, 2), Points::All);
    }
}

#[test]
fn a_window_that_changes_while_the_program_runs_recovers() {
    for design in designs() {
        // A window is tried for 512 yields, two of which are a task of pc: the third one of the ladder is reached.
        let spec = Spec {
            window: AUTO,
            tasks: Some(700),
            ..spec("pc", design, 1)
        };
        let report = assert_clean(&spec, points());
        assert!(
            report.record.stats.window > 1,
            "{design} has never tried another window"
        );
    }
}

#[test]
fn tasks_that_order_nothing_are_caught_and_fail_again_when_replayed() {
    // Tasks of tpcc are long; designs.rs has them one after the other.
    let workloads = WORKLOADS
        .into_iter()
        .filter(|workload| *workload != "tpcc" || is_thorough());
    for workload in workloads {
        for (window, library) in [(THREE, "paper"), (AUTO, "lean")] {
            let spec = Spec {
                window,
                coroutines: Some(library.to_owned()),
                ..spec(workload, "unordered", 2)
            };
            let report = explore(&spec, Points::Count(80)).unwrap();
            assert!(!report.failures.is_empty(), "{workload}, window {window:?}");
            // One task alone loses what was acknowledged, too.
            let smallest = &report.failures[0].replay;
            assert!(smallest.contains("--window 1 ") || window == AUTO, "{smallest}");
            for failure in &report.failures {
                assert!(
                    failure.replay.contains(&format!("--coroutines {library}")),
                    "{}",
                    failure.replay
                );
                let again = replayed(&spec, &failure.replay);
                assert_eq!(again.failures[0].why, failure.why, "{}", failure.replay);
                assert_eq!(again.failures[0].replay, failure.replay);
            }
        }
    }
}
