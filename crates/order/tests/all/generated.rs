//! The shelf of litmus tests: generated tests are up to date, and every condition is true.

#[path = "../../examples/generate/cycles/mod.rs"]
mod cycles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use strandline_order::litmus::Class;
use strandline_order::{allowed, Model, Test};

fn shelf() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus")
}

fn tests_in(folder: &str) -> BTreeMap<String, String> {
    cycles::tests_in(&shelf(), folder).unwrap_or_else(|message| panic!("{message}"))
}

#[test]
fn generating_again_gives_what_stands_on_the_shelf() {
    let generated = cycles::generate(&shelf()).unwrap_or_else(|message| panic!("{message}"));
    let standing: BTreeMap<String, String> = cycles::folders().flat_map(tests_in).collect();
    let names = |tests: &BTreeMap<String, String>| tests.keys().cloned().collect::<BTreeSet<_>>();
    let hint = "run `cargo run --release -p strandline-order --example generate -- litmus`";
    assert_eq!(names(&generated), names(&standing), "{hint}");
    for (path, text) in &generated {
        assert_eq!(text, &standing[path], "{path}: {hint}");
    }
}

/// The model of a test's condition: the first of the papers' models that accepts the test. The one with acquire and
/// release is only for tests that have them.
fn spoken_of(test: &Test) -> Model {
    let synchronises = test.classes().contains(&Class::Acquiring) || test.classes().contains(&Class::Releasing);
    let epochs = if synchronises { "rp" } else { "ep" };
    let models = ["px86", "so", "cfence", "strand", "intents", epochs, "rcbsp:weak-stores"];
    let models = models
        .iter()
        .map(|name| Model::named(name).unwrap_or_else(|fault| panic!("{fault}")));
    let mut taking = models.filter(|model| model.takes(test));
    taking
        .next()
        .unwrap_or_else(|| panic!("{}: no model takes it", test.name))
}

/// The model of a folder, if the folder has one.
fn of_folder(folder: &str) -> Option<Model> {
    let name = match folder {
        "x86" => "px86",
        "pcommit" => "so",
        "epoch" => "ep",
        "release" => "rp",
        "weak" => "rcbsp:weak-stores",
        "cxl-cycles" => "cxl-coherent",
        "cfence" | "strand" | "intents" => folder,
        _ => return None,
    };
    Some(Model::named(name).unwrap_or_else(|fault| panic!("{fault}")))
}

#[test]
fn every_condition_is_true_in_its_model() {
    for folder in cycles::folders().chain(["classic", "papers"]) {
        for (path, text) in tests_in(folder) {
            let test = Test::parse(&text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
            let model = of_folder(folder).unwrap_or_else(|| spoken_of(&test));
            let allowed = allowed(&test, &model).unwrap_or_else(|fault| panic!("{path}: {fault}"));
            assert!(!allowed.undefined, "{path}: {} leaves it open", model.name());
            assert!(
                test.condition_holds(&allowed.states),
                "{path}: its condition is false in {}",
                model.name()
            );
        }
    }
}

#[test]
fn every_test_is_named_as_its_file_and_written_as_it_is_printed() {
    for folder in cycles::folders().chain(["classic", "papers"]) {
        for (path, text) in tests_in(folder) {
            let test = Test::parse(&text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
            assert_eq!(path, format!("{folder}/{}.litmus", test.name));
            assert_eq!(text, test.to_string(), "{path}");
            assert!(!test.title.is_empty(), "{path}: says nothing of itself");
            assert!(
                test.name.len() <= 60 && test.threads.len() <= 4 && test.events() <= 40,
                "{path}: too large"
            );
        }
    }
}
