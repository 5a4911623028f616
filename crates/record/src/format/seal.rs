//! A block of the file: header, checksum, compressed content.
//!
//! The checksum covers everything except itself and is seeded with the block's offset, so that a moved block is
//! detected, too.

use super::MAX_RAW;
use crate::error::RecordError;
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Bytes of a block's header.
pub(crate) const HEAD_BYTES: usize = 32;

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum FileBlockKind {
    /// The header: the program and its arguments.
    Meta = 1,
    /// Steps of a thread.
    Steps = 2,
    /// Pages of persistent memory.
    Pages = 3,
    /// Definitions of blocks of code.
    Code = 4,
    /// Classes of a thread's fences.
    Fences = 5,
    /// Turns and waits of a thread.
    Sync = 6,
    /// The index.
    Index = 7,
    /// The places in the source of instructions.
    Lines = 8,
}

impl FileBlockKind {
    const ALL: [FileBlockKind; 8] = [
        FileBlockKind::Meta,
        FileBlockKind::Steps,
        FileBlockKind::Pages,
        FileBlockKind::Code,
        FileBlockKind::Fences,
        FileBlockKind::Sync,
        FileBlockKind::Index,
        FileBlockKind::Lines,
    ];

    /// The kind of this number.
    pub fn of(number: u32) -> Option<FileBlockKind> {
        FileBlockKind::ALL.into_iter().find(|kind| *kind as u32 == number)
    }
}

/// A block's header without its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// What it holds.
    pub kind: FileBlockKind,
    /// The thread; 0 if there is none.
    pub thread: u32,
    /// Number of items: steps, pages, definitions, fences, turns and waits.
    pub items: u32,
    /// Bytes of its content.
    pub raw: u32,
    /// Stored bytes of its content.
    pub stored: u32,
}

/// The checksum of a block at this offset, from the bytes after the checksum.
fn checksum(offset: u64, head: &[u8], stored: &[u8]) -> u64 {
    let mut hash = XxHash3_64::with_seed(offset);
    hash.write(head);
    hash.write(stored);
    hash.finish()
}

/// Compresses content and prepends header and checksum.
pub(crate) struct Sealer {
    zstd: zstd::bulk::Compressor<'static>,
    block: Vec<u8>,
}

impl Sealer {
    /// Compresses with this zstd level.
    pub fn new(level: i32) -> Result<Sealer, RecordError> {
        let zstd = zstd::bulk::Compressor::new(level).map_err(|e| RecordError::new(format!("zstd: {e}"), ""))?;
        Ok(Sealer {
            zstd,
            block: Vec::new(),
        })
    }

    /// The block with content `raw`, for `offset`.
    pub fn seal(
        &mut self,
        offset: u64,
        kind: FileBlockKind,
        thread: u32,
        items: usize,
        raw: &[u8],
    ) -> Result<&[u8], RecordError> {
        if raw.len() > MAX_RAW {
            let what = format!("a {kind:?} block of {} bytes is too large", raw.len());
            return Err(RecordError::new(what, "record a shorter part of the program"));
        }
        self.block
            .resize(HEAD_BYTES + zstd::zstd_safe::compress_bound(raw.len()), 0);
        let stored = self.zstd.compress_to_buffer(raw, &mut self.block[HEAD_BYTES..]);
        let stored = stored.map_err(|e| RecordError::new(format!("zstd: {e}"), ""))?;
        self.block.truncate(HEAD_BYTES + stored);
        let fields = [kind as u32, thread, items as u32, raw.len() as u32, stored as u32, 0];
        for (place, field) in self.block[8..HEAD_BYTES].chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        let (head, content) = self.block.split_at(HEAD_BYTES);
        let sum = checksum(offset, &head[8..], content);
        self.block[..8].copy_from_slice(&sum.to_le_bytes());
        Ok(&self.block)
    }
}

/// A little-endian number of four bytes.
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl Head {
    /// Parses a header at this offset of the file; at most `limit` bytes may follow it.
    pub fn parse(bytes: &[u8; HEAD_BYTES], offset: u64, limit: u64) -> Result<Head, RecordError> {
        let damaged = || RecordError::at(offset, "a block's header is damaged");
        let head = Head {
            kind: FileBlockKind::of(word(bytes, 8)).ok_or_else(damaged)?,
            thread: word(bytes, 12),
            items: word(bytes, 16),
            raw: word(bytes, 20),
            stored: word(bytes, 24),
        };
        let small = head.raw as usize <= MAX_RAW && u64::from(head.stored) <= limit;
        match small && word(bytes, 28) == 0 {
            true => Ok(head),
            false => Err(damaged()),
        }
    }

    /// Checks the stored bytes against the checksum and decompresses them into `raw`.
    pub fn open(
        &self,
        head: &[u8; HEAD_BYTES],
        offset: u64,
        stored: &[u8],
        raw: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let sum = u64::from_le_bytes([head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]]);
        // A fuzzer cannot find a checksum, and the code behind the check must be robust anyway.
        if !cfg!(fuzzing) && sum != checksum(offset, &head[8..], stored) {
            return Err(RecordError::at(offset, "a block does not match its checksum"));
        }
        raw.resize(self.raw as usize, 0);
        let opened = zstd::bulk::decompress_to_buffer(stored, raw);
        match opened {
            Ok(bytes) if bytes == self.raw as usize => Ok(()),
            _ => Err(RecordError::at(offset, "a block cannot be decompressed")),
        }
    }
}
