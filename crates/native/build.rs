//! Makes synchronous code of the workloads: the same source files, without `async` and `await`.
//!
//! The simulator suspends a program at each memory access, so its source is `async`. A native program never suspends.
//! But the compiler would still keep the state of an `async` function in memory, at ten times the instructions. The
//! replacements of [`straight`] are the only difference; the result is compiled as `crate::source`.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The crates whose files become synchronous code: all of them, of which `crate::source` includes the ones that it
/// uses.
const ROOMS: [&str; 3] = ["isa", "runtime", "workloads"];

/// Functions that stay calls in programs, as logging a store is in a compiled one. A tree changes at many places;
/// inlining this code at each would take the compiler minutes.
const CALLED: &[&str] = &[
    "pub fn write(&mut self",
    "pub fn end(&mut self",
    "pub(crate) fn take_other<",
    "pub(crate) fn leave_other<",
    "pub fn rand<",
    "pub fn malloc<",
    "pub fn free<",
    "pub fn obtain(",
    "pub fn give(",
    "pub fn search_unsorted(",
    "pub fn unlink(",
];

/// Workloads that log ahead of their writes, and what they share. Natively, only the undo log exists.
const LOGGED_AHEAD: &[&str] = &[
    "avl_tree",
    "b_tree",
    "chain",
    "graph",
    "linked_list",
    "sp_hashmap",
    "sp_rb_tree",
    "string_swap",
    "structures",
    "trees",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    for room in ROOMS {
        let from = rooms.join(room).join("src");
        println!("cargo::rerun-if-changed={}", from.display());
        let to = out.join(room);
        // A file that has moved must not stay where it was.
        if to.exists() {
            fs::remove_dir_all(&to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
        }
        straighten(&from, &to, room).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    }
}

/// Writes the synchronous code of a folder's files.
fn straighten(from: &Path, to: &Path, room: &str) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let stem = from.file_stem().unwrap_or_default().to_string_lossy();
        if room == "workloads" && LOGGED_AHEAD.contains(&&*stem) {
            continue;
        }
        if from.is_dir() {
            straighten(&from, &to, room)?;
        } else {
            fs::write(to, straight(&fs::read_to_string(from)?, room))?;
        }
    }
    Ok(())
}

/// The file without suspension.
fn straight(source: &str, room: &str) -> String {
    // Tests run on the original.
    let program = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = program.lines().filter(|line| !line.starts_with("//!"));
    let lines = lines.filter(|line| room != "workloads" || !LOGGED_AHEAD.iter().any(|module| names(line, module)));
    let mut text = String::new();
    for line in lines {
        // One inlined body per task, so that constants and the log's state are known at every use.
        let has_attribute = text.trim_end().ends_with("#[inline]") || text.trim_end().ends_with("#[inline(always)]");
        // A trait's method without a body cannot have one.
        if line.contains("async fn ") && !has_attribute && !line.ends_with(';') {
            text += "#[inline(always)]\n";
        }
        text += line;
        text += "\n";
    }
    let text = text
        .replace(".await", "")
        .replace("Box::pin(", "(")
        .replace("async fn ", "fn ")
        .replace("async move {", "{")
        .replace("#[inline]", "#[inline(always)]");
    let text = CALLED.iter().fold(text, |text, called| {
        let inlined = format!("#[inline(always)]\n    {called}");
        text.replace(&inlined, &inlined.replace("always", "never"))
    });
    results(&text)
        .replace("crate::", &format!("crate::source::{room}::"))
        .replace("strandline_isa::", "crate::source::isa::")
        .replace("strandline_runtime::", "crate::source::runtime::")
}

/// Whether a line declares a module, or registers its workload.
fn names(line: &str, module: &str) -> bool {
    let line = line.trim_start().trim_start_matches("pub ");
    line == format!("mod {module};") || line.starts_with(&format!("crate::{module}::"))
}

/// `impl Future<Output = T>`, with or without `+ use<...>`, becomes `T`.
fn results(text: &str) -> String {
    const FUTURE: &str = "impl Future<Output = ";
    let Some((before, after)) = text.split_once(FUTURE) else {
        return text.to_owned();
    };
    let (output, rest) = after.split_at(closing(after));
    let rest = &rest[1..];
    let rest = match rest.strip_prefix(" + use<") {
        Some(captures) => &captures[closing(captures) + 1..],
        None => rest,
    };
    format!("{before}{output}{}", results(rest))
}

/// The position of the bracket that closes the one before `text`.
fn closing(text: &str) -> usize {
    let mut open = 1;
    let mut last = ' ';
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => open += 1,
            '>' if last != '-' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return at;
        }
        last = letter;
    }
    panic!("a bracket is never closed");
}
