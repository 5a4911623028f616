//! A damaged recording is refused, or has its old contents.

use super::random::{plan, write, Plan};
use super::round::read;
use crate::format::seal::{FileBlockKind, Head, Sealer, HEAD_BYTES};
use crate::order::{Interleaved, Places};
use crate::replay::Replayed;
use crate::{RecordError, Recording};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::Arc;

fn read_bytes(bytes: Vec<u8>) -> Result<Plan, RecordError> {
    read(&Recording::from_bytes(bytes)?)
}

/// A deterministic plan.
fn whole_plan() -> Plan {
    plan()
        .new_tree(&mut TestRunner::deterministic())
        .expect("a plan")
        .current()
}

/// Prepares a recording for replay, and orders its operations.
fn follow(bytes: Vec<u8>) -> Result<(), RecordError> {
    let recording = Recording::from_bytes(bytes)?;
    let places = Arc::new(Places::of(recording.regions()));
    Interleaved::new(&Arc::new(recording.clone()), &places)?.try_for_each(|op| op.map(drop))?;
    Replayed::new(recording, crate::replay::Fences::Auto).map(drop)
}

/// Deterministic recordings.
fn samples(count: usize) -> Vec<Vec<u8>> {
    let mut runner = TestRunner::deterministic();
    let mut sample = || plan().new_tree(&mut runner).expect("a plan").current();
    (0..count)
        .map(|_| write(&sample()).expect("a plan can be written"))
        .collect()
}

#[test]
fn every_flipped_bit_is_noticed() {
    for bytes in samples(6) {
        let whole = read_bytes(bytes.clone()).expect("it is whole");
        for bit in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match read_bytes(bytes) {
                Err(error) => assert_eq!(error.to_string().lines().count(), 1),
                Ok(same) => assert_eq!(same, whole, "bit {bit}"),
            }
        }
    }
}

#[test]
fn a_recording_that_ends_anywhere_is_refused_with_a_place() {
    for bytes in samples(6) {
        for end in 0..bytes.len() {
            let error = read_bytes(bytes[..end].to_vec()).expect_err("it is cut");
            assert!(end < 8 || error.offset().is_some(), "{end}: {error}");
        }
    }
}

#[test]
fn foreign_and_newer_files_are_told_from_damaged_ones() {
    let foreign = read_bytes(b"\x7fELF and so on".to_vec()).expect_err("no recording");
    assert_eq!(
        foreign.to_string(),
        "this is not a recording of strandline; make one by strandline record"
    );
    let mut newer = samples(1).remove(0);
    newer[8] = 3;
    let newer = read_bytes(newer).expect_err("too new").to_string();
    assert!(
        newer.starts_with("the recording is of version 3, and this program reads versions up to 2;"),
        "{newer}"
    );
}

#[test]
fn a_damaged_block_is_refused_with_its_offset_and_file() {
    let path = std::env::temp_dir().join(format!("strandline-damaged-{}", std::process::id()));
    let mut bytes = samples(1).remove(0);
    // The first block is Meta, after the 16 bytes at the start; this is a byte of its content.
    bytes[16 + HEAD_BYTES] ^= 1;
    std::fs::write(&path, &bytes).expect("a file for the test");
    let error = Recording::open(&path).expect_err("it is damaged").to_string();
    std::fs::remove_file(&path).expect("the test's file can be removed");
    let file = path.display();
    assert_eq!(
        error,
        format!("{file}: byte 16: a block does not match its checksum; record again")
    );
    let missing = Recording::open(&path).expect_err("it is gone").to_string();
    assert!(missing.starts_with(&format!("{file}: cannot be read: ")), "{missing}");
}

#[test]
fn a_block_of_code_with_more_instructions_than_bytes_is_refused() {
    let mut plan = Plan {
        threads: Vec::new(),
        ..whole_plan()
    };
    plan.blocks[0].instructions = u32::MAX;
    let error = write(&plan).expect_err("they would fill memory");
    assert!(error.what().contains("more instructions than bytes"), "{error}");
}

/// The offsets of a recording's blocks.
fn places(bytes: &[u8]) -> Vec<(u64, Head)> {
    let (mut at, mut places) = (16, Vec::new());
    while at + HEAD_BYTES + 16 <= bytes.len() {
        let head: &[u8; HEAD_BYTES] = bytes[at..at + HEAD_BYTES].try_into().expect("a header's bytes");
        let head = Head::parse(head, at as u64, bytes.len() as u64).expect("a header");
        places.push((at as u64, head));
        at += HEAD_BYTES + head.stored as usize;
    }
    places
}

/// Rewrites the recording with one block's content changed and all checksums right.
fn forged(bytes: &[u8], which: usize, changes: &[(Index, u8)]) -> Vec<u8> {
    let places = places(bytes);
    let which = which % places.len();
    let mut sealer = Sealer::new(1).expect("zstd works");
    let mut out = bytes[..16].to_vec();
    let mut index = 0;
    for (number, (at, head)) in places.iter().enumerate() {
        let from = *at as usize;
        let bytes = &bytes[from..from + HEAD_BYTES + head.stored as usize];
        let mut raw = Vec::new();
        let head_bytes = bytes[..HEAD_BYTES].try_into().expect("a header's bytes");
        head.open(&head_bytes, *at, &bytes[HEAD_BYTES..], &mut raw)
            .expect("a block");
        for (place, byte) in changes.iter().filter(|_| number == which) {
            let place = place.index(raw.len().max(1));
            if let Some(old) = raw.get_mut(place) {
                *old = *byte;
            }
        }
        index = out.len() as u64;
        let sealed = sealer
            .seal(index, head.kind, head.thread, head.items as usize, &raw)
            .expect("a block");
        // Its length probably changes, so the index is corrected, too. Another test damages the index.
        out.extend(sealed);
    }
    out.extend(index.to_le_bytes());
    out.extend(b"strandED");
    out
}

/// Corrects the lengths in a forged recording's index.
fn with_index(forged: &[u8]) -> Option<Vec<u8>> {
    let places = places(forged);
    let (at, head) = *places.last()?;
    let bytes = &forged[at as usize..forged.len() - 16];
    let mut raw = Vec::new();
    head.open(bytes[..HEAD_BYTES].try_into().ok()?, at, &bytes[HEAD_BYTES..], &mut raw)
        .ok()?;
    let mut index = crate::format::summary::Index::parse(&raw, 16).ok()?;
    for (place, (_, head)) in index.places.iter_mut().zip(&places) {
        place.stored = head.stored;
    }
    raw.clear();
    index.put(&mut raw);
    let mut out = forged[..at as usize].to_vec();
    let mut sealer = Sealer::new(1).ok()?;
    out.extend(sealer.seal(at, FileBlockKind::Index, 0, 1, &raw).ok()?);
    out.extend(at.to_le_bytes());
    out.extend(b"strandED");
    Some(out)
}

#[test]
fn a_forgery_that_changes_nothing_is_read() {
    for bytes in samples(6) {
        let forged = with_index(&forged(&bytes, 0, &[])).expect("an index");
        assert_eq!(read_bytes(forged), read_bytes(bytes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn contents_that_are_wrong_under_right_checksums_do_no_harm(
        plan in plan(),
        which in 0usize..64,
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let bytes = write(&plan).expect("a plan can be written");
        let forged = forged(&bytes, which, &changes);
        // Either result is right; a panic or an endless loop is not.
        let _ = read_bytes(forged.clone());
        let _ = with_index(&forged).map(|bytes| read_bytes(bytes.clone()).and_then(|_| follow(bytes)));
    }
}
