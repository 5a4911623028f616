//! The order of accesses to persistent memory that threads share.

use super::build::{collected, steps, Stream, PM};
use super::together::{turns, two};
use crate::order::{Detail, Entry, Interleaved, Places, Reordered};
use crate::{LinkEvent, Recording};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use strandline_capture::{Access, AccessKind, LINE_BYTES, NOBODY};
use AccessKind::{Load, LoadSeen, Store, Update};

/// The links of a thread, with their steps and accesses.
fn links(recording: &Recording, thread: usize) -> Vec<(usize, u16, LinkEvent)> {
    let all = steps(recording, thread, |step| {
        step.map(|executed| executed.links.to_vec()).unwrap_or_default()
    });
    let each = all.into_iter().enumerate();
    each.flat_map(|(step, links)| links.into_iter().map(move |link| (step, link.access, link.event)))
        .collect()
}

/// The first number of links behind that of the signal of the second thread's start.
fn signal(thread: u32) -> LinkEvent {
    LinkEvent::Signal { number: 1 + thread }
}

fn wait(thread: u32, times: u32) -> LinkEvent {
    LinkEvent::Wait {
        number: 1 + thread,
        times,
    }
}

#[test]
fn a_load_is_behind_the_store_that_it_read_and_before_the_next_one() {
    let mut stream = two();
    let (load, store) = (stream.plain(&[Load]), stream.plain(&[Store]));
    // The writer alone, then the reader, then the writer again.
    stream.passed(0, &[(1, 0), (4, 7)]);
    stream.trace(0, &[store, PM, 1, store, PM, 2]);
    stream.passed(1, &[(1, 6)]);
    stream.trace(1, &[load, PM]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    // Steps: call, signal, two stores; wait, load.
    assert_eq!(links(&recording, 0), [(2, 0, signal(0)), (3, 0, wait(1, 1))]);
    assert_eq!(links(&recording, 1), [(1, 0, wait(0, 1)), (1, 0, signal(1))]);
    assert!(turns(&recording, 1).is_empty());
}

#[test]
fn an_order_that_is_not_sure_is_told_where_another_thread_stores() {
    let warnings = |first: u64| {
        let mut stream = two();
        let (load, store) = (stream.plain(&[Load]), stream.plain(&[Store]));
        stream.passed(0, &[(1, first)]);
        stream.trace(0, &[store, PM, 1]);
        stream.passed_as(1, &[(1, 6), (3, 7)], false);
        stream.trace(1, &[load, PM, load, PM + LINE_BYTES]);
        collected(&stream.end(0)).expect("a good stream").0.warnings().to_vec()
    };
    for owned in [0, 5] {
        let told = warnings(owned);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("the order of 1 access "),
            "not the load of a word that nobody stores to: {told:?}"
        );
    }
}

#[test]
fn what_a_lock_or_another_link_orders_has_no_link() {
    let mut stream = two();
    let (xchg, load, store) = (
        stream.plain(&[AccessKind::Atomic]),
        stream.plain(&[Load]),
        stream.plain(&[Store]),
    );
    let lock = super::build::LOCK;
    stream.passed(0, &[(6, 4), (9, 5)]);
    stream.trace(
        0,
        &[xchg, lock, 0, 1, 3, store, PM, 1, store, PM + 8, 2, store, lock, 0],
    );
    stream.passed(1, &[(6, 8), (8, 9)]);
    stream.trace(1, &[xchg, lock, 0, 1, 7, load, PM, load, PM + 8]);
    let (recording, _) = collected(&stream.clone().end(0)).expect("a good stream");
    assert_eq!((links(&recording, 0), links(&recording, 1)), (vec![], vec![]));
    // Without the lock the first load is behind the later store, and so is the second.
    let mut stream = two();
    let (load, store) = (stream.plain(&[Load]), stream.plain(&[Store]));
    stream.passed(0, &[(1, 4), (4, 5)]);
    stream.trace(0, &[store, PM, 1, store, PM + 8, 2]);
    stream.passed(1, &[(1, 8), (3, 9)]);
    stream.trace(1, &[load, PM + 8, load, PM]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    assert_eq!(links(&recording, 0), [(3, 0, signal(0))]);
    assert_eq!(links(&recording, 1), [(1, 0, wait(0, 1))]);
}

#[test]
fn a_wait_for_shared_persistent_memory_is_one_read_behind_the_store() {
    let mut stream = two();
    let (watch, store) = (stream.plain(&[LoadSeen]), stream.plain(&[Store]));
    let laps = 20;
    let mut words: Vec<u64> = (0..laps).flat_map(|number| [watch, PM, 0, 10 + number]).collect();
    words.extend([watch, PM, 1, 50, store, PM + 64, 1]);
    let mut passed: Vec<(usize, u64)> = (0..laps as usize).map(|number| (4 * number + 1, 0)).collect();
    passed.extend([(4 * laps as usize + 1, 51), (4 * laps as usize + 5, 0)]);
    stream.passed(1, &passed);
    stream.trace(1, &words);
    stream.passed(0, &[(1, 40)]);
    stream.trace(0, &[store, PM, 1]);
    let (recording, collected) = collected(&stream.end(0)).expect("a good stream");
    assert_eq!(collected.waiting, laps, "all laps but the last");
    // Steps: wait for the start, the read, the store.
    assert_eq!(links(&recording, 1), [(1, 0, wait(0, 1))]);
    assert_eq!(links(&recording, 0), [(2, 0, signal(0))]);
}

#[test]
fn laps_that_were_no_wait_keep_the_first_and_the_last_place() {
    let mut stream = two();
    let (watch, other, store) = (
        stream.plain(&[LoadSeen]),
        stream.plain(&[Store]),
        stream.plain(&[Store]),
    );
    // Of five laps the last reads at ticket 29; another thread stores behind that.
    let laps: Vec<u64> = (0..5).flat_map(|number| lap_at(watch, 10 + 4 * number)).collect();
    stream.passed(
        1,
        &(0..5)
            .map(|number| (4 * number as usize + 1, 11 + 4 * number))
            .collect::<Vec<_>>(),
    );
    stream.trace(1, &[&laps[..], &[other, 0x9100, 0]].concat());
    stream.passed(0, &[(1, 28), (4, 30)]);
    stream.trace(0, &[store, PM + 8, 1, store, PM, 1]);
    let (recording, _) = collected(&stream.end(0)).expect("a good stream");
    assert_eq!(links(&recording, 1), [(5, 0, signal(1))], "the fifth lap");
    assert_eq!(links(&recording, 0), [(3, 0, wait(1, 1))]);
}

fn lap_at(block: u64, ticket: u64) -> [u64; 4] {
    [block, PM, 0, ticket]
}

/// An access of a program: thread, kind, offset, bytes.
type Does = (u32, AccessKind, u64, u16);

fn does() -> impl Strategy<Value = Vec<Does>> {
    let kind = prop_oneof![Just(Load), Just(Store), Just(Update)];
    let size = prop_oneof![Just(8u16), Just(1), Just(4), Just(16), Just(64)];
    proptest::collection::vec((0..3u32, kind, 0..150u64, size), 1..60)
}

/// The threads of a program whose accesses came in this order, as the recorder tells of them. It may write buffers at any time.
fn told(program: &[Does], is_gated: bool, cuts: &[bool]) -> Vec<u8> {
    let mut stream = Stream::running();
    for thread in 1..3 {
        stream.words(
            strandline_capture::PacketKind::ThreadStart,
            thread,
            &[100 + u64::from(thread), NOBODY, 0],
        );
    }
    let mut blocks = HashMap::new();
    let mut owners: HashMap<u64, Option<u32>> = HashMap::new();
    let mut buffers = vec![(Vec::new(), Vec::new()); 3];
    for (ticket, (thread, kind, offset, size)) in (5..).zip(program) {
        let access = Access {
            instruction: 0,
            kind: *kind,
            size: *size,
        };
        let block = *blocks
            .entry((*kind, *size))
            .or_insert_with(|| stream.block(&[0x90], 1, &[access]));
        let (from, to) = (PM + offset, PM + offset + u64::from(*size) - 1);
        let lines = from / LINE_BYTES..=to / LINE_BYTES;
        let shares = lines
            .clone()
            .any(|line| owners.get(&line).is_some_and(|owner| *owner != Some(*thread)));
        owners.extend(lines.map(|line| (line, (!shares).then_some(*thread))));
        let (words, passed) = &mut buffers[*thread as usize];
        passed.push((words.len() + 1, if shares { ticket } else { 0 }));
        words.extend([block, from]);
        words.resize(words.len() + access.value_words(), ticket);
        if cuts[ticket as usize % cuts.len()] {
            write(&mut stream, *thread, &mut buffers[*thread as usize], is_gated);
        }
    }
    for thread in 0..3u32 {
        write(&mut stream, thread, &mut buffers[thread as usize], is_gated);
    }
    stream.end(0)
}

fn write(stream: &mut Stream, thread: u32, (words, passed): &mut (Vec<u64>, Vec<(usize, u64)>), is_gated: bool) {
    if is_gated {
        stream.passed(thread, passed);
    }
    stream.trace(thread, words);
    words.clear();
    passed.clear();
}

/// Of each thread's accesses the writers of their words.
type Found = Vec<Vec<Vec<Option<(u32, usize)>>>>;

/// Which access of which thread each access found to have written its words last, in the order of each thread.
fn found(order: impl Iterator<Item = (u32, u64, u64, bool)>) -> Found {
    let mut last: HashMap<u64, (u32, usize)> = HashMap::new();
    let mut found = vec![Vec::new(); 3];
    for (thread, from, to, writes) in order {
        let own = &mut found[thread as usize];
        own.push((from..=to).map(|word| last.get(&word).copied()).collect());
        if writes {
            last.extend((from..=to).map(|word| (word, (thread, own.len() - 1))));
        }
    }
    found
}

/// The same of an order of a recording: 0 is the recorded one.
fn of_order(recording: &Arc<Recording>, number: u32) -> Found {
    let places = Arc::new(Places::of(recording.regions()));
    let base = Interleaved::with(recording, &places, Detail::Accesses).expect("it can be read");
    let entries: Box<dyn Iterator<Item = _>> = match number {
        0 => Box::new(base.entries()),
        _ => Box::new(Reordered::new(base.entries(), number, 3)),
    };
    let accesses = entries.filter_map(|entry| match entry.expect("it can be ordered") {
        Entry::Access(access) => Some((access.thread, access.first, access.last, access.writes)),
        _ => None,
    });
    found(accesses)
}

fn of_program(program: &[Does]) -> Found {
    found(
        program.iter().map(|(thread, kind, offset, size)| {
            (*thread, offset / 8, (offset + u64::from(*size) - 1) / 8, kind.writes())
        }),
    )
}

proptest! {
    #[test]
    fn in_every_order_each_access_finds_the_stores_that_it_found(program in does(), cuts in proptest::collection::vec(any::<bool>(), 1..9)) {
        let (recording, _) = collected(&told(&program, true, &cuts)).expect("a good stream");
        let recording = Arc::new(recording);
        for number in 0..8 {
            prop_assert_eq!(of_order(&recording, number), of_program(&program), "order {}", number);
        }
    }
}

#[test]
fn without_the_gate_the_order_is_another_one() {
    let program = [(1, Load, 0, 8), (0, Store, 0, 8), (1, Load, 0, 8)];
    let (recording, _) = collected(&told(&program, false, &[false])).expect("a good stream");
    assert_ne!(of_order(&Arc::new(recording), 0), of_program(&program));
}
