//! CONTRIBUTING.md lists the files that name every design, every primitive, every workload. A new one must be named in
//! each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use strandline_isa::Primitive;

/// Folders of generated, recorded or paper-specific files, besides hidden ones; and the changelog.
const LEFT_OUT: [&str; 9] = [
    "target",
    "out",
    "litmus",
    "recordings",
    "reference",
    "experiments",
    "shelf",
    "__snapshots__",
    "CHANGELOG.md",
];

/// The spellings of one item.
type Words = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Text files below a folder, with their path from the root and their text.
fn texts(folder: &Path, below: &str, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let entry = entry.expect("a file of the repository");
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let path = format!("{below}{name}");
        if entry.path().is_dir() {
            texts(&entry.path(), &format!("{path}/"), found);
        } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
            found.push((path, text));
        }
    }
}

/// The files that name all items of a kind.
fn naming_all(kind: &[Words]) -> BTreeSet<String> {
    let mut files = Vec::new();
    texts(&root(), "", &mut files);
    let names_all = |text: &str| {
        let words: BTreeSet<&str> = text
            .split(|letter: char| !(letter.is_alphanumeric() || "-_".contains(letter)))
            .collect();
        kind.iter()
            .all(|one| one.iter().any(|word| words.contains(word.as_str())))
    };
    let all = files.into_iter().filter(|(_, text)| names_all(text));
    all.map(|(path, _)| path).collect()
}

/// The files that the section lists, in the paragraph with this beginning.
fn given(section: &str, beginning: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it is there");
    let heading = format!("\n## {section}\n");
    let (_, rest) = text.split_once(&heading).expect("CONTRIBUTING.md has the section");
    let section = rest.split("\n## ").next().unwrap_or_default();
    let (_, rest) = section.split_once(beginning).expect("the section has the paragraph");
    let paragraph = rest.split("\n\n").next().unwrap_or_default();
    paragraph.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn check(section: &str, beginning: &str, kind: &[Words]) {
    let (expected, given) = (naming_all(kind), given(section, beginning));
    if let Some(file) = expected.difference(&given).next() {
        panic!("CONTRIBUTING.md, \"{section}\", does not name {file}, which names every other one");
    }
    if let Some(file) = given.difference(&expected).next() {
        panic!("CONTRIBUTING.md, \"{section}\", names {file}, which does not name every one");
    }
}

/// The spellings on the command line and in the source.
fn both(name: &str) -> Words {
    vec![name.to_owned(), name.replace('-', "_")]
}

#[test]
fn all_that_a_new_design_touches_is_listed() {
    let designs: Vec<Words> = strandline_designs::abouts()
        .iter()
        .map(|about| both(about.name))
        .collect();
    check("How to add a design", "Every design is named in", &designs);
}

#[test]
fn all_that_a_new_primitive_touches_is_listed() {
    let event = |primitive: &Primitive| {
        let variant = format!("{primitive:?}").replace("(0)", "");
        Some(vec![variant, primitive.event()?.to_owned()])
    };
    let primitives: Vec<Words> = Primitive::ALL.iter().filter_map(event).collect();
    check("How to add a primitive", "Every primitive is named in", &primitives);
}

#[test]
fn all_that_a_new_workload_touches_is_listed() {
    let workloads: Vec<Words> = strandline_workloads::names()
        .iter()
        .map(|about| about.names().flat_map(both).collect())
        .collect();
    check("How to add a workload", "Every workload is named in", &workloads);
}
