//! A design has its file in its family's folder, its line in the registry and its model's name;
//! none may be missing. Families use parts and no other family.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use strandline_design::Sizes;
use strandline_designs::{abouts, design, own_counters_of_all};

/// The modules that several families use.
const PARTS: &str = "parts";

/// The folder of the machine for tests of designs.
const MOCK: &str = "mock";

fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the crate's sources");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort_unstable();
    paths
}

/// The folders of `src`: the families, and the parts.
fn folders() -> Vec<PathBuf> {
    entries(&src()).into_iter().filter(|path| path.is_dir()).collect()
}

/// The source files of a folder and of those in it, each with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            let text = fs::read_to_string(&path).expect("a source file");
            found.push((path, text));
        }
    }
    found
}

/// The files and folders in families that define a design: their names, with `-` for `_`.
fn files_of_designs() -> BTreeSet<String> {
    let families = folders().into_iter().filter(|folder| stem(folder) != PARTS);
    let says_what_it_is = |path: &PathBuf| {
        let texts = match path.is_dir() {
            true => sources(path),
            false => vec![(path.clone(), fs::read_to_string(path).expect("a source file"))],
        };
        texts.iter().any(|(_, text)| text.contains("summary: \""))
    };
    let files = families.flat_map(|family| entries(&family)).filter(says_what_it_is);
    // A family of one design is its folder.
    let name = |path: PathBuf| match stem(&path).as_str() {
        "mod" => stem(path.parent().expect("a family's folder")),
        own => own.to_owned(),
    };
    files.map(|path| name(path).replace('_', "-")).collect()
}

#[test]
fn every_file_is_registered_and_every_registered_design_has_its_file() {
    let files = files_of_designs();
    // One mechanism under several models is one file: `hops` has `hops-ep` and `hops-rp`.
    let file_of = |name: &str| {
        let family = files.iter().find(|file| {
            name.strip_prefix(file.as_str())
                .is_some_and(|model| model.starts_with('-'))
        });
        let own = files.iter().find(|file| *file == name);
        own.or(family).cloned().unwrap_or_else(|| panic!("{name} has no file"))
    };
    let registered: BTreeSet<String> = abouts().iter().map(|about| file_of(about.name)).collect();
    assert_eq!(files, registered);
}

/// `sp` and `sp-adr` count the same.
#[test]
fn a_counter_that_designs_share_is_one_key() {
    let counters = own_counters_of_all();
    let names: BTreeSet<&str> = counters.iter().map(|counter| counter.name).collect();
    assert_eq!(names.len(), counters.len());
}

#[test]
fn a_buffer_is_a_structure_and_holds_no_more_than_that() {
    let sizes = Sizes {
        hosts: 2,
        cores: 3,
        controllers: 2,
        store_queue_entries: 8,
        writeback_buffer_entries: 8,
        wpq_entries: 16,
        private_bytes: 1 << 15,
        shared_bytes: 1 << 20,
    };
    for design in abouts().iter().filter_map(|about| design(about.name)) {
        let storage = design.storage(&sizes);
        for held in design.buffers(&sizes) {
            let structure = storage.iter().find(|(name, _)| *name == held.name);
            assert!(
                structure.is_some_and(|(_, bytes)| held.bytes <= *bytes),
                "{}: {held:?}",
                design.about().name
            );
        }
    }
}

#[test]
fn no_family_uses_another_and_parts_use_none() {
    let folders = folders();
    let families: Vec<String> = folders
        .iter()
        .map(|folder| stem(folder))
        .filter(|name| name != PARTS && name != MOCK)
        .collect();
    assert!(families.len() > 1, "the families were found");
    let mut uses_of_parts = 0;
    for folder in &folders {
        let own = stem(folder);
        for (path, text) in sources(folder) {
            for other in families.iter().filter(|other| **other != own) {
                let used = text.contains(&format!("crate::{other}"));
                assert!(!used, "{} uses the family {other}", path.display());
            }
            uses_of_parts += usize::from(own != PARTS && text.contains("crate::parts::"));
        }
    }
    assert!(uses_of_parts > 0, "a use is found as it is written");
}

#[test]
fn every_design_says_what_it_is() {
    for about in abouts() {
        for text in [about.paper, about.summary, about.model] {
            assert!(!text.is_empty(), "{}", about.name);
        }
        assert!(!about.summary.contains('\n'), "{}: one line", about.name);
        let promises = matches!(about.intents, Some("intents" | "intents-sections"));
        assert_eq!(
            promises, about.promises_recovery,
            "{}: recovery relies on all intents",
            about.name
        );
        assert!(
            about.promises_recovery || about.is_bound(),
            "{}: nobody builds what does not recover",
            about.name
        );
    }
}
