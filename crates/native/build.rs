//! Makes straight code of the workloads: the same source files, without `async` and `await`.
//!
//! The simulator suspends a program wherever it reaches memory, so its source is `async`. A native program never
//! suspends, but the compiler keeps the state of an `async` function in memory all the same: ten times the instructions.
//! The replacements of [`straight`] are all that differs; what they yield is compiled as `crate::source`.

use std::path::{Path, PathBuf};

/// The files by room: what is `async`, or built from types of such files.
const FILES: &[(&str, &[&str])] = &[
    ("isa", &["cpu", "value"]),
    (
        "runtime",
        &[
            "alloc",
            "heap",
            "layout",
            "list",
            "lock",
            "log",
            "model/entry",
            "model/layout",
            "model/ledger",
            "model/replay",
            "model/rollback",
            "model/scan",
            "model/set",
            "random",
            "recovery",
            "region",
            "runtimes",
            "thread",
            "workload",
        ],
    ),
    (
        "workloads",
        &[
            "bandwidth",
            "cq/check",
            "cq/mod",
            "cq/task",
            "filler",
            "hashmap/check",
            "hashmap/mod",
            "hashmap/task",
            "list",
            "nstore/check",
            "nstore/index",
            "nstore/mod",
            "nstore/task",
            "nstore/zipf",
            "operations",
            "pc",
            "rb_tree/check",
            "rb_tree/mod",
            "rb_tree/tree",
            "registry",
            "sps",
            "tatp",
            "tpcc/check",
            "tpcc/mod",
            "tpcc/tables",
            "tpcc/task",
        ],
    ),
];

/// Functions that stay calls in programs, as logging a store does in a compiled one: a tree is changed at so many places that
/// having this code at each would take the compiler minutes.
const CALLED: &[&str] = &["pub fn write(&mut self", "pub fn end(&mut self"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    for (room, files) in FILES {
        for file in *files {
            let from = rooms.join(room).join("src").join(file).with_extension("rs");
            println!("cargo::rerun-if-changed={}", from.display());
            let source = std::fs::read_to_string(&from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
            let to = out.join(room).join(file).with_extension("rs");
            std::fs::create_dir_all(to.parent().expect("a folder")).expect("cargo's folder takes folders");
            std::fs::write(&to, straight(&source, room)).expect("cargo's folder takes files");
        }
    }
}

/// The file without suspension.
fn straight(source: &str, room: &str) -> String {
    // Tests run on the original.
    let program = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = program.lines().filter(|line| !line.starts_with("//!"));
    let mut text = String::new();
    for line in lines {
        // One piece of code of a task, so that constants and the log's state are known wherever they are used.
        let has_attribute = text.trim_end().ends_with("#[inline]") || text.trim_end().ends_with("#[inline(always)]");
        if line.contains("async fn ") && !has_attribute {
            text += "#[inline(always)]\n";
        }
        text += line;
        text += "\n";
    }
    let text = text
        .replace(".await", "")
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

/// Where the bracket is closed that was opened before `text`.
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
