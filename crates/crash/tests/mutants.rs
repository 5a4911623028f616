//! A checker is believed after it has caught planted mistakes: broken variants of the designs, the machine and the undo
//! log, and what catches each.

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
    MUTANTS.iter().filter(move |mutant| mutant.caught_by.contains(&catcher))
}

/// One mutant for each design and machine on which some are made.
fn settings(catcher: Catcher) -> Vec<&'static Mutant> {
    let mut seen = BTreeSet::new();
    caught_by(catcher)
        .filter(|mutant| seen.insert((mutant.design, mutant.sets)))
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
            Broken::Log(rule) => undo::restores_a_line_of_two_steps(Some(rule)),
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
    assert!(undo::restores_a_line_of_two_steps(None));
}

#[test]
fn litmus_tests_and_random_programs_catch_what_they_should() {
    let missed: Vec<&str> = caught_by(Catcher::Litmus)
        .filter(|mutant| conformance::caught(mutant).is_none())
        .map(|mutant| mutant.name)
        .collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn a_random_program_that_fails_is_shrunk_and_comes_again() {
    let mutant = MUTANTS
        .iter()
        .find(|mutant| mutant.name == "x86/sfence-passes")
        .expect("a mutant");
    let found = conformance::random_violation(mutant, 1, 2000).expect("is found");
    // A flush and a fence between two things of which one must be durable first: no program of fewer than four shows it.
    assert!((4..=6).contains(&found.size), "{}", found.program);
    let again = conformance::random_violation(mutant, found.seed, 1).expect("comes again");
    assert_eq!(again.program, found.program);
    assert_eq!(again.detail, found.detail);
}
