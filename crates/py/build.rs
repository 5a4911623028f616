//! Sets `STRANDLINE_COMMIT` to the commit of this build. Only this crate is rebuilt when it changes.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// The files that affect the simulator, relative to the workspace.
const SOURCES: [&str; 5] = ["crates", "models", "litmus", "Cargo.toml", "Cargo.lock"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    // A new commit changes these files. A missing file would rerun this script on each build.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&root, &["rev-parse", "--path-format=absolute", "--git-path", name]);
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = commit(&root).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=STRANDLINE_COMMIT={commit}");
}

/// The checked-out commit, and a number that identifies uncommitted changes.
fn commit(root: &Path) -> Option<String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        // An unpacked archive inside another project's checkout.
        return None;
    }
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let status = git(root, &[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    if status.is_empty() {
        return Some(commit);
    }
    let changes = git(root, &[&["diff", "HEAD", "--"], &SOURCES[..]].concat())?;
    let mut hash = DefaultHasher::new();
    (status, changes).hash(&mut hash);
    Some(format!("{commit}-dirty-{:08x}", hash.finish() as u32))
}

/// The output of git; `None` without git or a checkout.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let said = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    said.status
        .success()
        .then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}
