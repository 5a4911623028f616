//! A design is its file, its line in the registry and its model's name; none may be missing.

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
    let mut registered: Vec<String> = abouts().iter().map(|about| about.name.to_owned()).collect();
    registered.sort_unstable();
    assert_eq!(files(), registered);
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
