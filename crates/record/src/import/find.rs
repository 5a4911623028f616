//! The files of a trace.

use super::refused;
use crate::RecordError;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a trace, one a thread: the path itself, or those of the folder, or those of its folder `trace`; sorted.
///
/// # Errors
/// There are none.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, RecordError> {
    find(path).map_err(|error| error.of(path))
}

fn find(path: &Path) -> Result<Vec<PathBuf>, RecordError> {
    let unreadable = |error: std::io::Error| refused(format!("cannot be read: {error}"), "give a drmemtrace trace");
    if !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let inner = path.join("trace");
    let folder = if inner.is_dir() { &inner } else { path };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if is_trace(&file) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(match path.join("raw").is_dir() || path.ends_with("raw") {
            true => refused(
                "is a raw trace that was not made final",
                "run: drraw2trace -indir DIR, or analyse it once: drrun -t drmemtrace -indir DIR",
            ),
            false => refused(
                "holds no trace (no file *.trace.zip, .gz, .lz4, .zst or *.trace)",
                "give the folder drmemtrace.*.dir",
            ),
        });
    }
    Ok(files)
}

/// Whether a file holds a thread: schedules and lists of modules lie beside them.
fn is_trace(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.is_file() && (name.contains(".trace.") || name.ends_with(".trace"))
}

/// The traced program: `APP` of `drmemtrace.APP.TID.NNNN.trace.zip`, or else the file's stem.
pub fn program(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split(".trace").next().unwrap_or(&name);
    let inner = stem.strip_prefix("drmemtrace.").unwrap_or(stem);
    let numbers = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts: Vec<&str> = inner.split('.').collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| numbers(part)) {
        parts.pop();
    }
    parts.join(".")
}
