//! Several threads.

use super::build::{collected, steps, Stream, LOCK, PM};
use crate::{Event, Recording, Turn};
use strandline_capture::{AccessKind, Control, PacketKind};
use AccessKind::{Atomic, Store};

const CLONE: u64 = 56;
const FUTEX: u64 = 202;

/// Turns of a thread as (step, access, writes before).
pub fn turns(recording: &Recording, thread: usize) -> Vec<(usize, u16, u32)> {
    let all = steps(recording, thread, |step| {
        step.map(|e| e.turns.to_vec()).unwrap_or_default()
    });
    let each = |(step, turns): (usize, Vec<Turn>)| turns.into_iter().map(move |turn| (step, turn.access, turn.before));
    all.into_iter().enumerate().flat_map(each).collect()
}

/// Threads 0 and 1; the first starts the second, with tickets 1 and 2.
pub fn two() -> Stream {
    let mut stream = Stream::running();
    stream.trace(
        0,
        &[Control::Syscall.word(CLONE), 1, Control::Returned.word(CLONE), 101, 2],
    );
    stream.words(PacketKind::ThreadStart, 1, &[101, 0, 0xa000]);
    stream
}

#[test]
fn a_lock_is_handed_over_by_a_plain_store() {
    let mut stream = two();
    let (xchg, store) = (stream.plain(&[Atomic]), stream.plain(&[Store]));
    // Thread 0 takes the lock, releases it, and takes it again much later. Thread 1 fails to take it once, then takes
    // it.
    stream.trace(0, &[xchg, LOCK, 0, 1, 3, store, PM, 5, store, LOCK, 0]);
    stream.trace(1, &[xchg, LOCK, 1, 1, 4, xchg, LOCK, 0, 1, 6, store, LOCK, 0]);
    stream.trace(0, &[xchg, LOCK, 0, 1, 9, store, LOCK, 0]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    // xchg 3, xchg 4, store of thread 0, xchg 6, store of thread 1, xchg 9, store.
    // Steps of thread 0: call, signal, xchg, store to PM, store; of thread 1: wait, two xchg, store.
    assert_eq!(turns(&recording, 0), [(2, 0, 0), (4, 0, 2), (5, 0, 5), (6, 0, 6)]);
    assert_eq!(turns(&recording, 1), [(1, 0, 1), (2, 0, 3), (3, 0, 4)]);
}

#[test]
fn a_lock_that_threads_take_within_bytes_of_one_word_is_told_apart_by_bytes() {
    let mut stream = two();
    let byte = |kind| strandline_capture::Access {
        instruction: 0,
        kind,
        size: 1,
    };
    let (xchg, store) = (
        stream.block(&[0x90], 1, &[byte(Atomic)]),
        stream.block(&[0x90], 1, &[byte(Store)]),
    );
    stream.trace(0, &[xchg, LOCK, 0, 1, 3]);
    // Thread 1 takes a lock in the next byte, which thread 0's store does not release.
    stream.trace(1, &[xchg, LOCK + 1, 0, 1, 4]);
    stream.trace(0, &[store, LOCK, 0]);
    stream.trace(1, &[xchg, LOCK, 0, 1, 5]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    assert_eq!(turns(&recording, 0), [(2, 0, 0), (3, 0, 2)]);
    assert_eq!(turns(&recording, 1), [(1, 0, 1), (2, 0, 3)]);
}

#[test]
fn words_that_one_thread_uses_alone_have_no_turns() {
    let mut stream = two();
    let (xchg, store) = (stream.plain(&[Atomic]), stream.plain(&[Store]));
    stream.trace(0, &[xchg, LOCK, 0, 1, 3, store, LOCK, 0]);
    stream.trace(1, &[xchg, LOCK + 8, 0, 1, 4, store, LOCK + 8, 0]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    assert_eq!((turns(&recording, 0), turns(&recording, 1)), (vec![], vec![]));
}

#[test]
fn stores_of_one_thread_keep_their_order_whatever_the_words_say() {
    let mut stream = two();
    let (xchg, store) = (stream.plain(&[Atomic]), stream.plain(&[Store]));
    let other = LOCK + 8;
    stream.trace(
        0,
        &[
            xchg, LOCK, 0, 1, 3, xchg, other, 0, 1, 4, store, LOCK, 7, store, other, 0,
        ],
    );
    // Nothing shows the store of 7 to the lock. The content of the other word shows its store, which came later.
    stream.trace(1, &[xchg, other, 0, 1, 5, xchg, LOCK, 1, 1, 6]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    assert_eq!(turns(&recording, 0), [(2, 0, 0), (3, 0, 0), (4, 0, 1), (5, 0, 1)]);
    assert_eq!(turns(&recording, 1), [(1, 0, 2), (2, 0, 2)]);
}

#[test]
fn a_thread_begins_after_it_was_started_and_is_joined_when_it_ended() {
    let mut stream = two();
    let block = stream.plain(&[Store]);
    stream.trace(1, &[block, PM, 1]);
    // The joining thread waits on the word that the kernel clears, since ticket 3; its trace arrives before the other's
    // end.
    let call = [
        Control::Syscall.word(FUTEX),
        3,
        Control::Futex.word(0),
        0xa000,
        Control::Returned.word(FUTEX),
        0,
        8,
    ];
    stream.trace(0, &call);
    stream.trace(0, &[block, PM, 2]);
    stream.thread_end(1, 5);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let events = |thread| steps(&recording, thread, |step| step.map(|e| e.values[0]));
    let (started, ended) = (0, 1);
    let first = events(0);
    assert_eq!(
        first,
        [
            Err(Event::Syscall(CLONE)),
            Err(Event::Signal { number: started }),
            Err(Event::Syscall(FUTEX)),
            Err(Event::Wait {
                number: ended,
                times: 1
            }),
            Ok(2),
        ]
    );
    let second = [
        Err(Event::Wait {
            number: started,
            times: 1,
        }),
        Ok(1),
        Err(Event::Signal { number: ended }),
    ];
    assert_eq!(events(1), second);
    assert_eq!(recording.threads()[0].steps, 5);
}

#[test]
fn a_thread_that_is_found_to_have_ended_is_joined_without_a_futex() {
    let mut stream = two();
    let (load, store) = (stream.plain(&[AccessKind::Load]), stream.plain(&[Store]));
    stream.trace(1, &[store, PM, 1]);
    stream.thread_end(1, 5);
    stream.trace(0, &[load, 0xa000, store, PM, 2, load, 0xa000]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let waits = steps(&recording, 0, |step| {
        matches!(step, Err(Event::Wait { number: 1, times: 1 }))
    });
    assert_eq!(
        waits,
        [false, false, false, true, false, false],
        "call, signal, load, wait, store, load"
    );
}

#[test]
fn a_thread_that_ended_after_the_next_ticket_was_not_joined() {
    let mut stream = two();
    let (load, xchg) = (stream.plain(&[AccessKind::Load]), stream.plain(&[Atomic]));
    stream.trace(1, &[xchg, LOCK, 1, 2, 4]);
    stream.thread_end(1, 5);
    // Thread 1 found what thread 0 left after its own read: waiting at that read would deadlock.
    stream.trace(0, &[load, 0xa000, xchg, LOCK, 0, 1, 3]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    assert!(steps(&recording, 0, |step| !matches!(step, Err(Event::Wait { .. })))
        .into_iter()
        .all(|other| other));
}

#[test]
fn a_futex_waits_only_for_wakes_before_it_returned() {
    let mut stream = two();
    let wake = |ticket| {
        [
            Control::Syscall.word(FUTEX),
            ticket,
            Control::Futex.word(1),
            LOCK,
            Control::Returned.word(FUTEX),
            1,
            ticket + 1,
        ]
    };
    let wait = |from, result, to| {
        [
            Control::Syscall.word(FUTEX),
            from,
            Control::Futex.word(0),
            LOCK,
            Control::Returned.word(FUTEX),
            result,
            to,
        ]
    };
    stream.trace(1, &wait(3, 0, 7)); // Woken by the first.
    stream.trace(1, &wait(8, -110i64 as u64, 9)); // Timed out.
    stream.trace(1, &wait(20, 0, 30)); // Woken by the second.
    stream.trace(0, &wake(5));
    stream.trace(0, &wake(21));
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    let waits = steps(&recording, 1, |step| step.err()).into_iter().flatten();
    let waits: Vec<u32> = waits
        .filter_map(|event| match event {
            Event::Wait { number: 1, times } => Some(times),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [1, 2]);
}

#[test]
fn nobody_waits_for_a_start_that_was_never_told() {
    let mut stream = Stream::running();
    stream.words(PacketKind::ThreadStart, 1, &[101, 0, 0xa000]);
    let block = stream.plain(&[]);
    stream.trace(1, &[block]);
    let (recording, _) = collected(&stream.bytes).expect("what came is good");
    assert_eq!(steps(&recording, 1, |step| step.is_ok()), [true]);
}
