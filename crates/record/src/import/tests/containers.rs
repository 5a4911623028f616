//! The same trace in all ways in which DynamoRIO packs it.

use super::trace::{import_bytes, kind, marker, steps, Did, Trace};
use std::io::Write;

/// A trace, and where it is cut into two parts.
pub fn trace() -> (Vec<u8>, usize) {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0x48, 0x8b, 0x06]).read(8, 0x5000);
    trace.plain(&[0x0f, 0xae, 0xf8]);
    trace.mark(marker::CHUNK_FOOTER, 0);
    let half = trace.bytes.len();
    trace.plain(&[0x48, 0x89, 0x07]).write(8, 0x5010);
    trace.run(kind::RETURN, &[0xc3]).read(8, 0x8000);
    (trace.end().bytes, half)
}

pub fn zip(parts: &[&[u8]], packed: bool) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (number, part) in parts.iter().enumerate() {
        let method = if packed {
            zip::CompressionMethod::Deflated
        } else {
            zip::CompressionMethod::Stored
        };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("chunk.{number:04}"), options)
            .expect("memory can be written");
        zip.write_all(part).expect("memory can be written");
    }
    zip.finish().expect("memory can be written").into_inner()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).expect("memory can be written");
    gzip.finish().expect("memory can be written")
}

pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory can be written")
}

pub fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(bytes).expect("memory can be written");
    lz4.finish().expect("memory can be written")
}

fn imported(bytes: &[u8]) -> Vec<Did> {
    steps(&import_bytes("a.trace", bytes).expect("the trace is right").1, 0)
}

#[test]
fn a_trace_is_the_same_however_it_is_packed() {
    let (bytes, half) = trace();
    let plain = imported(&bytes);
    assert_eq!(plain.len(), 1);
    let (a, b) = bytes.split_at(half);
    assert_eq!(imported(&gzip(&bytes)), plain);
    assert_eq!(imported(&[gzip(a), gzip(b)].concat()), plain);
    assert_eq!(imported(&zstd(&bytes)), plain);
    assert_eq!(imported(&[zstd(a), zstd(b)].concat()), plain);
    assert_eq!(imported(&lz4(&bytes)), plain);
    assert_eq!(imported(&[lz4(a), lz4(b)].concat()), plain);
    assert_eq!(imported(&zip(&[&bytes], true)), plain);
    assert_eq!(imported(&zip(&[a, b], true)), plain);
    assert_eq!(imported(&zip(&[a, b], false)), plain);
}

#[test]
fn a_trace_larger_than_the_buffer_is_read_as_one() {
    let mut trace = Trace::new(9, 100);
    trace.plain(&[0xff, 0xc9]).run(kind::TAKEN, &[0x75, 0xfc]);
    for _ in 0..50_000 {
        trace.put(kind::INSTR, 2, 0x1000).put(kind::TAKEN, 2, 0x1002);
    }
    let bytes = trace.end().bytes;
    for packed in [
        bytes.clone(),
        gzip(&bytes),
        zstd(&bytes),
        lz4(&bytes),
        zip(&[&bytes], true),
    ] {
        let totals = import_bytes("a.trace", &packed).expect("the trace is right").0.totals;
        assert_eq!((totals.blocks, totals.instructions), (50_001, 100_002));
    }
}
