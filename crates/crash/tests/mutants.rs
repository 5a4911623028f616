//! A checker is believed after it has caught planted mistakes: broken variants of the designs, the machine, the undo
//! log and the coroutines, and what catches each.

#[path = "mutants/conformance.rs"]
mod conformance;
#[path = "mutants/design.rs"]
mod design;
#[path = "mutants/exploration.rs"]
mod exploration;
#[path = "mutants/programs.rs"]
mod programs;
#[path = "mutants/table.rs"]
mod table;
#[path = "mutants/undo.rs"]
mod undo;

use std::collections::BTreeSet;
use strandline_designs::abouts;
use table::{Broken, Catcher, Mutant, MUTANTS};

fn caught_by(catcher: Catcher) -> impl Iterator<Item = &'static Mutant> {
    mutants().filter(move |mutant| mutant.caught_by.contains(&catcher))
}

/// All of them, or those whose names begin so (`STRANDLINE_MUTANTS`, to try new ones).
fn mutants() -> impl Iterator<Item = &'static Mutant> {
    let prefix = std::env::var("STRANDLINE_MUTANTS").unwrap_or_default();
    MUTANTS.iter().filter(move |mutant| mutant.name.starts_with(&prefix))
}

/// One mutant for each design and machine on which some are made.
fn settings(catcher: Catcher) -> Vec<&'static Mutant> {
    let mut seen = BTreeSet::new();
    caught_by(catcher)
        .filter(|mutant| seen.insert((mutant.design, mutant.sets, mutant.runtime())))
        .collect()
}

#[test]
fn every_rule_and_every_design_has_its_mutants() {
    let names: BTreeSet<&str> = MUTANTS.iter().map(|mutant| mutant.name).collect();
    assert_eq!(names.len(), MUTANTS.len(), "names are unique");
    for about in abouts() {
        let count = MUTANTS.iter().filter(|mutant| mutant.design == about.name).count();
        assert!(count >= 1, "{} has no mutant", about.name);
    }
    for rule in strandline_design::Rule::ALL {
        let breaks = |mutant: &Mutant| matches!(mutant.broken, Broken::Part(broken) if broken == *rule);
        assert!(MUTANTS.iter().any(breaks), "nobody breaks {rule:?}");
    }
    for rule in strandline_machine::Rule::ALL {
        let breaks = |mutant: &Mutant| matches!(mutant.broken, Broken::Machine(broken) if broken == *rule);
        assert!(MUTANTS.iter().any(breaks), "nobody breaks {rule:?}");
    }
    for rule in strandline_runtime::Rule::ALL {
        let breaks = |mutant: &Mutant| matches!(mutant.broken, Broken::Log(broken) if broken == *rule);
        assert!(MUTANTS.iter().any(breaks), "nobody breaks {rule:?}");
    }
    for mutant in MUTANTS {
        assert!(mutant.rule().contains("Broken: "), "{}", mutant.name);
        assert!(
            !mutant.source().is_empty() && !mutant.caught_by.is_empty(),
            "{}",
            mutant.name
        );
    }
}

#[test]
fn exploration_catches_what_it_should() {
    let missed: Vec<&str> = caught_by(Catcher::Exploration)
        .filter(|mutant| exploration::explore(mutant, false).is_none())
        .map(|mutant| mutant.name)
        .collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn exploration_finds_nothing_in_what_mutants_are_made_of() {
    for mutant in settings(Catcher::Exploration) {
        let found = exploration::explore(mutant, true);
        assert_eq!(found, None, "{} on {:?}", mutant.design, mutant.sets);
    }
}

#[test]
fn programs_catch_what_they_should() {
    let missed: Vec<&str> = caught_by(Catcher::Program)
        .filter(|mutant| match mutant.broken {
            Broken::Log(rule) => undo::holds(Some(rule)),
            _ => programs::run(mutant, false).is_none(),
        })
        .map(|mutant| mutant.name)
        .collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn programs_find_nothing_in_what_mutants_are_made_of() {
    for mutant in settings(Catcher::Program) {
        assert_eq!(
            programs::run(mutant, true),
            None,
            "{} on {:?}",
            mutant.design,
            mutant.sets
        );
    }
    assert!(undo::holds(None));
}

/// The table of `docs/mutants.md`: `make promote` writes it anew.
const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mutants.md");

const INTRODUCTION: &str = "# Mutants

A checker is believed after it has caught planted bugs. Each of these variants breaks one rule, in tests only; each is killed by every
checker that stands beside it (`crates/crash/tests/mutants.rs`). *Crash exploration* runs the built-in workloads and recovers
crash states (`strandline crash`); *small programs* stand in `crates/crash/tests/mutants/`; a name is a litmus test of
the shelf, the first that shows a forbidden state or does not end (`strandline litmus`), and *random programs* are `strandline
litmus --random`, where no test of the shelf shows it on the few machines that are tried.

| mutant | rule, and how it is broken | source | killed by |
|---|---|---|---|
";

#[test]
fn litmus_tests_and_random_programs_catch_what_they_should_and_the_docs_say_so() {
    let mut table = INTRODUCTION.to_owned();
    let mut missed = Vec::new();
    for mutant in mutants() {
        let killers: Vec<String> = mutant
            .caught_by
            .iter()
            .map(|catcher| match catcher {
                Catcher::Exploration => "crash exploration".to_owned(),
                Catcher::Program => "small programs".to_owned(),
                Catcher::Litmus => conformance::caught(mutant).unwrap_or_else(|| {
                    missed.push(mutant.name);
                    String::new()
                }),
            })
            .collect();
        let rule = mutant.rule().replace("Broken: ", "*Broken:* ");
        table += &format!(
            "| `{}` | {rule} | {} | {} |\n",
            mutant.name,
            mutant.source(),
            killers.join(", ")
        );
    }
    assert_eq!(missed, [""; 0]);
    if std::env::var_os("STRANDLINE_PROMOTE").is_some() {
        std::fs::write(DOCS, &table).expect("docs/mutants.md can be written");
    }
    let docs = std::fs::read_to_string(DOCS).unwrap_or_default();
    assert!(
        docs == table,
        "docs/mutants.md is not what the tests found: run `make promote`"
    );
}

#[test]
fn a_random_program_that_fails_is_shrunk_and_comes_again() {
    let mutant = MUTANTS
        .iter()
        .find(|mutant| mutant.name == "x86/sfence-passes")
        .expect("a mutant");
    let found = conformance::random_violation(mutant, 1, 2000).expect("is found");
    // A non-temporal store (or a store and its flush), a fence and what follows it; the machine's own traffic may stand for the store.
    assert!((2..=5).contains(&found.size), "{}\n{:#?}", found.program, found.detail);
    let again = conformance::random_violation(mutant, found.seed, 1).expect("comes again");
    assert_eq!(again.program, found.program);
    assert_eq!(again.detail, found.detail);
}

/// It breaks no rule that a model knows: it only gets stuck.
static NEVER_ACKNOWLEDGED: Mutant = table::mutant(
    "strandweaver/never-acknowledged",
    "strandweaver",
    Broken::Design(
        design::Change::AcknowledgementsLost,
        "A flush completes. Broken: it never does.",
        "StrandWeaver IV",
    ),
    &[],
    &[Catcher::Litmus],
);

#[test]
fn a_design_that_gets_stuck_says_who_waits_for_whom() {
    let found = conformance::random_violation(&NEVER_ACKNOWLEDGED, 1, 200).expect("some program flushes");
    let message = found.detail.join(" ");
    let says = |words: &str| assert!(message.contains(words), "{words}: {message}");
    says("no progress at cycle");
    says("strand buffer 0 of core");
    says("that is not acknowledged");
}
