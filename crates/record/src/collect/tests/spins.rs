//! Loops in which a thread waits for another.

use super::build::{collected, steps, Stream, LOCK, PM};
use super::together::{turns, two};
use crate::Recording;
use strandline_capture::{AccessKind, Control};
use AccessKind::{Atomic, Load, LoadSeen, Store};

/// The word of a ticket lock that a plain store hands on.
const SERVING: u64 = 0x6000;
const YIELD: u64 = 24;

/// Blocks that a thread executed, one after the other; other steps are none.
fn blocks(recording: &Recording, thread: usize) -> Vec<Option<u32>> {
    steps(recording, thread, |step| step.ok().map(|executed| executed.block))
}

/// A lap of a loop that reads the word: what it reads, and the ticket.
fn lap(block: u64, reads: u64, ticket: u64) -> [u64; 4] {
    [block, SERVING, reads, ticket]
}

/// A ticket lock of two threads: the first hands it on while the second waits, which waits so often.
fn handed_on(laps: u64, is_seen_first: bool) -> (Recording, u64) {
    let mut stream = two();
    let (add, wait, store) = (
        stream.plain(&[Atomic]),
        stream.plain(&[LoadSeen]),
        stream.plain(&[Store]),
    );
    let first = [
        add, LOCK, 0, 1, 3, store, PM, 5, store, SERVING, 1, add, LOCK, 2, 3, 900,
    ];
    let mut second = vec![add, LOCK, 1, 2, 4];
    second.extend((0..laps).flat_map(|number| lap(wait, 0, 5 + number)));
    second.extend(lap(wait, 1, 5 + laps));
    second.extend([store, PM, 6, store, SERVING, 2]);
    match is_seen_first {
        true => {
            stream.trace(1, &second);
            stream.trace(0, &first);
        }
        false => {
            stream.trace(0, &first);
            stream.trace(1, &second);
        }
    }
    let (recording, collected) = collected(&stream.end(0)).expect("a good stream");
    (recording, collected.waiting)
}

#[test]
fn a_wait_is_one_read_behind_the_write_that_ends_it() {
    for is_seen_first in [true, false] {
        for laps in [2, 3, 700] {
            let (recording, waiting) = handed_on(laps, is_seen_first);
            let name = format!("{laps} laps, {is_seen_first}");
            assert_eq!(waiting, laps, "{name}: a lap is one instruction");
            // Steps: a wait for the thread's start, add, the read, two stores.
            assert_eq!(
                blocks(&recording, 1),
                [None, Some(0), Some(1), Some(2), Some(2)],
                "{name}"
            );
            assert_eq!(turns(&recording, 1), [(1, 0, 1), (2, 0, 1), (4, 0, 1)], "{name}");
            // Steps: call, signal, add, store, the store that hands it on, add.
            assert_eq!(turns(&recording, 0), [(2, 0, 0), (4, 0, 0), (5, 0, 2)], "{name}");
        }
    }
}

#[test]
fn a_lap_that_is_made_once_is_recorded() {
    let (recording, waiting) = handed_on(1, true);
    assert_eq!(waiting, 0);
    let expected = [None, Some(0), Some(1), Some(1), Some(2), Some(2)];
    assert_eq!(blocks(&recording, 1), expected);
    let expected = [(1, 0, 1), (2, 0, 0), (3, 0, 1), (5, 0, 1)];
    assert_eq!(
        turns(&recording, 1),
        expected,
        "another thread has written what it looks for"
    );
}

/// Threads of which the second executes these words.
fn second(words: impl FnOnce(&mut Stream) -> Vec<u64>) -> Recording {
    let mut stream = two();
    let words = words(&mut stream);
    stream.trace(1, &words);
    collected(&stream.end(0)).expect("a good stream").0
}

#[test]
fn a_loop_that_ends_by_itself_is_recorded_lap_by_lap() {
    let recording = second(|stream| {
        let (wait, pause, store) = (
            stream.plain(&[LoadSeen, Atomic]),
            stream.plain(&[]),
            stream.plain(&[Store]),
        );
        let lap = |number: u64| [wait, SERVING, 0, 2 * number + 5, LOCK, 1, 1, 2 * number + 6];
        let mut words: Vec<u64> = (0..5)
            .flat_map(|number| [&lap(number)[..], &[pause, pause]].concat())
            .collect();
        words.extend(lap(5));
        words.extend([pause, store, PM, 1]);
        words
    });
    let mut expected = vec![None];
    for _ in 0..5 {
        expected.extend([Some(0), Some(1), Some(1)]);
    }
    expected.extend([Some(0), Some(1), Some(2)]);
    assert_eq!(blocks(&recording, 1), expected);
}

#[test]
fn a_lap_may_pause_yield_and_have_several_blocks() {
    let recording = second(|stream| {
        let (wait, pause) = (stream.plain(&[LoadSeen, Load]), stream.plain(&[]));
        let mut words = vec![pause];
        for number in 0..6 {
            let value = u64::from(number == 5);
            words.extend([wait, SERVING, value, 10 * number + 5, 0x7000]);
            if value == 0 {
                words.extend([pause, pause, pause, Control::Syscall.word(YIELD), 10 * number + 6]);
                words.extend([Control::Returned.word(YIELD), 0, 10 * number + 7]);
            }
        }
        words.push(pause);
        words
    });
    assert_eq!(blocks(&recording, 1), [None, Some(1), Some(0), Some(1)]);
}

#[test]
fn a_wait_is_left_out_from_its_first_lap_on() {
    let recording = second(|stream| {
        let (wait, pause, store) = (stream.plain(&[LoadSeen]), stream.plain(&[]), stream.plain(&[Store]));
        let mut words: Vec<u64> = (5..9)
            .flat_map(|ticket| [&lap(wait, 0, ticket)[..], &[pause]].concat())
            .collect();
        words.extend(lap(wait, 1, 9));
        words.extend([store, PM, 1]);
        words
    });
    assert_eq!(blocks(&recording, 1), [None, Some(0), Some(2)]);
}

#[test]
fn a_locked_instruction_that_fails_is_a_lap_until_it_does_not() {
    let recording = second(|stream| {
        let (xchg, store) = (stream.plain(&[Atomic]), stream.plain(&[Store]));
        let mut words = Vec::new();
        for ticket in 3..9 {
            words.extend([xchg, LOCK, 1, 1, ticket]);
        }
        words.extend([xchg, LOCK, 0, 1, 9, store, LOCK, 0]);
        words
    });
    assert_eq!(blocks(&recording, 1), [None, Some(0), Some(1)]);
}

#[test]
fn what_others_may_see_is_no_lap() {
    // A store that is not to the stack, and a locked instruction that changes memory.
    let recording = second(|stream| {
        let (wait, store) = (stream.plain(&[LoadSeen]), stream.plain(&[Store]));
        let lap = |ticket| [&lap(wait, u64::from(ticket == 9), ticket)[..], &[store, 0x7000, 1]].concat();
        (5..10).flat_map(lap).collect()
    });
    assert_eq!(blocks(&recording, 1).len(), 1 + 2 * 5);
    let recording = second(|stream| {
        let add = stream.plain(&[Atomic]);
        (5..10).flat_map(|ticket| [add, LOCK, 7, 8, ticket]).collect()
    });
    assert_eq!(blocks(&recording, 1).len(), 1 + 5);
}

#[test]
fn a_wait_for_several_writes_has_a_read_for_each() {
    let recording = second(|stream| {
        let wait = stream.plain(&[LoadSeen]);
        (0..12).flat_map(|number| lap(wait, number / 4, 5 + number)).collect()
    });
    // The last wait has no end: one lap of it is there.
    assert_eq!(blocks(&recording, 1), [None, Some(0), Some(0), Some(0)]);
}

#[test]
fn a_lap_that_is_cut_short_is_recorded() {
    let recording = second(|stream| {
        let wait = stream.plain(&[LoadSeen, Load]);
        let mut words: Vec<u64> = (5..9).flat_map(|ticket| [wait, SERVING, 0, ticket, 0x7000]).collect();
        words.extend([wait, SERVING, 0, 9, Control::Cut.word(1)]);
        words
    });
    assert_eq!(
        blocks(&recording, 1),
        [None, Some(0), Some(0), Some(0), Some(0), Some(0)]
    );
}

/// The blocks of a thread whose loop stores what it has read, at an address by the register of this instruction.
fn storing(store: &[u8], address: u64, values: [u64; 4]) -> usize {
    let recording = second(|stream| {
        let accesses = [
            strandline_capture::Access {
                instruction: 0,
                kind: LoadSeen,
                size: 8,
            },
            strandline_capture::Access {
                instruction: 1,
                kind: Store,
                size: 8,
            },
        ];
        let wait = stream.block(&[&[0x90], store].concat(), 2, &accesses);
        let laps = values.into_iter().zip(5..);
        let lap = |(value, ticket)| [wait, SERVING, u64::from(ticket == 8), ticket, address, value];
        laps.flat_map(lap).collect()
    });
    blocks(&recording, 1).len() - 1
}

#[test]
fn a_lap_may_store_the_same_to_the_stack() {
    // `mov [rsp + 8], rax`, `mov [rbp + 8], rax`, `mov [rdi + 8], rax`.
    let (of_stack, of_frame, elsewhere) = (
        &[0x48, 0x89, 0x44, 0x24, 0x08],
        &[0x48, 0x89, 0x45, 0x08],
        &[0x48, 0x89, 0x47, 0x08],
    );
    let stack = 0x7fff_0000;
    assert_eq!(storing(of_stack, stack, [3, 3, 3, 4]), 1, "what is read may be stored");
    assert_eq!(storing(of_frame, stack, [3, 3, 3, 4]), 1);
    assert_eq!(storing(of_stack, stack, [3, 4, 5, 6]), 4, "another value each time");
    assert_eq!(storing(elsewhere, stack, [3, 3, 3, 4]), 4, "another register");
    assert_eq!(
        storing(of_frame, PM, [3, 3, 3, 4]),
        4,
        "the frame pointer may be any pointer"
    );
}
