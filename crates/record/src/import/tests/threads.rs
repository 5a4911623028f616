//! Several threads.

use super::trace::{import_threads, marker, steps, Did, Trace, FILE_TYPE, PM};
use crate::recording::{Event, FenceClass, Turn};
use crate::Recording;

/// `xchg [rdi], rax`
const XCHG: [u8; 3] = [0x48, 0x87, 0x07];
/// `mov [rdi], rax`
const STORE: [u8; 3] = [0x48, 0x89, 0x07];

fn turns(recording: &Recording, thread: usize) -> Vec<Turn> {
    let blocks = steps(recording, thread).into_iter().filter_map(|did| match did {
        Did::Block { turns, .. } => Some(turns),
        Did::Event(_) => None,
    });
    blocks.flatten().collect()
}

fn before(recording: &Recording, thread: usize) -> Vec<u32> {
    turns(recording, thread).iter().map(|turn| turn.before).collect()
}

/// Takes a lock by an exchange and gives it back by a store.
fn locks(trace: &mut Trace, lock: u64) {
    trace.plain(&XCHG).read(8, lock).write(8, lock);
    trace.plain(&STORE).write(8, lock);
}

#[test]
fn a_lock_handed_over_keeps_the_order_of_the_timestamps() {
    let mut first = Trace::new(5, 100);
    locks(&mut first, 0x5000);
    first.mark(marker::TIMESTAMP, 200);
    let mut second = Trace::new(6, 150);
    second.mark(marker::TIMESTAMP, 300);
    locks(&mut second, 0x5000);
    second.mark(marker::TIMESTAMP, 400);
    let (imported, recording) = import_threads(&[second.end(), first.end()]);
    assert_eq!(imported.threads, 2);
    assert_eq!((before(&recording, 0), before(&recording, 1)), (vec![0, 1], vec![2, 3]));
    assert!(imported
        .warnings
        .iter()
        .any(|line| line.contains("estimated from timestamps")));
}

#[test]
fn accesses_between_two_timestamps_are_spread_evenly() {
    let half = |thread, time, span: u64| {
        let mut trace = Trace::new(thread, time);
        for _ in 0..2 {
            trace.plain(&[0x90]);
            trace.plain(&XCHG).read(8, 0x5000).write(8, 0x5000);
            trace.plain(&[0x90]).plain(&[0x90]);
        }
        trace.mark(marker::TIMESTAMP, time + span);
        trace.end()
    };
    // Eight instructions: the exchanges begin after one and after five of them: 108 and 140; 117 and 165.
    let (_, recording) = import_threads(&[half(5, 100, 64), half(6, 105, 96)]);
    assert_eq!((before(&recording, 0), before(&recording, 1)), (vec![0, 2], vec![1, 3]));
}

#[test]
fn words_of_one_thread_have_no_turns() {
    let mut first = Trace::new(5, 100);
    locks(&mut first, 0x5000);
    let mut second = Trace::new(6, 150);
    locks(&mut second, 0x5008);
    let (_, recording) = import_threads(&[first.end(), second.end()]);
    assert_eq!((before(&recording, 0), before(&recording, 1)), (vec![], vec![]));
}

#[test]
fn without_timestamps_no_order_is_kept_and_it_is_said() {
    let thread = |number| {
        let mut trace = Trace::of(number, 6, FILE_TYPE);
        locks(&mut trace, 0x5000);
        trace.end()
    };
    let (imported, recording) = import_threads(&[thread(5), thread(6)]);
    assert_eq!((before(&recording, 0), before(&recording, 1)), (vec![], vec![]));
    assert!(
        imported.warnings.iter().any(|line| line.contains("is not kept")),
        "{:?}",
        imported.warnings
    );
}

#[test]
fn a_thread_waits_for_the_system_call_that_started_it() {
    let mut parent = Trace::new(5, 100);
    for (time, number) in [(110, 435), (120, 56)] {
        parent
            .plain(&[0x0f, 0x05])
            .mark(marker::TIMESTAMP, time)
            .mark(marker::SYSCALL, number);
    }
    parent.plain(&[0x90]);
    let mut child = Trace::new(6, 125);
    child.plain(&[0x90]);
    let (_, recording) = import_threads(&[child.end(), parent.end()]);
    let events = |thread| {
        let events = steps(&recording, thread).into_iter().enumerate();
        events.filter_map(|(step, did)| match did {
            Did::Event(event) => Some((step, event)),
            Did::Block { .. } => None,
        })
    };
    let signals: Vec<(usize, Event)> = events(0).collect();
    assert_eq!(
        signals,
        [
            (1, Event::Syscall(435)),
            (2, Event::Signal { number: 0 }),
            (4, Event::Syscall(56)),
            (5, Event::Signal { number: 1 }),
        ]
    );
    // The first of the two had failed: it is the last one before the child began.
    let waits: Vec<(usize, Event)> = events(1).collect();
    assert_eq!(waits, [(0, Event::Wait { number: 1, times: 1 })]);
}

#[test]
fn the_last_fence_before_a_lock_is_released_is_durable() {
    let mut trace = Trace::new(5, 100);
    let persists = |trace: &mut Trace| {
        trace
            .plain(&[0x66, 0x0f, 0xae, 0x37])
            .read(1, PM)
            .plain(&[0x0f, 0xae, 0xf8]);
    };
    trace.plain(&XCHG).read(8, 0x5000).write(8, 0x5000);
    persists(&mut trace);
    persists(&mut trace);
    trace.plain(&STORE).write(8, 0x5000);
    persists(&mut trace);
    persists(&mut trace);
    let (_, recording) = import_threads(&[trace.end()]);
    let Did::Block { fences, .. } = steps(&recording, 0).remove(0) else {
        panic!("a block was executed")
    };
    use FenceClass::{Durable, Order};
    assert_eq!(fences, [Order, Durable, Order, Durable]);
}

#[test]
fn a_thread_that_executed_nothing_is_no_trouble() {
    let mut first = Trace::new(5, 100);
    first.plain(&[0x90]);
    let mut last = Trace::new(6, 150);
    let (imported, _) = import_threads(&[first.end(), last.end()]);
    assert_eq!(imported.totals.instructions, 1);
}
