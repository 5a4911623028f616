//! Models of several hosts agree with machines of several hosts.

mod machine;
mod owned;
mod places;
mod programs;
mod random;

use machine::Machine;
use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;
use strandline_order::litmus::LocationId;
use strandline_order::{allowed, shelf, Model, Test};

/// What steps from a moment on may leave; none if they lead to more than `most` moments.
fn leaves<M: Clone + Eq + Hash>(
    start: M,
    most: usize,
    next: impl Fn(&M) -> Vec<M>,
    left: impl Fn(&M) -> Option<Vec<u8>>,
) -> Option<BTreeSet<Vec<u8>>> {
    let mut seen = HashSet::from([start.clone()]);
    let (mut ahead, mut states) = (vec![start], BTreeSet::new());
    while let Some(moment) = ahead.pop() {
        states.extend(left(&moment));
        if seen.len() > most {
            return None;
        }
        ahead.extend(next(&moment).into_iter().filter(|next| seen.insert(next.clone())));
    }
    Some(states)
}

fn named(name: &str) -> Model {
    Model::named(name).unwrap_or_else(|fault| panic!("{fault}"))
}

/// The models of several hosts, and whether a directory keeps these coherent.
const MODELS: [(&str, bool); 2] = [("cxl-today", false), ("cxl-coherent", true)];

/// Whether hosts store to different words of a line. Then one of these comes first, and the other takes the line from it. Where
/// nothing else orders them, the model does not say which, and so allows what neither order leaves.
fn takes_lines(test: &Test) -> bool {
    let stores = || {
        let threads = test.threads.iter().zip(&test.hosts.of_threads);
        threads.flat_map(|(instructions, host)| {
            let writing = instructions.iter().filter(|instruction| machine::writes(**instruction));
            writing.filter_map(move |instruction| Some((*host, instruction.location()?)))
        })
    };
    let is_other = |a: (u8, LocationId), b: (u8, LocationId)| {
        a.0 != b.0 && a.1 != b.1 && test.location(a.1).line == test.location(b.1).line
    };
    stores().any(|a| stores().any(|b| is_other(a, b)))
}

/// Compares the states of a machine and a model; false if either has too much to do for that.
fn compare(model: &Model, is_coherent: bool, test: &Test, most: usize) -> bool {
    let machine = Machine::of(test, is_coherent);
    let (Some(stepped), Ok(allowed)) = (machine.states(most), allowed(test, model)) else {
        return false;
    };
    let show = |states: BTreeSet<&Vec<u8>>| states.iter().map(|state| test.show_state(state)).collect::<Vec<_>>();
    let is_right = match is_coherent && takes_lines(test) {
        true => stepped.is_subset(&allowed.states),
        false => stepped == allowed.states,
    };
    assert!(
        is_right,
        "{test}only the machine has {:?}, only {} has {:?}",
        show(stepped.difference(&allowed.states).collect()),
        model.name(),
        show(allowed.states.difference(&stepped).collect())
    );
    true
}

#[test]
fn the_machine_shows_what_the_model_allows_on_the_shelf() {
    for (name, is_coherent) in MODELS {
        let model = named(name);
        let mut compared = 0;
        for entry in shelf() {
            let test = entry.test().unwrap_or_else(|fault| panic!("{fault}"));
            if !model.takes(&test) {
                continue;
            }
            let path = &entry.path;
            assert!(compare(&model, is_coherent, &test, 200_000), "{path}: too much to do");
            // A folder has the sentences of one model.
            let states = allowed(&test, &model).unwrap_or_else(|fault| panic!("{fault}")).states;
            let is_meant = path.starts_with("cxl/") != is_coherent;
            assert!(
                !is_meant || test.condition_holds(&states),
                "{path}: its sentence is wrong"
            );
            compared += 1;
        }
        assert!(compared >= 50, "{compared} tests only");
    }
}
