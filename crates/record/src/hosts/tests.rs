use super::*;
use crate::order::{Flush, Piece, SyncKind};
use Do::{Clflush, ClflushOpt, Clwb, Gives, Load, Locked, Mfence, Nt, Sfence, Store as St, Waits};

const HOSTS: usize = 3;

/// A word of the payload's line, another one of that, and the flag, in its own line.
const DATA: u64 = 0x40;
const BESIDE: u64 = 0x48;
const FLAG: u64 = 0x80;

/// What a host does.
#[derive(Clone, Copy, Debug)]
enum Do {
    Store(u64),
    Nt(u64),
    Load(u64),
    /// A locked instruction that adds.
    Locked(u64),
    Clwb(u64),
    ClflushOpt(u64),
    Clflush(u64),
    Sfence,
    Mfence,
    /// A message by volatile memory, the only one.
    Gives,
    Waits,
}

/// The entries of a step, an instruction of its own unless one is named.
fn entries(thread: u32, at: At, what: Do) -> Vec<Entry> {
    let op = |what| {
        Entry::Op(PmOp {
            thread,
            at,
            rest: false,
            what,
        })
    };
    let piece = |word| Piece {
        word,
        bytes: [1; 8],
        mask: u8::MAX,
    };
    let load = |word| What::Load { word, mask: u8::MAX };
    let line = |word: u64| Some(word & !(LINE - 1));
    let sync = |kind| Entry::Sync(Sync { thread, kind });
    match what {
        St(word) => vec![op(What::Store(piece(word)))],
        Nt(word) => vec![op(What::StoreNt(piece(word)))],
        Load(word) => vec![op(load(word))],
        Locked(word) => {
            let fence = op(What::Fence(Fence::Locked));
            vec![fence, op(load(word)), op(What::Store(piece(word))), fence]
        }
        Clwb(word) => vec![op(What::Flush(Flush::Clwb, line(word)))],
        ClflushOpt(word) => vec![op(What::Flush(Flush::ClflushOpt, line(word)))],
        Clflush(word) => vec![op(What::Flush(Flush::Clflush, line(word)))],
        Sfence => vec![op(What::Fence(Fence::Sfence))],
        Mfence => vec![op(What::Fence(Fence::Mfence))],
        Gives => vec![sync(SyncKind::Gives(0))],
        Waits => vec![sync(SyncKind::Waits(0, 1))],
    }
}

/// Steps as entries, each an instruction of its number.
fn numbered(steps: impl IntoIterator<Item = (u32, Do)>) -> Vec<Entry> {
    let all = (0..).zip(steps);
    all.flat_map(|(pc, (thread, what))| entries(thread, At::alone(pc), what))
        .collect()
}

/// The faults of hosts that do this in this order. They began before, or else with their first step.
fn judged(all: &[Entry], begun: bool) -> BTreeMap<Fault, Seen> {
    let mut lines = Lines::of(HOSTS);
    for entry in all {
        if let Entry::Op(op) = entry {
            lines.see(op);
        }
    }
    let mut hosts = Hosts::new(lines, HOSTS);
    hosts.begun = vec![begun; HOSTS];
    for entry in all {
        match entry {
            Entry::Op(op) => hosts.see(op),
            Entry::Sync(sync) => hosts.sync(sync),
            Entry::Access(_) => {}
        }
    }
    hosts.finish()
}

/// The faults, each with the numbers of both steps.
fn faults(steps: &[(u32, Do)]) -> Vec<(Kind, u64, u64)> {
    let found = judged(&numbered(steps.iter().copied()), true);
    let told = found.keys().map(|fault| (fault.kind, fault.store.pc, fault.other.pc));
    told.collect()
}

/// Host 0 writes back its line, tells host 1, and that reads; without some of the steps, by number.
fn handed(without: &[usize]) -> Vec<(Kind, u64, u64)> {
    let steps = [
        (0, St(DATA)),
        (0, Clwb(DATA)),
        (0, Sfence),
        (0, Gives),
        (1, Waits),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (1, Load(DATA)),
    ];
    let kept: Vec<usize> = (0..steps.len()).filter(|number| !without.contains(number)).collect();
    let left: Vec<(u32, Do)> = kept.iter().map(|number| steps[*number]).collect();
    let found = faults(&left).into_iter();
    found
        .map(|(kind, store, other)| (kind, kept[store as usize] as u64, kept[other as usize] as u64))
        .collect()
}

#[test]
fn a_hand_over_needs_a_flush_and_a_fence_there_and_an_invalidate_and_an_mfence_here() {
    assert_eq!(handed(&[]), []);
    assert_eq!(handed(&[1]), [(Kind::NeverFlushed, 0, 7)]);
    assert_eq!(handed(&[2]), [(Kind::NeverFenced, 0, 7)]);
    assert_eq!(handed(&[5]), [(Kind::Stale(Kept::Always), 0, 7)]);
    assert_eq!(handed(&[6]), [(Kind::Stale(Kept::Unordered), 0, 7)]);
    // Each side has its own fault.
    let both = [(Kind::NeverFlushed, 0, 7), (Kind::Stale(Kept::Always), 0, 7)];
    assert_eq!(handed(&[1, 5]), both);
    // Nothing says that the load is behind the store: it may miss it.
    assert_eq!(handed(&[3, 4]), []);
}

/// The same hand-over with other instructions at the writer, or at the reader.
fn with(writer: &[Do], reader: &[Do]) -> Vec<Kind> {
    let mut steps = vec![(0, writer[0])];
    steps.extend(writer[1..].iter().map(|what| (0, *what)));
    steps.extend([(0, Gives), (1, Waits)]);
    steps.extend(reader.iter().map(|what| (1, *what)));
    steps.push((1, Load(DATA)));
    faults(&steps).into_iter().map(|(kind, ..)| kind).collect()
}

const RIGHT_WRITER: [Do; 3] = [St(DATA), Clwb(DATA), Sfence];
const RIGHT_READER: [Do; 2] = [ClflushOpt(DATA), Mfence];

#[test]
fn each_instruction_counts_for_what_it_does() {
    let own = FLAG + 0x1000;
    for writer in [
        &[St(DATA), ClflushOpt(DATA), Sfence][..],
        &[St(DATA), Clwb(DATA), Mfence],
        &[St(DATA), Clwb(DATA), Locked(own)],
        &[St(DATA), Clflush(DATA)],
        &[Nt(DATA), Sfence],
    ] {
        assert_eq!(with(writer, &RIGHT_READER), [], "{writer:?}");
    }
    assert_eq!(with(&[Nt(DATA)], &RIGHT_READER), [Kind::NeverFenced]);
    assert_eq!(
        with(&[St(DATA), Sfence, Clwb(DATA)], &RIGHT_READER),
        [Kind::NeverFenced]
    );
    assert_eq!(
        with(&[St(DATA), Clwb(DATA), Sfence, St(DATA)], &RIGHT_READER),
        [Kind::NeverFlushed],
        "the later store"
    );
    for reader in [&[ClflushOpt(DATA), Locked(own)][..], &[Clflush(DATA), Mfence]] {
        assert_eq!(with(&RIGHT_WRITER, reader), [], "{reader:?}");
    }
    for (reader, kept) in [
        (&[ClflushOpt(DATA), Sfence][..], Kept::Unordered),
        (&[Clflush(DATA)], Kept::Unordered),
        (&[Mfence, ClflushOpt(DATA)], Kept::Unordered),
        (&[Clwb(DATA), Mfence], Kept::WrittenBack),
        (&[ClflushOpt(FLAG), Mfence], Kept::Always),
    ] {
        assert_eq!(with(&RIGHT_WRITER, reader), [Kind::Stale(kept)], "{reader:?}");
    }
}

#[test]
fn an_invalidate_before_the_hand_over_is_too_early() {
    let steps = [
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (0, St(DATA)),
        (0, Clwb(DATA)),
        (0, Sfence),
        (0, Gives),
        (1, Waits),
        (1, Load(DATA)),
    ];
    assert_eq!(faults(&steps), [(Kind::Stale(Kept::Early), 2, 7)]);
}

#[test]
fn a_host_begins_with_an_empty_cache() {
    let steps = [
        (0, St(DATA)),
        (0, Clwb(DATA)),
        (0, Sfence),
        (0, Gives),
        (1, Waits),
        (1, Load(DATA)),
    ];
    assert_eq!(judged(&numbered(steps), false), BTreeMap::new());
    assert_eq!(faults(&steps), [(Kind::Stale(Kept::Always), 0, 5)], "it began before");
}

/// A writer publishes by a flag in persistent memory, and a reader polls it.
fn published(payload: &[Do], polls: &[(u32, Do)]) -> Vec<(Kind, u64, u64)> {
    let mut steps: Vec<(u32, Do)> = payload.iter().map(|what| (0, *what)).collect();
    steps.extend_from_slice(polls);
    faults(&steps)
}

#[test]
fn a_flag_that_is_polled_with_invalidates_hands_over_what_was_flushed_before_it() {
    let polls = [
        (1, ClflushOpt(FLAG)),
        (1, Mfence),
        (1, Load(FLAG)),
        (1, ClflushOpt(FLAG)),
        (1, Mfence),
        (0, St(FLAG)),
        (1, Load(FLAG)),
        (0, Clwb(FLAG)),
        (0, Sfence),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (1, Load(DATA)),
        (1, Load(FLAG)),
    ];
    assert_eq!(published(&RIGHT_WRITER, &polls), []);
    assert_eq!(published(&[St(DATA)], &polls), [(Kind::NeverFlushed, 0, 12)]);
    let late = published(&[St(DATA), Clwb(DATA)], &polls);
    assert_eq!(late, [(Kind::FencedLate, 0, 13)], "by the fence behind the flag");
    let mut torn = polls.to_vec();
    torn.splice(8..8, [(0, Clwb(DATA))]);
    assert_eq!(published(&[St(DATA)], &torn), [(Kind::FlushedLate, 0, 13)]);
    let mut never = polls.to_vec();
    never.remove(7);
    assert_eq!(
        published(&RIGHT_WRITER, &never),
        [(Kind::NeverFlushed, 8, 9)],
        "the flag itself"
    );
}

#[test]
fn a_torn_hand_over_names_the_flag_and_what_the_reader_did_with_it() {
    let steps = [
        (0, St(DATA)),
        (0, St(FLAG)),
        (0, Clwb(FLAG)),
        (0, Sfence),
        (1, ClflushOpt(FLAG)),
        (1, Mfence),
        (1, Load(FLAG)),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (1, Load(DATA)),
        (1, St(0x1000)),
        (1, St(0x1040)),
    ];
    let found = judged(&numbered(steps), true);
    let [(fault, seen)] = &found.iter().collect::<Vec<_>>()[..] else {
        panic!("one fault, not {found:?}")
    };
    assert_eq!((fault.kind, fault.store.pc, fault.other.pc), (Kind::NeverFlushed, 0, 9));
    assert_eq!((seen.hosts, seen.word, seen.times), ((0, 1), DATA, 1));
    assert_eq!((seen.flag, seen.acts), (Some(At::alone(1)), Some(At::alone(10))));
}

#[test]
fn a_loop_without_an_invalidate_never_sees_the_store() {
    let spin = |between: &[(u32, Do)]| {
        let mut all = entries(1, At::alone(7), Load(FLAG));
        let others = (0..).zip(between);
        all.extend(others.flat_map(|(pc, (thread, what))| entries(*thread, At::alone(pc), *what)));
        all.extend(entries(1, At::alone(7), Load(FLAG)));
        judged(&all, true).keys().map(|fault| fault.kind).collect::<Vec<Kind>>()
    };
    let publish = [(0, St(FLAG)), (0, Clwb(FLAG)), (0, Sfence)];
    assert_eq!(spin(&publish), [Kind::Stale(Kept::Spins)]);
    let again = [publish[0], publish[1], publish[2], (1, ClflushOpt(FLAG)), (1, Mfence)];
    assert_eq!(spin(&again), []);
    let elsewhere = [publish[0], publish[1], publish[2], (1, Load(FLAG))];
    assert_eq!(spin(&elsewhere), [Kind::Stale(Kept::Again)], "once; then it has it");
}

#[test]
fn a_line_brings_all_that_was_stored_before_what_is_seen_of_it() {
    let steps = [
        (0, St(BESIDE)),
        (0, St(DATA)),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (1, Load(DATA)),
        (1, Load(BESIDE)),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (1, Load(BESIDE)),
        (0, Clwb(DATA)),
        (0, Sfence),
    ];
    assert_eq!(faults(&steps), [], "a device forgets nothing, either");
}

#[test]
fn what_one_host_has_read_is_out_for_all_that_it_tells() {
    let steps = [
        (0, St(FLAG)),
        (1, ClflushOpt(FLAG)),
        (1, Mfence),
        (1, Load(FLAG)),
        (1, Gives),
        (2, Waits),
        (2, ClflushOpt(FLAG)),
        (2, Mfence),
        (2, Load(FLAG)),
        (0, Clwb(FLAG)),
        (0, Sfence),
    ];
    assert_eq!(faults(&steps), []);
}

#[test]
fn two_hosts_that_store_to_a_line_hand_it_over() {
    let turns = |between: &[(u32, Do)], second: Do| {
        let mut steps = vec![(0, St(DATA))];
        steps.extend_from_slice(between);
        steps.push((1, second));
        faults(&steps).into_iter().map(|(kind, ..)| kind).collect::<Vec<Kind>>()
    };
    let right = [
        (0, Clwb(DATA)),
        (0, Sfence),
        (0, Gives),
        (1, Waits),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
    ];
    assert_eq!(turns(&right, St(BESIDE)), []);
    assert_eq!(turns(&[], St(BESIDE)), [Kind::FalseSharing]);
    assert_eq!(turns(&[], St(DATA)), [Kind::LostUpdate]);
    assert_eq!(
        turns(&right[2..], St(BESIDE)),
        [Kind::FalseSharing],
        "it may be written back later"
    );
    assert_eq!(
        turns(&right[..4], St(BESIDE)),
        [Kind::FalseSharing],
        "the copy may be older"
    );
    assert_eq!(turns(&right[..4], Nt(BESIDE)), [], "which takes no copy");
    assert_eq!(turns(&right[..3], Nt(BESIDE)), [Kind::FalseSharing]);
}

#[test]
fn locked_instructions_are_atomic_within_a_host() {
    let steps = [(0, Locked(DATA)), (0, Locked(DATA)), (1, Load(DATA)), (1, Locked(DATA))];
    assert_eq!(faults(&steps), [(Kind::Locked, 0, 3)], "and nothing else of the word");
    assert_eq!(
        faults(&[(0, Locked(DATA)), (0, Clwb(DATA)), (0, Sfence), (1, Load(DATA))]),
        []
    );
    assert_eq!(
        faults(&[(0, Locked(DATA)), (1, Load(DATA))]),
        [(Kind::NeverFlushed, 0, 1)]
    );
}

#[test]
fn a_flush_is_of_the_host_that_stored() {
    let steps = [
        (0, St(DATA)),
        (0, Gives),
        (1, Waits),
        (1, ClflushOpt(DATA)),
        (1, Mfence),
        (1, Load(DATA)),
    ];
    assert_eq!(faults(&steps), [(Kind::NeverFlushed, 0, 5)]);
}
