//! Traces of other tools become recordings: DynamoRIO's `drmemtrace`.
//!
//! A trace says which instructions each thread executed, with their machine code, and where their accesses went. It does not hold
//! the bytes that stores wrote, nor in which order atomics of several threads performed. So a recording made of it is good for
//! timing only ([`crate::Meta::values`] is false).

mod blocks;
mod container;
mod entry;
mod find;
mod head;
mod instruction;
mod order;
#[cfg(test)]
mod tests;
mod thread;

use crate::collect::write_whole;
use crate::ranges::Ranges;
use crate::recording::{Origin, Region, Totals};
use crate::{Ending, Meta, RecordError, Recording, Writer};
use head::Head;
use order::Order;
use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;
use thread::Shared;

/// What the user says of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Addresses that are persistent memory ([`range_of`]).
    pub persistent: Vec<Range<u64>>,
}

/// What an import made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// How long the recording is, in bytes.
    pub bytes: u64,
    /// The traced program, as far as the trace's name tells.
    pub program: Vec<String>,
    /// Threads.
    pub threads: usize,
    /// What was executed.
    pub totals: Totals,
    /// What the user should know, each in a line.
    pub warnings: Vec<String>,
}

const TRACE_AGAIN: &str = "make the trace again";

/// A damaged place of a trace.
fn damaged(offset: u64, what: impl Into<String>) -> RecordError {
    RecordError::new(what, TRACE_AGAIN).placed(offset)
}

/// What cannot be imported.
fn refused(what: impl Into<String>, mend: impl Into<String>) -> RecordError {
    RecordError::new(what, mend)
}

/// The addresses that `START:END` says, each as `0x...` or decimal; the end is not among them.
///
/// # Errors
/// It says none.
pub fn range_of(text: &str) -> Result<Range<u64>, RecordError> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let range = text
        .split_once(':')
        .and_then(|(start, end)| Some(number(start)?..number(end)?));
    let range = range.filter(|range| range.start < range.end && range.end < 1 << 63);
    range.ok_or_else(|| {
        refused(
            format!("--pm-range {text}: is no range of addresses"),
            "say it as 0xSTART:0xEND",
        )
    })
}

/// Reads a final trace of `drmemtrace` (a thread's file, or the folder of a trace) and writes a recording without values to `out`,
/// whole or not at all. `progress` is told how many instructions were read.
///
/// Memory: the program's code, some megabytes a thread, and each access by which threads synchronise.
///
/// # Errors
/// The trace is damaged or cannot be imported, or `out` cannot be written: one line says what, where and what to do.
pub fn drmemtrace(
    path: &Path,
    out: &Path,
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<Imported, RecordError> {
    let heads = heads(path)?;
    let meta = Meta {
        origin: Origin::Drmemtrace,
        program: heads.iter().take(1).map(|head| find::program(&head.path)).collect(),
        values: false,
    };
    write_whole(out, |file| write(&heads, &meta, file, options, progress))?;
    let recording = Recording::open(out)?;
    Ok(Imported {
        bytes: std::fs::metadata(out).map_or(0, |file| file.len()),
        program: meta.program,
        threads: recording.threads().len(),
        totals: *recording.totals(),
        warnings: recording.warnings().to_vec(),
    })
}

/// What the files of a trace say of themselves, in the order in which their threads began.
fn heads(path: &Path) -> Result<Vec<Head>, RecordError> {
    let files = find::files(path)?;
    let mut heads = files
        .iter()
        .map(|file| head::read(file))
        .collect::<Result<Vec<Head>, _>>()?;
    heads.sort_by(|a, b| (a.began, a.thread, &a.path).cmp(&(b.began, b.thread, &b.path)));
    match heads.windows(2).find(|pair| pair[0].process != pair[1].process) {
        Some(pair) => {
            let what = format!("holds processes {} and {}", pair[0].process, pair[1].process);
            Err(refused(what, "give the trace of one of them").of(path))
        }
        None => Ok(heads),
    }
}

fn write(
    heads: &[Head],
    meta: &Meta,
    out: BufWriter<File>,
    options: &ImportOptions,
    progress: &mut dyn FnMut(u64),
) -> Result<(), RecordError> {
    let mut shared = Shared {
        writer: Writer::new(out, meta)?,
        blocks: blocks::Blocks::default(),
        persistent: Ranges::default(),
        order: (heads.len() > 1).then(Order::default),
        kernel: 0,
        gaps: false,
        instructions: 0,
        progress,
    };
    for range in &options.persistent {
        shared.persistent.add(range.clone());
        shared.writer.region(Region {
            start: range.start,
            bytes: range.end - range.start,
            offset: 0,
            path: String::new(),
        });
    }
    let mut fences = Vec::new();
    for (thread, head) in (0..).zip(heads) {
        fences.push(thread::import(&mut shared, thread, head)?);
    }
    if shared.instructions == 0 {
        return Err(refused("holds no instruction", TRACE_AGAIN).of(&heads[0].path));
    }
    let ending = ending(&mut shared, heads, fences, options);
    shared.writer.finish(ending).map(drop)
}

fn ending<W: std::io::Write>(
    shared: &mut Shared<'_, W>,
    heads: &[Head],
    fences: Vec<Vec<crate::FenceClass>>,
    options: &ImportOptions,
) -> Ending {
    let warnings = warnings(shared, heads, options);
    let mut ending = Ending {
        warnings,
        fences,
        ..Ending::default()
    };
    if let Some(order) = &mut shared.order {
        let began: Vec<Option<u64>> = heads.iter().map(|head| head.began).collect();
        ending.turns = order.turns(heads.len());
        ending.waits = order.waits(&began);
    }
    // The recording does not know of threads after the last one that did something.
    let known = (0..heads.len()).rfind(|thread| shared.writer.steps(*thread as u32) > 0);
    let known = known.map_or(0, |last| last + 1);
    ending.fences.truncate(known);
    ending.turns.truncate(known);
    ending.waits.truncate(known);
    ending
}

fn warnings<W: std::io::Write>(shared: &Shared<'_, W>, heads: &[Head], options: &ImportOptions) -> Vec<String> {
    let mut warnings = vec!["the trace holds no values: the recording is good for timing only".to_owned()];
    let mut warn = |when: bool, what: &str| {
        if when {
            warnings.push(what.to_owned());
        }
    };
    warn(
        options.persistent.is_empty(),
        "no memory is persistent: name it by --pm-range START:END",
    );
    if let Some(order) = &shared.order {
        warn(
            order.untimed,
            "a thread has no timestamps: the order of atomics of different threads is not kept",
        );
        warn(
            !order.untimed,
            "the order of atomics of different threads is estimated from timestamps",
        );
    }
    warn(
        shared.kernel > 0,
        &format!("{} instructions of the kernel were left out", shared.kernel),
    );
    warn(shared.gaps, "the trace has several windows, with gaps between them");
    let newest = heads.iter().map(|head| head.version).max().unwrap_or(0);
    warn(
        newest > entry::VERSION_KNOWN,
        &format!("the trace has version {newest}, newer than what is known here"),
    );
    warnings
}
