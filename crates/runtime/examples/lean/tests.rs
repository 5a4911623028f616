//! The library runs every task once in any window, with the instruction counts of docs/coroutines.md.

use crate::count::{passages, Counts, Passage, Whose};
use crate::library::{run, Resume};
use crate::pc::{marks, start, Frame, Pc, WindowSlot};
use iced_x86::Register;
use std::collections::BTreeSet;

const TASKS: usize = 1000;

fn contents_after(window: usize, tasks: usize) -> Vec<(u32, u32)> {
    let pc = Pc::new();
    let slots = pc.window(window);
    let frames: Vec<Frame<'_>> = slots.iter().map(WindowSlot::frame).collect();
    run(Resume(start), &frames, tasks as u64);
    assert!(pc.is_done(tasks, &slots), "{tasks} tasks in a window of {window}");
    pc.contents()
}

#[test]
fn every_task_runs_once_in_any_window_and_leaves_the_same_table() {
    let alone = contents_after(1, TASKS);
    assert!(alone.iter().all(|row| *row != (0, 0)), "every row was written");
    for window in [2, 3, 4, 7, 64] {
        assert_eq!(contents_after(window, TASKS), alone, "a window of {window}");
    }
}

#[test]
fn a_window_larger_than_the_tasks_runs_them_all() {
    for tasks in [0, 1, 5] {
        assert_eq!(contents_after(8, tasks), contents_after(1, tasks));
    }
}

fn ways() -> Vec<(Passage, u32)> {
    passages(4, 200).expect("a process of ours can be stepped")
}

/// The library's and the task's instructions in each kind of switch.
fn counts_of(ways: &[(Passage, u32)], from: u8, whose: Whose) -> Vec<Counts> {
    let these = ways.iter().filter(|(passage, _)| passage.from == from);
    these.map(|(passage, _)| passage.counts(whose)).collect()
}

/// Compilers differ: a fifth more or less, and at least one instruction.
fn assert_near(found: &[Counts], expected: Counts, what: &str) {
    assert!(!found.is_empty(), "{what} did not occur");
    for counts in found {
        let pairs = counts.numbers().into_iter().zip(expected.numbers());
        let is_near = pairs
            .clone()
            .all(|(got, wanted)| got.abs_diff(wanted) <= (wanted / 5).max(1));
        assert!(is_near, "{what}: {counts:?} instead of {expected:?}");
    }
}

/// Resume point set, return, its check (2), resume point stored, frame advanced (3), passed, called.
const SWITCH: Counts = Counts {
    instructions: 10,
    loads: 2,
    stores: 2,
    arithmetic: 6,
    branches: 1,
    direct: 0,
    indirect: 2,
};

/// No resume point, return, its check (2).
const END: Counts = Counts {
    instructions: 4,
    loads: 1,
    stores: 0,
    arithmetic: 2,
    branches: 1,
    direct: 0,
    indirect: 1,
};

/// Whether tasks are left (2), decrement, frame passed, call.
const START: Counts = Counts {
    instructions: 5,
    loads: 0,
    stores: 1,
    arithmetic: 3,
    branches: 1,
    direct: 0,
    indirect: 1,
};

#[test]
fn the_library_executes_what_the_documentation_says() {
    let ways = ways();
    for (number, segment) in ["lock wait", "logging", "update"].into_iter().enumerate() {
        assert_near(
            &counts_of(&ways, marks::YIELD + number as u8, Whose::Switch),
            SWITCH,
            segment,
        );
    }
    assert_near(&counts_of(&ways, marks::END, Whose::End), END, "end");
    assert_near(&counts_of(&ways, marks::END, Whose::Start), START, "start");
}

/// Compilers cannot change these: each live value is stored once, and loaded by the segment that uses it.
#[test]
fn a_task_saves_its_six_live_values_once_and_reloads_those_that_a_segment_uses() {
    let ways = ways();
    let saved = |from| {
        counts_of(&ways, from, Whose::Save)
            .into_iter()
            .map(|c| (c.instructions, c.stores))
    };
    assert!(saved(marks::YIELD + 1).all(|counts| counts == (6, 6)));
    assert!(saved(marks::YIELD + 2).all(|counts| counts == (0, 0)));
    for (to, loads) in [(marks::RESUMED + 1, 3), (marks::RESUMED + 2, 3)] {
        let arrivals = ways.iter().filter(|(passage, _)| passage.to == to);
        let reloads: Vec<Counts> = arrivals.map(|(passage, _)| passage.counts(Whose::Reload)).collect();
        assert!(reloads.len() > 1, "{to:#x}");
        assert!(
            reloads.iter().all(|c| (c.instructions, c.loads) == (loads, loads)),
            "{to:#x}: {reloads:?}"
        );
    }
}

/// All instructions on which the one at `position` depends, transitively.
fn chain(passage: &Passage, position: usize) -> BTreeSet<usize> {
    let needs = &passage.passed[position].needs;
    let further = needs.iter().flat_map(|need| chain(passage, *need));
    needs.iter().copied().chain(further).collect()
}

/// The critical path of a switch: the frame's address is computed, not loaded, and the reloads need nothing else.
#[test]
fn reloads_wait_for_the_frames_address_and_not_for_the_resume_point() {
    let mut reloads = 0;
    for (passage, _) in ways().iter().filter(|(passage, _)| passage.from & marks::YIELD != 0) {
        for position in 0..passage.passed.len() {
            if passage.passed[position].whose == Whose::Reload {
                let chain = chain(passage, position);
                let is_computed = |before: &usize| {
                    let instruction = &passage.passed[*before].instruction;
                    // A constant of the loop may be spilled.
                    Counts::of([instruction]).arithmetic == 1 || instruction.memory_base() == Register::RSP
                };
                assert!(
                    !chain.is_empty() && chain.iter().all(is_computed),
                    "{position} needs {chain:?}"
                );
                reloads += 1;
            }
        }
    }
    assert!(reloads > 0);
}
