//! What a trace's file says of itself before its first instruction.

use super::container::visit;
use super::entry::{holds, Entry, Kind, Marker, HEADER, VERSION_ENCODINGS};
use super::{damaged, refused, TRACE_AGAIN};
use crate::RecordError;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A file of a trace: a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The file.
    pub path: PathBuf,
    /// The trace's version.
    pub version: u64,
    /// The process.
    pub process: u64,
    /// The thread, as the operating system numbered it.
    pub thread: u64,
    /// The first timestamp, if one comes before the first instruction.
    pub began: Option<u64>,
}

/// What is known so far.
#[derive(Default)]
struct Found {
    version: Option<u64>,
    file_type: Option<u64>,
    process: Option<u64>,
    thread: Option<u64>,
    began: Option<u64>,
    complete: bool,
}

/// Reads the beginning of a file.
///
/// # Errors
/// It is no trace that can be imported: one line says why and what to run instead.
pub fn read(path: &Path) -> Result<Head, RecordError> {
    let mut found = Found::default();
    let end = visit(path, &mut |offset, entry| {
        found.take(offset, entry).map_err(|error| error.placed(offset))
    })?;
    if !found.complete {
        return Err(damaged(end, "it ends before its first instruction").of(path));
    }
    found.head(path).map_err(|error| error.of(path))
}

const CONVERT: &str = "trace the program again with -offline and a DynamoRIO of 2023 or later (10.0 and on)";

impl Found {
    fn take(&mut self, offset: u64, entry: Entry) -> Result<ControlFlow<()>, RecordError> {
        let kind = Kind::of(entry.kind);
        if offset == 0 {
            self.version = Some(version(entry)?);
            return Ok(ControlFlow::Continue(()));
        }
        match kind {
            Some(Kind::Thread) => self.thread = Some(entry.value),
            Some(Kind::Process) => self.process = Some(entry.value),
            Some(Kind::Marker) => match Marker::of(entry.size) {
                Marker::Version => self.version = Some(entry.value),
                Marker::FileType => self.file_type = Some(entry.value),
                Marker::Time => self.began = self.began.or(Some(entry.value)),
                _ => {}
            },
            None => {
                return Err(refused(
                    format!("there is an unknown record (kind {})", entry.kind),
                    TRACE_AGAIN,
                ))
            }
            // An instruction, or what belongs to one: the head has ended, as it has in a thread that executed nothing.
            Some(_) => self.complete = true,
        }
        let known = self.file_type.is_some() && self.thread.is_some() && self.process.is_some();
        self.complete |= known && self.began.is_some();
        Ok(match self.complete {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }

    fn head(&self, path: &Path) -> Result<Head, RecordError> {
        let version = self.version.unwrap_or(0);
        self.check(version)?;
        let missing = || refused("does not say of which process and thread it is", TRACE_AGAIN);
        Ok(Head {
            path: path.to_owned(),
            version,
            process: self.process.ok_or_else(missing)?,
            thread: self.thread.ok_or_else(missing)?,
            began: self.began,
        })
    }

    fn check(&self, version: u64) -> Result<(), RecordError> {
        let file_type = self.file_type.unwrap_or(0);
        let says = |bits: u64| file_type & bits != 0;
        let foreign = [
            (holds::AARCH64, "a program of 64-bit ARM"),
            (holds::ARM32, "a program of 32-bit ARM"),
            (holds::X86_32, "a program of 32-bit x86"),
        ];
        for (bit, what) in foreign {
            if says(bit) {
                return Err(refused(format!("traces {what}"), "trace a program of x86-64"));
            }
        }
        if version < VERSION_ENCODINGS || !says(holds::ENCODINGS) {
            let what = format!("holds no machine code (version {version} of the trace format)");
            return Err(refused(what, CONVERT));
        }
        if !says(holds::X86_64) {
            return Err(refused(
                "does not trace a program of x86-64",
                "trace a program of x86-64",
            ));
        }
        if says(holds::FILTERED) {
            return Err(refused(
                "holds only some of the accesses (it was filtered)",
                "trace without -L0_filter and record_filter",
            ));
        }
        if says(holds::INSTRUCTIONS_ONLY) {
            return Err(refused("holds no accesses", "trace without -instr_only_trace"));
        }
        Ok(())
    }
}

/// The version in the first record.
fn version(entry: Entry) -> Result<u64, RecordError> {
    if entry.kind != HEADER {
        let mend = "give a final drmemtrace trace; a raw one is made final by: drraw2trace -indir DIR";
        return Err(refused("is no final drmemtrace trace", mend));
    }
    // Records of 32-bit programs have eight bytes: the next record begins in the middle of this value.
    if entry.value > u64::from(u16::MAX) {
        return Err(refused(
            "traces a 32-bit program, or is no drmemtrace trace",
            "trace a program of x86-64",
        ));
    }
    Ok(entry.value)
}
