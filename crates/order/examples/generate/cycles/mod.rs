//! Litmus tests from cycles. A cycle consists of accesses, edges within threads, and communication between threads. One
//! link may be a crash, after which the last access is durable and the first one is not.

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

/// The folders of handwritten tests. No family has the instructions of `cxl0`.
const BY_HAND: [&str; 4] = ["classic", "papers", "cxl", "cxl-coherent"];

/// All generated tests: the text of each by its path in a folder such as `litmus/`. They do not repeat the handwritten
/// tests in that folder.
///
/// # Errors
/// A file cannot be read, or a handwritten test is wrong.
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

/// The folders of generated tests.
pub fn folders() -> impl Iterator<Item = &'static str> {
    family::FAMILIES.iter().map(|family| family.folder)
}

/// The texts of the tests in a folder of a shelf, by path.
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
