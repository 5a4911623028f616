//! Gives a recording its name once it is complete.

use super::{collect_to, Collected};
use crate::error::RecordError;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

/// A file that is deleted unless it is renamed to its final name.
struct Unfinished {
    path: PathBuf,
    kept: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.kept {
            // A file that cannot be deleted does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A temporary name in the same folder, so that renaming is atomic.
fn beside(out: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(out.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    out.with_file_name(name)
}

/// Makes a recording of a stream in the file `out`, which exists only on success. It reports the number of instructions
/// to `progress`, about every million.
///
/// # Errors
/// The stream has another version or an impossible item, or reports that the program cannot be recorded; or the file
/// cannot be written.
pub fn collect(input: impl Read, out: &Path, progress: &mut dyn FnMut(u64)) -> Result<Collected, RecordError> {
    let unwritable =
        |error: std::io::Error| RecordError::new(format!("cannot be written: {error}"), "give a writable path").of(out);
    let path = beside(out);
    let mut unfinished = Unfinished { path, kept: false };
    let create = || File::create(&unfinished.path).map(BufWriter::new).map_err(unwritable);
    let (_, collected) = collect_to(input, create, progress)?;
    std::fs::rename(&unfinished.path, out).map_err(unwritable)?;
    unfinished.kept = true;
    Ok(collected)
}
