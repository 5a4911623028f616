//! The written file, block by block.

use super::seal::{FileBlockKind, Sealer, HEAD_BYTES};
use super::summary::FileBlockPlace;
use crate::error::RecordError;
use std::io::Write;

/// zstd's level: higher levels gain little on columns of mostly zeros.
const LEVEL: i32 = 3;

/// The file and its contents so far.
pub(crate) struct File<W> {
    pub out: W,
    sealer: Sealer,
    pub offset: u64,
    pub places: Vec<FileBlockPlace>,
}

impl<W: Write> File<W> {
    /// At its beginning.
    pub fn new(out: W) -> Result<File<W>, RecordError> {
        Ok(File {
            out,
            sealer: Sealer::new(LEVEL)?,
            offset: 0,
            places: Vec::new(),
        })
    }

    /// Writes bytes outside blocks.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), RecordError> {
        write(&mut self.out, self.offset, bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Writes a block.
    pub fn block(&mut self, kind: FileBlockKind, thread: usize, items: usize, raw: &[u8]) -> Result<(), RecordError> {
        let thread = thread as u32;
        let block = self.sealer.seal(self.offset, kind, thread, items, raw)?;
        write(&mut self.out, self.offset, block)?;
        let stored = (block.len() - HEAD_BYTES) as u32;
        let offset = self.offset;
        let place = FileBlockPlace {
            kind,
            thread,
            items: items as u32,
            stored,
            offset,
        };
        self.offset = place.end();
        self.places.push(place);
        Ok(())
    }
}

fn write(out: &mut impl Write, offset: u64, bytes: &[u8]) -> Result<(), RecordError> {
    out.write_all(bytes).map_err(|error| {
        let what = format!("the recording cannot be written at byte {offset}: {error}");
        RecordError::new(what, "free some space or give another path")
    })
}
