//! The applications of WHISPER: the faults that crash tests find in them, and their memory after many crashes.

use crate::common::counting::{Counting, Counts};
use crate::common::crashing::{first_failure, run, Game};
use crate::common::{amount, thread_plan, PLAN};
use crate::common::{with_workload, Visitor};
use strandline_isa::{Image, Memory, Thread, PM_BASE};
use strandline_runtime::adversary::{Play, Watch, FENCED};
use strandline_runtime::{finish, run_thread, BuildPlan, Logging, Program, Runtime};
use strandline_workloads::describe;

const APPLICATIONS: [&str; 3] = ["memcached", "vacation", "echo"];

/// The plan of this runtime.
fn under(runtime: &str) -> BuildPlan {
    let logging = Logging {
        runtime: Runtime::named(runtime).expect("a runtime"),
        batch: 1,
        ..Logging::UNDO
    };
    BuildPlan { logging, ..PLAN }
}

/// The first failure of a small application with this fault, under plays of several kinds.
fn failure(name: &'static str, fault: &'static str, runtime: &str) -> Option<String> {
    let plays = if fault == "nothing" { amount(3, 8) } else { 8 };
    first_failure(name, &[("omits", fault)], &under(runtime), 40, plays)
}

/// What a program forgets to log or to flush is found; nothing is where it forgets nothing.
#[test]
fn what_a_faulty_program_leaves_out_is_found() {
    for name in APPLICATIONS {
        let about = describe(name).unwrap();
        let omits = about.params.iter().find(|param| param.name == "omits").unwrap();
        let runtimes = if about.is_logged() {
            &["txn", "undo"][..]
        } else {
            &["undo"]
        };
        for (fault, runtime) in omits
            .words
            .iter()
            .flat_map(|fault| runtimes.iter().map(move |runtime| (fault, runtime)))
        {
            let found = failure(name, fault, runtime);
            println!("{name} without {fault} under {runtime}: {found:?}");
            assert_eq!(
                found.is_some(),
                *fault != "nothing",
                "{name} without {fault} under {runtime}: {found:?}"
            );
        }
    }
}

/// What tasks cost.
struct Cost;

impl Visitor for Cost {
    type Out = Counts;

    fn visit(self, workload: &dyn Program, memory: Memory) -> Counts {
        let cpu = Counting::new(&memory, FENCED);
        finish(|| run_thread(workload, &Thread::on(&cpu), thread_plan(0, 1, 8_000, 3))).unwrap();
        workload.check(&memory).unwrap();
        cpu.counts()
    }
}

/// Flushes and fences of a task of ASAP's run, which follow from the steps of its regions.
#[test]
fn tasks_flush_and_fence_as_their_regions_say() {
    for (name, runtime, flushes, fences) in [
        ("memcached", "txn", 59.0, 26.5),
        ("memcached", "undo", 22.2, 5.3),
        ("vacation", "txn", 27.3, 12.4),
        ("vacation", "undo", 19.7, 19.7),
        ("echo", "undo", 6.2, 1.54),
    ] {
        let plan = BuildPlan {
            threads: 1,
            ..under(runtime)
        };
        let counts = with_workload(name, [], &plan, Cost).unwrap();
        let found = (counts.per_task(counts.flushes), counts.per_task(counts.fences));
        println!(
            "{name} under {runtime}: {found:?} flushes and fences, {:.0} instructions",
            counts.per_task(counts.instructions())
        );
        assert!(
            (found.0 / flushes - 1.0).abs() < 0.1 && (found.1 / fences - 1.0).abs() < 0.1,
            "{name}: {found:?}"
        );
    }
}

/// Many more crashes than there are free chunks, each in the middle of some tasks: threads go on, and memory is not lost.
struct Reuse;

impl Visitor for Reuse {
    type Out = u64;

    fn visit(self, workload: &dyn Program, memory: Memory) -> u64 {
        let mut memory = memory;
        let mut crashes = 0;
        for seed in 0..40 {
            let game = Game {
                lowering: FENCED,
                threads: 4,
                tasks: 20,
                sharing: None,
                play: Play { seed, evict_one_in: 8 },
            };
            let (mut images, mut left) = (0, None);
            let mut keep = |image: &Memory, _: &Watch| {
                images += 1;
                if images == 150 + seed {
                    left = Some(image.persistent_half());
                }
                Ok(())
            };
            run(workload, &memory, game, &mut keep);
            crashes += u64::from(left.is_some());
            memory = left.unwrap_or(memory).persistent_half();
            workload.recover(&memory);
            workload.repair(&memory);
            workload.start(&memory);
            // It counts all memory: what is neither used nor free is an error.
            workload.check(&memory).unwrap();
        }
        crashes
    }
}

#[test]
fn no_memory_is_lost_for_good() {
    for name in APPLICATIONS {
        let about = describe(name).unwrap();
        for runtime in ["undo", "txn", "redo"] {
            let crashes = with_workload(name, about.small.iter().copied(), &under(runtime), Reuse).unwrap();
            assert!(crashes > 30, "{name} under {runtime}: {crashes}");
        }
    }
}

/// Broken images: whatever a word holds, the check ends, and tells most changes.
struct Broken;

impl Visitor for Broken {
    type Out = ();

    fn visit(self, workload: &dyn Program, memory: Memory) {
        let all = (PM_BASE..PM_BASE + memory.pm_bytes())
            .step_by(8)
            .map(strandline_isa::Addr);
        for addr in all.filter(|addr| !workload.logs().range().contains(&addr.0)) {
            let old = memory.word(addr);
            for word in [
                0,
                1,
                old ^ 1,
                old.wrapping_add(1),
                u64::MAX,
                old ^ 1 << 63,
                PM_BASE,
                PM_BASE + 64,
                addr.0 & !63,
            ] {
                memory.set_word(addr, word);
                _ = workload.check(&memory);
                let image = memory.persistent_half();
                workload.repair(&image);
                workload.start(&image);
            }
            memory.set_word(addr, old);
        }
        workload.check(&memory).unwrap();
    }
}

#[test]
fn recovery_and_check_of_a_broken_image_end() {
    for name in APPLICATIONS {
        let about = describe(name).unwrap();
        with_workload(name, about.small.iter().copied(), &under("undo"), Broken).unwrap();
    }
}
