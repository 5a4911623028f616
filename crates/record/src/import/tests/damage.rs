//! What is damaged is refused, and never a panic.

use super::containers::{gzip, lz4, trace, zip, zstd};
use super::trace::{import_bytes, kind, steps, Trace, FILE_TYPE};
use crate::RecordError;
use proptest::prelude::*;

/// Either it is refused in one line that names the file, or the recording can be read.
fn refused_or_readable(bytes: &[u8]) -> Option<RecordError> {
    match import_bytes("t.trace", bytes) {
        Ok((imported, recording)) => {
            for thread in 0..imported.threads {
                steps(&recording, thread);
            }
            None
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n') && line.contains("t.trace: "), "{line:?}");
            Some(error)
        }
    }
}

#[test]
fn a_trace_cut_anywhere_is_refused_with_an_offset() {
    let (bytes, half) = trace();
    let (a, b) = bytes.split_at(half);
    let lz4_end = lz4(&bytes).len() - 4;
    for file in [
        bytes.clone(),
        gzip(&bytes),
        zstd(&bytes),
        lz4(&bytes),
        zip(&[a, b], true),
        zip(&[a, b], false),
    ] {
        for length in 0..file.len() {
            match refused_or_readable(&file[..length]) {
                Some(error) => assert!(error.offset().is_some(), "{error}"),
                // All records are there: what is missing is the empty block with which lz4 ends.
                None => assert!(
                    file == lz4(&bytes) && length >= lz4_end,
                    "cut to {length} of {} bytes it is taken",
                    file.len()
                ),
            }
        }
    }
}

/// Records that are likely to mean something.
fn record() -> impl Strategy<Value = (u16, u16, u64)> {
    let kinds = prop_oneof![
        4 => Just(kind::INSTR),
        4 => Just(kind::READ),
        4 => Just(kind::WRITE),
        4 => Just(kind::MARKER),
        4 => Just(kind::ENCODING),
        2 => Just(kind::TAKEN),
        2 => Just(kind::NO_FETCH),
        1 => Just(kind::DATA_FLUSH),
        1 => 0u16..60,
    ];
    let values = prop_oneof![
        4 => (0u64..8).prop_map(|index| 0x1000 + index),
        2 => 0u64..100,
        1 => any::<u64>(),
    ];
    (kinds, 0u16..40, values)
}

proptest! {
    #[test]
    fn random_records_are_refused_or_imported(records in proptest::collection::vec(record(), 0..80), ends: bool) {
        let mut trace = Trace::of(9, 6, FILE_TYPE);
        for _ in 0..8 {
            trace.plain(&[0x90]);
        }
        trace.pc = 0x1000;
        for (kind, size, value) in records {
            trace.put(kind, if kind == kind::INSTR { 1 } else { size }, value);
        }
        let bytes = if ends { trace.end().bytes } else { trace.bytes };
        refused_or_readable(&bytes);
    }

    #[test]
    fn flipped_bits_are_refused_or_imported(flips in proptest::collection::vec((any::<prop::sample::Index>(), 0u32..8), 1..4)) {
        let (bytes, half) = trace();
        let (a, b) = bytes.split_at(half);
        for mut file in [bytes.clone(), gzip(&bytes), zstd(&bytes), lz4(&bytes), zip(&[a, b], true), zip(&[a, b], false)] {
            for (place, bit) in &flips {
                let place = place.index(file.len());
                file[place] ^= 1 << bit;
            }
            refused_or_readable(&file);
        }
    }

    #[test]
    fn random_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(refused_or_readable(&bytes).is_some());
    }
}
