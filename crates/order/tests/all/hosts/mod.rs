//! Models of several hosts agree with machines of several hosts.

mod machine;
mod programs;
mod random;

use machine::Machine;
use std::collections::BTreeSet;
use strandline_order::{allowed, shelf, Model, Test};

fn named(name: &str) -> Model {
    Model::named(name).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Compares the states of a machine and a model; false if either has too much to do for that.
fn compare(model: &Model, test: &Test, most: usize) -> bool {
    let (Some(stepped), Ok(allowed)) = (Machine::of(test).states(most), allowed(test, model)) else {
        return false;
    };
    let show = |states: BTreeSet<&Vec<u8>>| states.iter().map(|state| test.show_state(state)).collect::<Vec<_>>();
    assert!(
        stepped == allowed.states,
        "{test}only the machine has {:?}, only {} has {:?}",
        show(stepped.difference(&allowed.states).collect()),
        model.name(),
        show(allowed.states.difference(&stepped).collect())
    );
    true
}

#[test]
fn the_machine_shows_what_the_model_allows_on_the_shelf() {
    let model = named("cxl-today");
    let tests = shelf()
        .into_iter()
        .map(|entry| entry.test().unwrap_or_else(|fault| panic!("{fault}")));
    let tests: Vec<Test> = tests.filter(|test| model.takes(test)).collect();
    for test in &tests {
        assert!(compare(&model, test, 200_000), "{}: too much to do", test.name);
        let allowed = allowed(test, &model).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(
            test.condition_holds(&allowed.states),
            "{}: its sentence is wrong",
            test.name
        );
    }
    assert!(tests.len() >= 50, "{} tests only", tests.len());
}
