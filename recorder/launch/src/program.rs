//! Finds the program as a shell does, and refuses programs that DynamoRIO cannot load.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file to load.
///
/// # Errors
/// One line with the error.
pub fn find(name: &OsStr) -> Result<PathBuf, String> {
    let path = located(name).ok_or_else(|| {
        format!(
            "{}: no such program, or it may not be executed",
            Path::new(name).display()
        )
    })?;
    let path = std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    check(&path)?;
    Ok(path)
}

fn located(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| executable(path));
    }
    let folders = env::var_os("PATH").unwrap_or(OsString::from("/usr/local/bin:/usr/bin:/bin"));
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| executable(path))
}

fn executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

/// An x86-64 ELF file, by its first bytes, its class (64 bits) and its machine (62).
fn check(path: &Path) -> Result<(), String> {
    let mut head = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if head.starts_with(b"#!") {
        return Err(format!(
            "{}: a script cannot be recorded: name its interpreter",
            path.display()
        ));
    }
    match read.is_ok() && head.starts_with(b"\x7fELF\x02") && head[18] == 62 && head[19] == 0 {
        true => Ok(()),
        false => Err(format!("{}: not an x86-64 program", path.display())),
    }
}
