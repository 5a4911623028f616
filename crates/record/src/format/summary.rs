//! Conversion of Meta, block definitions and index to and from bytes.

use super::bytes::{put, put_bytes, Bad, Cursor, Parsed};
use super::seal::{FileBlockKind, HEAD_BYTES};
use super::{MAX_ACCESSES, MAX_THREADS};
use crate::recording::{Block, Module, Region, Thread, Totals};
use std::ops::Range;
use strandline_capture::{Access, AccessKind, PAGE_BYTES};

/// The first two numbers of the header. Readers of this version accept no others.
const ORIGIN_AND_VALUES: [u64; 2] = [0, 1];

/// Appends the data from the start.
pub(crate) fn put_meta(out: &mut Vec<u8>, program: &[String]) {
    for number in ORIGIN_AND_VALUES {
        put(out, number);
    }
    put(out, program.len() as u64);
    for word in program {
        put_bytes(out, word.as_bytes());
    }
}

/// Reads the data from the start: the program and its arguments.
pub(crate) fn meta(raw: &[u8]) -> Parsed<Vec<String>> {
    let mut cursor = Cursor::new(raw);
    if [cursor.number()?, cursor.number()?] != ORIGIN_AND_VALUES {
        return Err(Bad("the recording is not of strandline's recorder"));
    }
    let words = cursor.count(1)?;
    let program = (0..words).map(|_| cursor.text()).collect::<Parsed<_>>()?;
    cursor.end()?;
    Ok(program)
}

fn flag(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    match cursor.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Bad("a flag is neither 0 nor 1")),
    }
}

/// Appends the definition of a block of code.
pub(crate) fn put_block(out: &mut Vec<u8>, block: &Block) {
    put(out, block.pc);
    put_bytes(out, &block.code);
    put(out, u64::from(block.instructions));
    put(out, u64::from(block.repeats));
    put(out, block.accesses.len() as u64);
    for access in &block.accesses {
        put(out, u64::from(access.instruction));
        put(out, access.kind as u64);
        put(out, u64::from(access.size));
    }
    put(out, block.fences.len() as u64);
    for fence in &block.fences {
        put(out, u64::from(*fence));
    }
}

/// Reads the definition of a block of code.
pub(crate) fn block(cursor: &mut Cursor<'_>) -> Parsed<Block> {
    let pc = cursor.number()?;
    let code = cursor.bytes()?.to_vec();
    let instructions = cursor.small()?;
    let repeats = flag(cursor)?;
    let accesses = cursor.count(3)?;
    if accesses > MAX_ACCESSES {
        return Err(Bad("a block of code has too many accesses"));
    }
    let accesses = (0..accesses).map(|_| access(cursor)).collect::<Parsed<_>>()?;
    let fences = cursor.count(1)?;
    let fences = (0..fences).map(|_| cursor.small()).collect::<Parsed<_>>()?;
    Ok(Block {
        pc,
        code,
        instructions,
        accesses,
        repeats,
        fences,
    })
}

fn access(cursor: &mut Cursor<'_>) -> Parsed<Access> {
    let instruction = cursor.small()?;
    let kind = usize::from(cursor.byte()?);
    let kind = *AccessKind::ALL
        .get(kind)
        .ok_or(Bad("an access is of an unknown kind"))?;
    Ok(Access {
        instruction,
        kind,
        size: cursor.small()?,
    })
}

/// Where a block of the file is, and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileBlockPlace {
    /// What it holds.
    pub kind: FileBlockKind,
    /// Of which thread.
    pub thread: u32,
    /// How many of it.
    pub items: u32,
    /// Bytes after its header.
    pub stored: u32,
    /// Its offset; not in the index, but the sum of the lengths before it.
    pub offset: u64,
}

impl FileBlockPlace {
    /// The place after it.
    pub fn end(&self) -> u64 {
        self.offset + HEAD_BYTES as u64 + u64::from(self.stored)
    }
}

/// The contents of a recording's last block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    pub status: u64,
    pub warnings: Vec<String>,
    pub modules: Vec<Module>,
    pub regions: Vec<Region>,
    pub threads: Vec<Thread>,
    pub totals: Totals,
    pub volatile: Vec<Range<u64>>,
    pub places: Vec<FileBlockPlace>,
}

fn put_all(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| put(out, *number));
}

/// Appends a list: its length and its items.
fn put_list<T>(out: &mut Vec<u8>, list: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
    put(out, list.len() as u64);
    for item in list {
        each(out, item);
    }
}

/// Reads a list whose items take at least `least` bytes each.
fn list<'b, T>(
    cursor: &mut Cursor<'b>,
    least: usize,
    mut each: impl FnMut(&mut Cursor<'b>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let count = cursor.count(least)?;
    (0..count).map(|_| each(cursor)).collect()
}

/// The numbers of totals, in the order of the file.
fn numbers(t: &mut Totals) -> [&mut u64; 13] {
    [
        &mut t.instructions,
        &mut t.blocks,
        &mut t.loads,
        &mut t.stores,
        &mut t.atomics,
        &mut t.stores_nt,
        &mut t.clwbs,
        &mut t.clflushopts,
        &mut t.clflushes,
        &mut t.sfences,
        &mut t.mfences,
        &mut t.tasks,
        &mut t.persistent_stores,
    ]
}

/// Adds `times` times the totals.
pub(crate) fn add(sum: &mut Totals, each: &Totals, times: u64) {
    let mut each = *each;
    for (sum, each) in numbers(sum).into_iter().zip(numbers(&mut each)) {
        *sum += *each * times;
    }
}

impl Index {
    /// Puts the index.
    pub fn put(&self, out: &mut Vec<u8>) {
        put(out, self.status);
        put_list(out, &self.warnings, |out, text| put_bytes(out, text.as_bytes()));
        put_list(out, &self.modules, |out, m| {
            put_all(out, &[m.base, m.end, m.offset]);
            put_bytes(out, m.path.as_bytes());
        });
        put_list(out, &self.regions, |out, r| {
            put_all(out, &[r.start, r.bytes, r.offset]);
            put_bytes(out, r.path.as_bytes());
        });
        put_list(out, &self.threads, |out, t| {
            put_all(out, &[t.instructions, t.steps]);
        });
        for number in numbers(&mut self.totals.clone()) {
            put(out, *number);
        }
        let mut last = 0;
        put_list(out, &self.volatile, |out, range| {
            put(out, (range.start - last) / PAGE_BYTES);
            put(out, (range.end - range.start) / PAGE_BYTES);
            last = range.end;
        });
        put_list(out, &self.places, |out, p| {
            put_all(out, &[p.kind as u32, p.thread, p.items, p.stored].map(u64::from));
        });
    }

    /// Reads an index; the first block begins at `first`.
    pub fn parse(raw: &[u8], first: u64) -> Parsed<Index> {
        let c = &mut Cursor::new(raw);
        let mut index = Index {
            status: c.number()?,
            warnings: list(c, 1, Cursor::text)?,
            modules: list(c, 4, |c| {
                Ok(Module {
                    base: c.number()?,
                    end: c.number()?,
                    offset: c.number()?,
                    path: c.text()?,
                })
            })?,
            regions: list(c, 4, region)?,
            threads: list(c, 2, |c| {
                Ok(Thread {
                    instructions: c.number()?,
                    steps: c.number()?,
                })
            })?,
            ..Index::default()
        };
        if index.threads.len() > MAX_THREADS as usize {
            return Err(Bad("there are too many threads"));
        }
        for number in numbers(&mut index.totals) {
            *number = c.number()?;
        }
        let mut last = 0;
        index.volatile = list(c, 2, |c| run(c, &mut last))?;
        let mut offset = first;
        index.places = list(c, 4, |c| place(c, &mut offset))?;
        c.end()?;
        Ok(index)
    }
}

fn region(c: &mut Cursor<'_>) -> Parsed<Region> {
    let region = Region {
        start: c.number()?,
        bytes: c.number()?,
        offset: c.number()?,
        path: c.text()?,
    };
    match region.start.checked_add(region.bytes) {
        Some(end) if end < 1 << 63 => Ok(region),
        _ => Err(Bad("a region of persistent memory has no end")),
    }
}

/// A run of pages, relative to the previous one.
fn run(c: &mut Cursor<'_>, last: &mut u64) -> Parsed<Range<u64>> {
    const FAR: Bad = Bad("a run of pages is out of range");
    let mut after = |start: u64| {
        let bytes = c.number()?.checked_mul(PAGE_BYTES).ok_or(FAR)?;
        start.checked_add(bytes).filter(|end| *end <= 1 << 63).ok_or(FAR)
    };
    let start = after(*last)?;
    *last = after(start)?;
    Ok(start..*last)
}

fn place(c: &mut Cursor<'_>, offset: &mut u64) -> Parsed<FileBlockPlace> {
    let kind = FileBlockKind::of(c.small()?).ok_or(Bad("a block is of an unknown kind"))?;
    let (thread, items, stored) = (c.small()?, c.small()?, c.small()?);
    let place = FileBlockPlace {
        kind,
        thread,
        items,
        stored,
        offset: *offset,
    };
    // No overflow: a file's index has less than 2^25 entries of less than 2^33 bytes.
    *offset = place.end();
    Ok(place)
}
