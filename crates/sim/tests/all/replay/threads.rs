//! Threads that wait for each other.

use super::tape::{access, Atomic, Clwb, Load, Store, Tape, Update, DRAM, PM};
use super::{spec, under};
use crate::common::without_host;
use iced_x86::code_asm::{byte_ptr, qword_ptr, rax, rbx, rdi, rdx, rsi};
use std::path::{Path, PathBuf};
use strandline_record::{Event, FenceClass};
use strandline_sim::{observe, run, Record};

const LOCK: u64 = DRAM;
/// A word that threads use without the lock.
const SHARED: u64 = DRAM + 4096;

/// Two threads take turns with a lock in the recorded order: the second one first, then twice the first, and so on.
/// Each writes the same persistent counter.
fn handed_over(name: &str) -> PathBuf {
    let mut tape = Tape::new();
    hand_over(&mut tape);
    tape.save(name)
}

/// The sections of [`handed_over`]. Behind its fence each loads a word that another thread may write.
fn hand_over(tape: &mut Tape) {
    let accesses = [
        access(0, Atomic, 8),
        access(1, Update, 8),
        access(2, Clwb, 64),
        access(4, Load, 8),
        access(5, Store, 8),
    ];
    let section = tape.block(0x40_0000, &accesses, |a| {
        a.xchg(qword_ptr(rsi), rax)?;
        a.add(qword_ptr(rdi), 1)?;
        a.clwb(byte_ptr(rdi))?;
        a.sfence()?;
        a.mov(rbx, qword_ptr(rdx))?;
        a.mov(qword_ptr(rsi), rax)
    });
    for (section_number, thread) in [1, 0, 0, 1, 0, 1, 1, 1, 0].into_iter().enumerate() {
        let number = section_number as u64;
        // Each earlier section has two writes of the lock.
        let turns = [(0, 2 * number as u32), (4, 2 * number as u32 + 1)];
        tape.run_in_turn(
            thread,
            section,
            &[LOCK, PM, PM, SHARED, LOCK],
            &[1, number * 10 + u64::from(thread), 0],
            &turns,
        );
    }
}

/// Sections that hand a lock over, and a thread that writes what they load behind their fences.
fn handed_over_and_disturbed(name: &str) -> PathBuf {
    let mut tape = Tape::new();
    hand_over(&mut tape);
    // Of the nine sections.
    tape.fences(0, &[FenceClass::Durable; 4]);
    tape.fences(1, &[FenceClass::Durable; 5]);
    let accesses = [access(0, Load, 8), access(1, Store, 8)];
    let disturbs = tape.block(0x40_1000, &accesses, |a| {
        a.mov(rax, qword_ptr(rax))?;
        a.mov(qword_ptr(rdx), rax)
    });
    // A chain of misses paces it.
    (0..100).for_each(|i| tape.run(2, disturbs, &[DRAM + 8192 + 64 * i, SHARED], &[i]));
    tape.save(name)
}

/// The successive values of the persistent counter.
fn contents(path: &Path) -> Vec<u64> {
    let seen = observe(&spec("x86", path)).unwrap_or_else(|error| panic!("{error}"));
    seen.journal.durable.iter().map(|event| event.data[0]).collect()
}

#[test]
fn a_lock_is_handed_over_as_it_was_recorded() {
    let path = handed_over("lock");
    assert_eq!(contents(&path), [1, 10, 20, 31, 40, 51, 61, 71, 80]);
}

#[test]
fn two_replays_are_the_same() {
    let path = handed_over("twice");
    let once = without_host(&under("x86", &path));
    assert_eq!(once, without_host(&under("x86", &path)));
    assert_eq!(contents(&path), contents(&path));
}

#[test]
fn who_waits_for_a_turn_is_charged_no_instructions() {
    let waits = |name: &str, rounds: u64| {
        let mut tape = Tape::new();
        let work = tape.block(0x40_0000, &[access(0, Load, 8)], |a| a.mov(rax, qword_ptr(rax)));
        let give = tape.block(0x40_1000, &[access(0, Store, 8)], |a| a.mov(qword_ptr(rdi), rax));
        let take = tape.block(0x40_2000, &[access(0, Atomic, 8)], |a| a.xchg(qword_ptr(rdi), rax));
        (0..rounds).for_each(|i| tape.run(0, work, &[DRAM + 4096 + 64 * i], &[]));
        tape.run_in_turn(0, give, &[LOCK], &[0], &[(0, 0)]);
        tape.run_in_turn(1, take, &[LOCK], &[0], &[(0, 1)]);
        under("x86", &tape.save(name))
    };
    let (short, long) = (waits("short", 1), waits("long", 500));
    assert!(
        long.stats.cycles.0 > 3 * short.stats.cycles.0,
        "{} against {}",
        long.stats.cycles.0,
        short.stats.cycles.0
    );
    assert_eq!(
        long.stats.instructions - short.stats.instructions,
        499,
        "only the first thread's work"
    );
}

#[test]
fn a_thread_that_was_started_begins_after_its_start() {
    let mut tape = Tape::new();
    let store = tape.block(0x40_0000, &[access(0, Store, 8), access(1, Clwb, 64)], |a| {
        a.mov(qword_ptr(rdi), rax)?;
        a.clwb(byte_ptr(rdi))?;
        a.sfence()
    });
    tape.event(1, Event::Wait { number: 7, times: 1 });
    tape.run(1, store, &[PM, PM], &[2]);
    tape.event(1, Event::Signal { number: 9 });
    tape.run(0, store, &[PM, PM], &[1]);
    tape.event(0, Event::Signal { number: 7 });
    tape.event(0, Event::Wait { number: 9, times: 1 });
    tape.run(0, store, &[PM, PM], &[3]);
    assert_eq!(contents(&tape.save("start")), [1, 2, 3]);
}

#[test]
fn a_recording_whose_turns_never_come_says_who_waits() {
    let mut tape = Tape::new();
    let take = tape.block(0x40_0000, &[access(0, Atomic, 8)], |a| a.xchg(qword_ptr(rdi), rax));
    tape.run_in_turn(0, take, &[LOCK], &[0], &[(0, 5)]);
    tape.run(1, take, &[DRAM + 64], &[0]);
    let error = run(&spec("x86", &tape.save("never"))).expect_err("nobody writes it five times");
    assert!(
        error
            .to_string()
            .contains("thread 0 waits in block 0 (0x400000) for its turn, which never happens"),
        "{error}"
    );
}

/// Sections are rolled back when another thread writes what they have loaded behind their fences: the order stays as
/// recorded, and what is executed again is counted once.
#[test]
fn a_lock_is_handed_over_as_it_was_recorded_whatever_is_rolled_back() {
    let path = handed_over_and_disturbed("speculation");
    let counts = |record: &Record| {
        let counted = record.params.iter().filter(|(key, _)| key.starts_with("recording_f"));
        counted
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    for (design, without) in [("sp", "x86-pcommit"), ("sp-adr", "x86")] {
        let observed = |design: &str| observe(&spec(design, &path)).unwrap_or_else(|error| panic!("{error}"));
        let seen = observed(design);
        let mut left: Vec<u64> = seen.journal.durable.iter().map(|event| event.data[0]).collect();
        left.dedup();
        assert_eq!(left, [1, 10, 20, 31, 40, 51, 61, 71, 80], "{design}");
        assert!(
            seen.record.stats.design.rollbacks > Some(0),
            "{design}: nothing is rolled back"
        );
        assert_eq!(counts(&seen.record), counts(&observed(without).record), "{design}");
    }
}
