//! The files of a trace, packed in whichever way.

use super::entry::{Entry, ENTRY_BYTES};
use super::{damaged, refused};
use crate::RecordError;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

/// Bytes that are read at a time: a multiple of a record's.
const BUFFER: usize = ENTRY_BYTES << 12;

/// Takes a record and its offset among the unpacked bytes of the file.
pub type Visit<'v> = dyn FnMut(u64, Entry) -> Result<ControlFlow<()>, RecordError> + 'v;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Lz4,
    Zstd,
    Zip,
    Snappy,
}

impl Packing {
    /// By the file's first bytes: its name may say anything.
    fn of(magic: &[u8]) -> Packing {
        let is = |bytes: &[u8]| magic.starts_with(bytes);
        match () {
            () if is(b"PK\x03\x04") => Packing::Zip,
            () if is(&[0x1f, 0x8b]) => Packing::Gzip,
            () if is(&[0x04, 0x22, 0x4d, 0x18]) => Packing::Lz4,
            () if is(&[0x28, 0xb5, 0x2f, 0xfd]) => Packing::Zstd,
            () if is(&[0xff, 0x06, 0x00, 0x00, b's', b'N', b'a', b'P', b'p', b'Y']) => Packing::Snappy,
            () => Packing::Plain,
        }
    }
}

/// Gives the records of a file to `visit` until it breaks off; returns how many bytes they were.
///
/// # Errors
/// The file cannot be read or unpacked, or `visit` says so: the line names the file, and the offset where there is one.
pub fn visit(path: &Path, visit: &mut Visit<'_>) -> Result<u64, RecordError> {
    open_and_visit(path, visit).map_err(|error| error.of(path))
}

fn open_and_visit(path: &Path, visit: &mut Visit<'_>) -> Result<u64, RecordError> {
    let opened = |error: io::Error| refused(format!("cannot be read: {error}"), "give a trace that can be read");
    let mut file = File::open(path).map_err(opened)?;
    let mut magic = Vec::new();
    file.by_ref().take(10).read_to_end(&mut magic).map_err(opened)?;
    file.seek(SeekFrom::Start(0)).map_err(opened)?;
    let length = file.metadata().map_err(opened)?.len();
    let file = BufReader::new(file);
    let mut records = Records { offset: 0, visit };
    // How many bytes were read says the same whether `visit` broke off or not.
    let _ = match Packing::of(&magic) {
        Packing::Plain => records.all(file)?,
        Packing::Gzip => records.all(flate2::bufread::MultiGzDecoder::new(file))?,
        Packing::Lz4 => records.all(Frames(lz4_flex::frame::FrameDecoder::new(file)))?,
        Packing::Zstd => records.all(zstd::Decoder::with_buffer(file).map_err(|error| unpacked(0, &error))?)?,
        Packing::Zip => records.components(file, length)?,
        Packing::Snappy => {
            let mend = "pack it as zip: drraw2trace -compress zip, or DynamoRIO's record_filter tool";
            return Err(refused("is packed with snappy, which is not read", mend));
        }
    };
    Ok(records.offset)
}

fn unpacked(offset: u64, error: &dyn std::error::Error) -> RecordError {
    damaged(offset, format!("what follows cannot be unpacked ({error})"))
}

/// Frames of lz4, one after the other: the decoder stops after each.
struct Frames<R: Read>(lz4_flex::frame::FrameDecoder<R>);

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let bytes = self.0.read(buffer)?;
            if bytes > 0 || buffer.is_empty() || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(bytes);
            }
        }
    }
}

/// Cuts bytes into records.
struct Records<'r, 'v> {
    /// Unpacked bytes so far.
    offset: u64,
    visit: &'r mut Visit<'v>,
}

impl Records<'_, '_> {
    /// A zip archive holds a thread's records in parts, one after the other.
    fn components(&mut self, file: impl Read + Seek, length: u64) -> Result<ControlFlow<()>, RecordError> {
        let mut archive = zip::ZipArchive::new(file).map_err(|error| {
            damaged(
                length,
                format!("the zip archive is damaged or ends too early ({error})"),
            )
        })?;
        for index in 0..archive.len() {
            let component = archive.by_index(index).map_err(|error| unpacked(self.offset, &error))?;
            if self.all(component)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn all(&mut self, mut from: impl Read) -> Result<ControlFlow<()>, RecordError> {
        let mut buffer = vec![0; BUFFER];
        loop {
            let filled = fill(&mut from, &mut buffer);
            let (bytes, ended) = match &filled {
                Ok(bytes) => (*bytes, *bytes < BUFFER),
                Err((bytes, _)) => (*bytes, true),
            };
            let (whole, rest) = cut(&buffer[..bytes]);
            for entry in whole {
                if (self.visit)(self.offset, entry)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                self.offset += ENTRY_BYTES as u64;
            }
            if let Err((_, error)) = filled {
                return Err(unpacked(self.offset, &error));
            }
            if rest > 0 {
                return Err(damaged(self.offset, "the last record is cut short"));
            }
            if ended {
                return Ok(ControlFlow::Continue(()));
            }
        }
    }
}

/// Fills the buffer as far as there are bytes; an error comes with the bytes before it.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> Result<usize, (usize, io::Error)> {
    let mut bytes = 0;
    while bytes < buffer.len() {
        match from.read(&mut buffer[bytes..]) {
            Ok(0) => break,
            Ok(more) => bytes += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((bytes, error)),
        }
    }
    Ok(bytes)
}

/// The whole records of these bytes, and how many bytes remain.
fn cut(bytes: &[u8]) -> (impl Iterator<Item = Entry> + '_, usize) {
    let chunks = bytes.chunks_exact(ENTRY_BYTES);
    let rest = chunks.remainder().len();
    (
        chunks.filter_map(|chunk| Some(Entry::parse(chunk.first_chunk()?))),
        rest,
    )
}
