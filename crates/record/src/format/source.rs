//! The bytes of a recording, block by block.

use super::bytes::{Bad, Parsed};
use super::seal::{Head, HEAD_BYTES};
use super::summary::FileBlockPlace;
use super::{END, FILE_VERSION, MAGIC, PREFIX_BYTES, READ_VERSIONS, SUFFIX_BYTES};
use crate::error::RecordError;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Where the bytes are.
#[derive(Debug)]
pub(crate) enum Source {
    File(File, PathBuf, u64),
    Bytes(Vec<u8>),
}

impl Source {
    /// Its length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Source::File(_, _, bytes) => *bytes,
            Source::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Fills `out` with the bytes at `offset`.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), RecordError> {
        let short = || RecordError::at(offset, "the recording ends too early");
        match self {
            Source::File(file, ..) => file.read_exact_at(out, offset).map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => short(),
                _ => RecordError::at(offset, format!("the recording cannot be read: {error}")),
            }),
            Source::Bytes(bytes) => {
                let from = usize::try_from(offset).ok().and_then(|from| bytes.get(from..));
                let from = from.and_then(|from| from.get(..out.len())).ok_or_else(short)?;
                out.copy_from_slice(from);
                Ok(())
            }
        }
    }

    /// Adds the file to an error.
    pub fn name(&self, error: RecordError) -> RecordError {
        match self {
            Source::File(_, path, _) => error.of(path),
            Source::Bytes(_) => error,
        }
    }

    /// Reads the block at `offset` into `raw`; `end` is the limit of what may follow it.
    pub fn block(&self, offset: u64, end: u64, raw: &mut Vec<u8>) -> Result<Head, RecordError> {
        let mut head_bytes = [0; HEAD_BYTES];
        self.read(offset, &mut head_bytes)?;
        let limit = end.saturating_sub(offset).saturating_sub(HEAD_BYTES as u64);
        let head = Head::parse(&head_bytes, offset, limit)?;
        let mut stored = vec![0; head.stored as usize];
        self.read(offset + HEAD_BYTES as u64, &mut stored)?;
        head.open(&head_bytes, offset, &stored, raw)?;
        Ok(head)
    }

    /// Reads the block at an index entry into `raw`.
    pub fn placed(&self, place: &FileBlockPlace, raw: &mut Vec<u8>) -> Result<(), RecordError> {
        let head = self.block(place.offset, place.end(), raw)?;
        let same = head.kind == place.kind && head.thread == place.thread;
        match same && head.items == place.items && head.stored == place.stored {
            true => Ok(()),
            false => Err(RecordError::at(place.offset, "a block is not what the index says")),
        }
    }

    /// Checks start and end; returns the offset of the index.
    pub fn ends(&self) -> Result<u64, RecordError> {
        let mut prefix = [0; PREFIX_BYTES as usize];
        let foreign = || RecordError::new("this is not a recording of strandline", "make one by strandline record");
        self.read(0, &mut prefix[..8]).map_err(|_| foreign())?;
        if prefix[..8] != MAGIC {
            return Err(foreign());
        }
        self.read(0, &mut prefix)?;
        let version = u32::from_le_bytes([prefix[8], prefix[9], prefix[10], prefix[11]]);
        if !READ_VERSIONS.contains(&version) {
            let what =
                format!("the recording is of version {version}, and this program reads versions up to {FILE_VERSION}");
            return Err(RecordError::new(
                what,
                "use the strandline that made it, or record again",
            ));
        }
        if prefix[12..] != [0; 4] {
            return Err(RecordError::at(12, "the recording's beginning is damaged"));
        }
        let bytes = self.len();
        let cut = || RecordError::at(bytes, "the recording ends too early");
        let at = bytes
            .checked_sub(SUFFIX_BYTES)
            .filter(|at| *at >= PREFIX_BYTES)
            .ok_or_else(cut)?;
        let mut suffix = [0; SUFFIX_BYTES as usize];
        self.read(at, &mut suffix)?;
        let (index, end) = suffix.split_at(8);
        if end != END {
            return Err(cut());
        }
        Ok(u64::from_le_bytes(index.try_into().unwrap_or_default()))
    }
}

/// Tells where content is bad.
pub(crate) fn at<T>(offset: u64, parsed: Parsed<T>) -> Result<T, RecordError> {
    parsed.map_err(|Bad(what)| RecordError::at(offset, what))
}
