//! The applications of WHISPER: the faults that crash tests find in them, and their memory after many crashes.

use crate::common::crashing::{first_failure, left, Game};
use crate::common::{amount, counted, faults, logging, restarted, small, ALONE, PLAN};
use strandline_isa::{Addr, Image, Memory, PM_BASE};
use strandline_runtime::adversary::{Play, FENCED};
use strandline_runtime::{BuildPlan, Program};
use strandline_workloads::{build, describe, Built};

const APPLICATIONS: [&str; 3] = ["memcached", "vacation", "echo"];

/// The plan of this runtime.
fn under(runtime: &str) -> BuildPlan {
    BuildPlan {
        logging: logging(runtime, 1),
        ..PLAN
    }
}

/// What a program forgets to log or to flush is found; nothing is where it forgets nothing.
#[test]
fn what_a_faulty_program_leaves_out_is_found() {
    for name in APPLICATIONS {
        let is_logged = describe(name).unwrap().is_logged();
        let runtimes = if is_logged { &["txn", "undo"][..] } else { &["undo"] };
        for fault in faults(name) {
            for runtime in runtimes {
                let plays = if *fault == "nothing" { amount(3, 8) } else { 8 };
                let found = first_failure(name, &[("omits", fault)], &under(runtime), 40, plays);
                println!("{name} without {fault} under {runtime}: {found:?}");
                assert_eq!(
                    found.is_some(),
                    *fault != "nothing",
                    "{name} without {fault} under {runtime}: {found:?}"
                );
            }
        }
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
            logging: logging(runtime, 1),
            ..ALONE
        };
        let (workload, memory) = build(name, [], &plan).unwrap();
        let counts = counted(&*workload, &memory, FENCED, 8_000, 3).counts();
        workload.check(&memory).unwrap();
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
fn reused((workload, memory): Built) -> u64 {
    let (mut memory, mut crashes) = (memory, 0);
    for seed in 0..40 {
        let game = Game::alone(FENCED, 4, 20, Play { seed, evict_one_in: 8 });
        let left = left(&*workload, &memory, game, 150 + seed);
        crashes += u64::from(left.is_some());
        memory = restarted(&*workload, &left.unwrap_or(memory));
        // It counts all memory: what is neither used nor free is an error.
        workload.check(&memory).unwrap();
    }
    crashes
}

#[test]
fn no_memory_is_lost_for_good() {
    for name in APPLICATIONS {
        for runtime in ["undo", "txn", "redo"] {
            let crashes = reused(small(name, &[], &under(runtime)));
            assert!(crashes > 30, "{name} under {runtime}: {crashes}");
        }
    }
}

/// Broken images: whatever a word holds, the check ends, and tells most changes.
fn breaks(workload: &dyn Program, memory: &Memory) {
    let all = (PM_BASE..PM_BASE + memory.pm_bytes()).step_by(8).map(Addr);
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
            _ = workload.check(memory);
            let image = memory.persistent_half();
            workload.repair(&image);
            workload.start(&image);
        }
        memory.set_word(addr, old);
    }
    workload.check(memory).unwrap();
}

#[test]
fn recovery_and_check_of_a_broken_image_end() {
    for name in APPLICATIONS {
        let (workload, memory) = small(name, &[], &under("undo"));
        breaks(&*workload, &memory);
    }
}
