//! Reads a recording.

use super::bytes::{Bad, Cursor, Parsed};
use super::lines;
use super::seal::{FileBlockKind, HEAD_BYTES};
use super::shapes::Shapes;
use super::source::{at, Source};
use super::stream::Stream;
use super::summary::{self, FileBlockPlace, Index};
use super::{PREFIX_BYTES, SUFFIX_BYTES};
use crate::code::{signs, Sign};
use crate::edits::Edits;
use crate::error::RecordError;
use crate::lines::Lines;
use crate::recording::{Block, Module, Region, Thread, Totals, INCOMPLETE};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use strandline_capture::{Marker, PAGE_BYTES};

/// A page of memory.
type Page = [u8; PAGE_BYTES as usize];

/// A readable recording: its index is in memory, the threads' steps are read on demand.
#[derive(Clone, Debug)]
pub struct Recording {
    contents: Arc<Contents>,
    edits: Arc<Edits>,
}

/// What a recording and its streams share.
#[derive(Debug)]
pub(crate) struct Contents {
    source: Source,
    program: Vec<String>,
    blocks: Vec<Block>,
    /// The block definitions, for decoding.
    pub shapes: Shapes,
    index: Index,
    lines: Lines,
    /// The blocks of the file of each kind and thread, in order.
    places: BTreeMap<(FileBlockKind, u32), Vec<FileBlockPlace>>,
}

impl Contents {
    fn new(source: Source) -> Result<Contents, RecordError> {
        let read = Contents::read(&source).and_then(|read| {
            let lines = kept_lines(&source, &read.3)?;
            Ok((read, lines))
        });
        read.map_err(|error| source.name(error)).map(|(read, lines)| {
            let (program, blocks, shapes, index) = read;
            let mut places: BTreeMap<_, Vec<FileBlockPlace>> = BTreeMap::new();
            for place in &index.places {
                places.entry((place.kind, place.thread)).or_default().push(*place);
            }
            Contents {
                source,
                program,
                blocks,
                shapes,
                index,
                lines,
                places,
            }
        })
    }

    fn read(source: &Source) -> Result<(Vec<String>, Vec<Block>, Shapes, Index), RecordError> {
        let place = source.ends()?;
        let (end, mut raw) = (source.len() - SUFFIX_BYTES, Vec::new());
        let head = source.block(place, end, &mut raw)?;
        let fits = place.checked_add((HEAD_BYTES + head.stored as usize) as u64) == Some(end);
        if head.kind != FileBlockKind::Index || head.items != 1 || head.thread != 0 || !fits {
            return Err(RecordError::at(place, "the index is not where it should be"));
        }
        let index = at(place, Index::parse(&raw, PREFIX_BYTES))?;
        if index.places.last().map(FileBlockPlace::end) != Some(place) {
            return Err(RecordError::at(place, "the index does not fit the recording"));
        }
        let threads = index.threads.len() as u32;
        let stray = |p: &&FileBlockPlace| p.kind == FileBlockKind::Index || p.thread >= threads && p.thread != 0;
        if let Some(stray) = index.places.iter().find(stray) {
            return Err(RecordError::at(
                place,
                format!("the index misplaces the block at byte {}", stray.offset),
            ));
        }
        let program = match index.places.first() {
            Some(first) if first.kind == FileBlockKind::Meta => {
                source.placed(first, &mut raw)?;
                at(first.offset, summary::meta(&raw))?
            }
            _ => return Err(RecordError::at(place, "the index names no header")),
        };
        let (blocks, shapes) = code(source, &index, &mut raw)?;
        Ok((program, blocks, shapes, index))
    }

    /// The places of blocks of this kind and thread.
    pub fn places(&self, kind: FileBlockKind, thread: u32) -> &[FileBlockPlace] {
        self.places.get(&(kind, thread)).map_or(&[], |places| places)
    }

    /// Reads the block at an offset into `raw`.
    pub fn placed(&self, place: &FileBlockPlace, raw: &mut Vec<u8>) -> Result<(), RecordError> {
        self.source.placed(place, raw).map_err(|error| self.source.name(error))
    }

    /// Adds file and offset to an error on content.
    pub fn at<T>(&self, offset: u64, parsed: Parsed<T>) -> Result<T, RecordError> {
        at(offset, parsed).map_err(|error| self.source.name(error))
    }

    /// The blocks of code.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// A thread.
    pub fn thread(&self, thread: usize) -> Option<&Thread> {
        self.index.threads.get(thread)
    }

    /// Checks the blocks against the index.
    pub fn index_offset(&self) -> u64 {
        self.index.places.last().map_or(0, FileBlockPlace::end)
    }
}

/// The places in the program's source; none in an older recording, or in one of a program without them.
fn kept_lines(source: &Source, index: &Index) -> Result<Lines, RecordError> {
    let Some(place) = index.places.iter().find(|place| place.kind == FileBlockKind::Lines) else {
        return Ok(Lines::default());
    };
    let mut raw = Vec::new();
    source.placed(place, &mut raw)?;
    at(place.offset, lines::lines(&raw, place.items))
}

fn code(source: &Source, index: &Index, raw: &mut Vec<u8>) -> Result<(Vec<Block>, Shapes), RecordError> {
    let (mut blocks, mut shapes) = (Vec::new(), Shapes::default());
    for place in index.places.iter().filter(|place| place.kind == FileBlockKind::Code) {
        source.placed(place, raw)?;
        let mut cursor = Cursor::new(raw);
        for _ in 0..place.items {
            let block = at(place.offset, summary::block(&mut cursor))?;
            shapes.add(&block).map_err(|what| RecordError::at(place.offset, what))?;
            blocks.push(block);
        }
        at(place.offset, cursor.end())?;
    }
    Ok((blocks, shapes))
}

impl Recording {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read, is not a recording, has another version, or is damaged.
    pub fn open(path: &Path) -> Result<Recording, RecordError> {
        let unreadable =
            |error: std::io::Error| RecordError::new(format!("cannot be read: {error}"), "check the path").of(path);
        let file = File::open(path).map_err(unreadable)?;
        let about = file.metadata().map_err(unreadable)?;
        if !about.is_file() {
            return Err(RecordError::new("is no file", "give a recording made by strandline record").of(path));
        }
        let contents = Contents::new(Source::File(file, path.to_path_buf(), about.len()))?;
        Ok(Recording {
            contents: Arc::new(contents),
            edits: Arc::default(),
        })
    }

    /// Reads a recording that is in memory.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Recording, RecordError> {
        let contents = Contents::new(Source::Bytes(bytes))?;
        Ok(Recording {
            contents: Arc::new(contents),
            edits: Arc::default(),
        })
    }

    /// The same execution with these changes.
    #[must_use]
    pub fn edited(self, edits: Edits) -> Recording {
        Recording {
            edits: Arc::new(edits),
            ..self
        }
    }

    /// What is changed.
    #[must_use]
    pub fn edits(&self) -> &Edits {
        &self.edits
    }

    /// The data from its start.
    #[must_use]
    pub fn program(&self) -> &[String] {
        &self.contents.program
    }

    /// The blocks of code, by their numbers.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.contents.blocks
    }

    /// Whether its code has markers that make an access one of a lock.
    #[must_use]
    pub fn has_lock_markers(&self) -> bool {
        let signs = self.blocks().iter().flat_map(|block| signs(block.pc, &block.code));
        signs
            .map(|(_, sign)| sign)
            .any(|sign| matches!(sign, Sign::Marker(Marker::Acquire | Marker::Release)))
    }

    /// The files that were mapped as code.
    #[must_use]
    pub fn modules(&self) -> &[Module] {
        &self.contents.index.modules
    }

    /// The places in the source of the program's own instructions.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        &self.contents.lines
    }

    /// All memory that was ever persistent.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.contents.index.regions
    }

    /// The threads, in the order of their starts.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.contents.index.threads
    }

    /// Whether a thread may wait for another one.
    pub(crate) fn may_wait(&self) -> bool {
        self.threads().len() > 1
            || self
                .contents
                .index
                .places
                .iter()
                .any(|place| place.kind == FileBlockKind::Sync)
    }

    /// How often what was done.
    #[must_use]
    pub fn totals(&self) -> &Totals {
        &self.contents.index.totals
    }

    /// Warnings for the user.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.contents.index.warnings
    }

    /// Whether it ends before the program did: the program was killed, or the recorder died in it.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.warnings().iter().any(|warning| warning == INCOMPLETE)
    }

    /// The program's exit status as the shell reports it.
    #[must_use]
    pub fn status(&self) -> u64 {
        self.contents.index.status
    }

    /// Runs of accessed pages of 4 KiB that are not wholly persistent, in order.
    #[must_use]
    pub fn volatile_pages(&self) -> &[Range<u64>] {
        &self.contents.index.volatile
    }

    /// The initial pages of persistent memory, with their addresses; pages of zeros are left out.
    ///
    /// They are kept compressed; all are checked before the first is returned.
    ///
    /// # Errors
    /// The recording cannot be read or is damaged.
    pub fn initial_pages(&self) -> Result<impl Iterator<Item = (u64, Page)>, RecordError> {
        let contents = &self.contents;
        let (mut raw, mut groups) = (Vec::new(), Vec::new());
        for place in contents.places(FileBlockKind::Pages, 0) {
            contents.placed(place, &mut raw)?;
            contents.at(place.offset, pages(&raw, place.items))?;
            let packed = zstd::bulk::compress(&raw, 1);
            let packed = packed.map_err(|error| RecordError::new(format!("zstd: {error}"), ""))?;
            groups.push((packed, raw.len(), place.items));
        }
        // What was just compressed can be decompressed.
        let open = |(packed, bytes, items): (Vec<u8>, usize, u32)| {
            let raw = zstd::bulk::decompress(&packed, bytes).unwrap_or_default();
            pages(&raw, items).unwrap_or_default()
        };
        Ok(groups.into_iter().flat_map(open))
    }

    /// The steps of a thread, from its start.
    ///
    /// # Errors
    /// There is no such thread.
    pub fn stream(&self, thread: usize) -> Result<Stream, RecordError> {
        match thread < self.threads().len() {
            true => Ok(Stream::new(self.contents.clone(), thread)),
            false => Err(RecordError::new(
                format!("the recording has no thread {thread}"),
                "name one that it has",
            )),
        }
    }
}

/// The pages of a block of the file: first their addresses, then their contents.
fn pages(raw: &[u8], items: u32) -> Parsed<Vec<(u64, Page)>> {
    const ODD: Bad = Bad("a block of pages is of another size than its header says");
    let items = items as usize;
    let (addresses, contents) = raw.split_at_checked(items.saturating_mul(8)).ok_or(ODD)?;
    if contents.len() as u64 != items as u64 * PAGE_BYTES {
        return Err(ODD);
    }
    let addresses = addresses.chunks_exact(8);
    let contents = contents.chunks_exact(PAGE_BYTES as usize);
    let page = |(address, content): (&[u8], &[u8])| {
        let address = u64::from_le_bytes(address.try_into().map_err(|_| ODD)?);
        if address % PAGE_BYTES != 0 || address >= 1 << 63 {
            return Err(Bad("a page has an unaligned address"));
        }
        Ok((address, content.try_into().map_err(|_| ODD)?))
    };
    addresses.zip(contents).map(page).collect()
}
