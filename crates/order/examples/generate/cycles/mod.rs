//! Litmus tests from cycles: of accesses, of what orders those of a thread, and of communication between threads. One
//! link of a cycle may be a crash, which finds the last access durable and the first one not.

mod build;
mod canon;
mod code;
mod edge;
mod family;
mod judge;
mod select;
mod shape;

use std::collections::BTreeMap;
use std::path::Path;
use strandline_order::Fault;

/// The folders of the tests that are written by hand.
const BY_HAND: [&str; 2] = ["classic", "papers"];

/// All generated tests: the text of each by its path in a folder such as `litmus/`, which has the tests by hand that
/// they are not to repeat.
///
/// # Errors
/// A file cannot be read, or a test by hand is wrong.
pub fn generate(shelf: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut by_hand = BTreeMap::new();
    for folder in BY_HAND {
        by_hand.extend(tests_in(shelf, folder)?);
    }
    let texts: Vec<String> = by_hand.into_values().collect();
    generate_beside(&texts).map_err(|fault| fault.to_string())
}

fn generate_beside(by_hand: &[String]) -> Result<BTreeMap<String, String>, Fault> {
    let judge = judge::Judge::new()?;
    let mut kept = select::Kept::by_hand(by_hand)?;
    let mut files = BTreeMap::new();
    for family in family::FAMILIES {
        for (name, text) in kept.of_family(family, &judge)? {
            files.insert(format!("{}/{name}.litmus", family.folder), text);
        }
    }
    Ok(files)
}

/// The folders that the generated tests are in.
pub fn folders() -> impl Iterator<Item = &'static str> {
    family::FAMILIES.iter().map(|family| family.folder)
}

/// The texts of the tests in a folder of a shelf, by their paths.
///
/// # Errors
/// A file cannot be read.
pub fn tests_in(shelf: &Path, folder: &str) -> Result<BTreeMap<String, String>, String> {
    let path = shelf.join(folder);
    let fault = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&path).map_err(fault)? {
        let name = entry.map_err(fault)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".litmus") {
            let text = std::fs::read_to_string(path.join(&name)).map_err(fault)?;
            found.insert(format!("{folder}/{name}"), text);
        }
    }
    Ok(found)
}
