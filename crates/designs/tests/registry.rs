//! A design is its file, its line in the registry and its model's name; none may be missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use strandline_designs::abouts;

fn files() -> Vec<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut names: Vec<String> = fs::read_dir(src)
        .expect("the crate's sources")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a plain name")
        })
        .filter_map(|name| name.strip_suffix(".rs").map(|stem| stem.replace('_', "-")))
        .filter(|stem| stem != "lib" && stem != "registry")
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn every_file_is_registered_and_every_registered_design_has_its_file() {
    let files = files();
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
    assert_eq!(files.iter().cloned().collect::<BTreeSet<String>>(), registered);
}

#[test]
fn every_design_says_what_it_is() {
    for about in abouts() {
        for text in [about.paper, about.summary, about.model] {
            assert!(!text.is_empty(), "{}", about.name);
        }
        assert!(!about.summary.contains('\n'), "{}: one line", about.name);
        let promises = about.intents == Some("intents");
        assert_eq!(
            promises, about.promises_recovery,
            "{}: recovery relies on all intents",
            about.name
        );
    }
}
