//! Damaged streams are refused or read, without further harm.

use super::build::{code, collected, eight, Stream, LOCK, PM};
use super::together::two;
use proptest::prelude::*;
use strandline_capture::{AccessKind, Control, Marker, PacketKind};

/// A stream with an item of each kind.
fn everything() -> Vec<u8> {
    let mut stream = Stream::running();
    stream.words(
        PacketKind::Module,
        0,
        &[0x40_0000, 0x50_0000, 0, u64::from_le_bytes(*b"/bin/cat")],
    );
    stream.page(PM + 0x1000, 3);
    let atomic = stream.plain(&[AccessKind::Atomic]);
    let store = stream.plain(&[AccessKind::Load, AccessKind::Store, AccessKind::Update]);
    let flush = stream.block(&[&[0x90][..], &code(None)].concat(), 2, &[eight(0, AccessKind::Clwb)]);
    let task = stream.block(&code(Some(Marker::TaskEnd)), 1, &[]);
    stream.trace(0, &[Control::Syscall.word(56), 1, Control::Returned.word(56), 101, 2]);
    stream.words(PacketKind::ThreadStart, 1, &[101, 0, 0xa000]);
    stream.trace(
        0,
        &[atomic, LOCK, 0, 1, 3, store, 0x1000, PM, 4, PM + 8, 5, flush, PM, task],
    );
    let wait = stream.plain(&[AccessKind::LoadSeen]);
    for laps in [
        [wait, LOCK, 1, 4, wait, LOCK, 1, 4],
        [wait, LOCK, 1, 4, wait, LOCK, 2, 4],
    ] {
        stream.trace(1, &laps);
    }
    stream.trace(1, &[atomic, LOCK, 1, 1, 5, store, 0x1000, PM, Control::Cut.word(1)]);
    stream.trace(
        0,
        &[
            Control::Syscall.word(202),
            6,
            Control::Futex.word(1),
            LOCK,
            Control::Returned.word(202),
            1,
            7,
        ],
    );
    stream.trace(0, &[Control::Sync.word(0), PM, 4096]);
    stream.words(PacketKind::PmUnmap, 0, &[PM, 0x1000]);
    stream.packet(PacketKind::Warning, 0, b"something");
    stream.thread_end(1, 9);
    stream.end(0)
}

/// Collects a possibly damaged stream; if it is accepted, the whole recording can be read.
fn try_all(bytes: &[u8]) {
    let Ok((recording, _)) = collected(bytes) else { return };
    for thread in 0..recording.threads().len() {
        let mut stream = recording.stream(thread).expect("there is such a thread");
        while stream.next().expect("what was collected can be read").is_some() {}
    }
}

#[test]
fn a_stream_may_end_anywhere() {
    let whole = everything();
    collected(&whole).expect("the whole is good");
    for end in 0..whole.len() {
        try_all(&whole[..end]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn damage_to_a_stream_is_never_worse_than_an_error(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = everything();
        for (place, byte) in changes {
            // Pages are most of the bytes but the smallest part of the protocol.
            let place = place.index(bytes.len() - 4096);
            let place = if place < 400 { place } else { place + 4096 };
            bytes[place] = byte;
        }
        try_all(&bytes);
    }

    #[test]
    fn any_words_are_a_trace_or_an_error(words in proptest::collection::vec(word(), 0..40), split in any::<prop::sample::Index>()) {
        let mut stream = Stream::running();
        stream.plain(&[AccessKind::Atomic, AccessKind::Store]);
        stream.plain(&[AccessKind::Load]);
        let at = split.index(words.len() + 1);
        stream.trace(0, &words[..at]);
        stream.trace(0, &words[at..]);
        try_all(&stream.end(0));
    }

    #[test]
    fn any_loop_of_a_thread_is_a_trace_or_an_error(words in proptest::collection::vec(word(), 1..12), laps in 1usize..6) {
        let mut stream = two();
        stream.plain(&[AccessKind::Atomic, AccessKind::LoadSeen]);
        stream.plain(&[AccessKind::LoadSeen]);
        stream.plain(&[]);
        stream.trace(1, &words.repeat(laps));
        try_all(&stream.end(0));
    }
}

/// A word that is often meaningful.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![
        (0u64..3).prop_map(|block| Control::Block.word(block)),
        (0u64..3).prop_map(|block| Control::Block.word(block)),
        (0u64..3).prop_map(|instructions| Control::Cut.word(instructions)),
        (0u8..7, 0u64..3).prop_map(|(kind, payload)| 1 << 63 | u64::from(kind) << 56 | payload),
        0u64..100,
        any::<u64>(),
    ]
}
