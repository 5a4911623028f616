//! A recording gets its name when it is complete.

use super::{collect_to, Collected};
use crate::error::RecordError;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

/// A file that is removed unless it was given its name.
struct Unfinished {
    path: PathBuf,
    kept: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.kept {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A name beside the file, so that giving it the file's name is one step.
fn beside(out: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(out.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    out.with_file_name(name)
}

/// Makes a recording of a stream in the file `out`, which is there only if all went well. `progress` is told the instructions so
/// far, about every million.
///
/// # Errors
/// The stream is of another version, says what cannot be, or says that the program did what cannot be recorded; or the file cannot be
/// written.
pub fn collect(input: impl Read, out: &Path, progress: &mut dyn FnMut(u64)) -> Result<Collected, RecordError> {
    let unwritable = |error: std::io::Error| {
        RecordError::new(
            format!("cannot be written: {error}"),
            "give a place that can be written",
        )
        .of(out)
    };
    let path = beside(out);
    let file = File::create(&path).map_err(unwritable)?;
    let mut unfinished = Unfinished { path, kept: false };
    let (_, collected) = collect_to(input, BufWriter::new(file), progress)?;
    std::fs::rename(&unfinished.path, out).map_err(unwritable)?;
    unfinished.kept = true;
    Ok(collected)
}
