//! Branches have unique addresses: the numbers that `sites!` declares, in all crates.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A declared site.
struct Declared {
    file: PathBuf,
    name: String,
    number: u32,
    /// Branches that stand there.
    branches: usize,
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace") {
        let path = entry.expect("a file of the workspace").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The sites of a file.
fn declared(file: &Path) -> Vec<Declared> {
    let text = std::fs::read_to_string(file).expect("a source is text");
    let Some((_, block)) = text.split_once("\nsites! {\n") else {
        return Vec::new();
    };
    let (block, _) = block.split_once("\n}").expect("the block ends");
    block
        .lines()
        .map(|line| {
            let (name, number) = line
                .trim()
                .trim_end_matches(';')
                .split_once(" = ")
                .expect("NAME = 0x..;");
            let digits = number.trim_start_matches("0x").replace('_', "");
            Declared {
                file: file.to_owned(),
                name: name.to_owned(),
                number: u32::from_str_radix(&digits, 16).expect("a hexadecimal number"),
                branches: text.matches(&format!(".branch({name})")).count(),
            }
        })
        .collect()
}

#[test]
fn every_branch_stands_at_a_number_of_its_own() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut files);
    let all: Vec<Declared> = files.iter().flat_map(|file| declared(file)).collect();
    assert!(all.len() > 100, "only {} sites were found", all.len());

    let mut taken = HashMap::from([(0, "what a new branch is given until it has a number".to_owned())]);
    let free = (1u32..)
        .map(|n| n.wrapping_mul(0x9e37_79b1))
        .find(|number| all.iter().all(|site| site.number != *number))
        .expect("most numbers are free");
    for site in &all {
        let name = format!("{} of {}", site.name, site.file.display());
        assert!(
            site.branches <= 1,
            "{name} is the place of {} branches: give each its own",
            site.branches
        );
        if let Some(other) = taken.get(&site.number) {
            panic!("{name} has the number of {other}: {free:#x} is free");
        }
        taken.insert(site.number, name);
    }
}
