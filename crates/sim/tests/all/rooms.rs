//! A crate uses only crates above it: the arrows of ARCHITECTURE.md, checked by `cargo metadata`.

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// The crates, from the foundation up.
const ORDER: [&str; 16] = [
    "kernel",
    "rules",
    "isa",
    "capture",
    "record",
    "design",
    "machine",
    "designs",
    "runtime",
    "workloads",
    "native",
    "order",
    "sim",
    "crash",
    "validate",
    "py",
];

/// Crates that must not use each other although their order allows it: the machine and its designs know no programs.
const NEVER: [(&str, &str); 4] = [
    ("designs", "machine"),
    ("runtime", "machine"),
    ("runtime", "design"),
    // Otherwise an edit of a design would recompile all workloads.
    ("workloads", "designs"),
];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .output()
        .expect("cargo runs");
    serde_json::from_slice(&output.stdout).expect("cargo metadata speaks JSON")
}

#[test]
fn arrows_point_one_way() {
    let rank = |room: &str| ORDER.iter().position(|r| *r == room);
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    assert_eq!(packages.len(), ORDER.len(), "every room has its place in the order");
    let mut arrows = 0;
    for package in packages {
        let room = package["name"]
            .as_str()
            .and_then(|n| n.strip_prefix("strandline-"))
            .expect("a room");
        let own = rank(room).unwrap_or_else(|| panic!("{room} has no place in the order"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let Some(used) = dependency["name"].as_str().and_then(|n| n.strip_prefix("strandline-")) else {
                continue;
            };
            assert!(
                rank(used).is_some_and(|other| other < own),
                "{room} uses {used}, which is not above it"
            );
            assert!(!NEVER.contains(&(room, used)), "{room} uses {used}");
            arrows += 1;
        }
    }
    assert!(arrows > ORDER.len(), "the rooms were found connected");
}

/// One module style: a module with submodules is a folder with `mod.rs`.
#[test]
fn no_file_has_a_folder_of_its_name() {
    let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") {
                let file = path.with_extension("rs");
                assert!(!file.exists(), "{} stands beside its folder", file.display());
                folders.push(path);
                found += 1;
            }
        }
    }
    assert!(found > 100, "the sources were found");
}
