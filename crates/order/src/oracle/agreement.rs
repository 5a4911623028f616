//! The oracle and the enumeration agree on every state of every execution of the shelf.

use super::*;
use crate::execution::{executions, Execution};
use crate::litmus::LocationKind;
use crate::states::{each_cut, Persists};
use crate::unroll::Unrolled;
use crate::{shelf, Test};
use std::ops::ControlFlow;

/// The run of a test's execution.
fn history(unrolled: &Unrolled, execution: &Execution) -> History {
    let size = unrolled.events.len();
    let rmw =
        (1..size).filter(|write| unrolled.events[*write].locked && unrolled.events[*write].kind == EventKind::Write);
    History {
        events: unrolled.events.clone(),
        rmw: rmw.map(|write| (write - 1, write)).collect(),
        rf: execution.candidate.rf.pairs().collect(),
        orders: execution.orders.clone(),
        contents: execution.values.iter().map(|value| u64::from(*value)).collect(),
        stamps: vec![0; size],
    }
}

/// Whether all writes to a location leave different contents.
fn is_told_apart(execution: &Execution) -> bool {
    execution.orders.iter().all(|order| {
        let values: BTreeSet<u8> = order.iter().map(|write| execution.values[*write]).collect();
        values.len() == order.len()
    })
}

/// Compares the oracle's verdict on each candidate state of an execution with the model's cuts; returns the number of
/// states.
fn compare(test: &Test, model: &Model, unrolled: &Unrolled, execution: &Execution) -> usize {
    let persists = Persists::of(test, unrolled);
    let verdict = Evaluator::new(model.program(), &unrolled.structure).verdict(&execution.candidate);
    let oracle = Oracle::new(model, history(unrolled, execution));
    let Some(verdict) = verdict else {
        assert!(oracle.is_none(), "{} of {}: no execution", test.name, model.name());
        return 0;
    };
    let mut allowed = BTreeSet::new();
    _ = each_cut(&persists.order(&verdict.pmo), 0, 0, &mut |cut| {
        allowed.insert(of_cut(test, unrolled, execution, &persists, cut));
        ControlFlow::Continue(())
    });
    let outputs: Vec<usize> = of_kind(unrolled, EventKind::Output);
    let mut states = 0;
    for told in 0..1usize << outputs.len() {
        let told: Vec<usize> = (0..outputs.len())
            .filter(|bit| told >> bit & 1 == 1)
            .map(|bit| outputs[bit])
            .collect();
        for newest in choices(&persistent(test, execution)) {
            let mut oracle = Oracle::new(model, history(unrolled, execution)).expect("an execution");
            for write in &newest {
                let location = unrolled.events[*write]
                    .cell
                    .and_then(|cell| cell.location)
                    .expect("of a write");
                oracle.set(location, u64::from(execution.values[*write]));
            }
            told.iter().for_each(|output| oracle.see(*output));
            let allows = oracle.breach().is_none();
            let state = (newest, told.clone());
            assert_eq!(
                allows,
                verdict.flagged || allowed.contains(&state),
                "{} of {}: {state:?}",
                test.name,
                model.name()
            );
            states += 1;
        }
    }
    states
}

fn of_kind(unrolled: &Unrolled, kind: EventKind) -> Vec<usize> {
    (0..unrolled.events.len())
        .filter(|event| unrolled.events[*event].kind == kind)
        .collect()
}

fn persistent<'e>(test: &Test, execution: &'e Execution) -> Vec<&'e Vec<usize>> {
    let ids = test
        .ids()
        .filter(|id| test.location(*id).kind == LocationKind::Persistent);
    ids.map(|id| &execution.orders[id.0 as usize]).collect()
}

/// The newest write of each persistent location in a cut, and the cut's outputs.
fn of_cut(
    test: &Test,
    unrolled: &Unrolled,
    execution: &Execution,
    persists: &Persists,
    cut: u64,
) -> (Vec<usize>, Vec<usize>) {
    let newest = persistent(test, execution).into_iter().map(|order| {
        let last = order.iter().rev().find(|write| persists.has(cut, **write));
        *last.unwrap_or(&order[0])
    });
    let told = of_kind(unrolled, EventKind::Output)
        .into_iter()
        .filter(|output| persists.has(cut, *output));
    (newest.collect(), told.collect())
}

/// Every choice of one element of each.
fn choices(of: &[&Vec<usize>]) -> Vec<Vec<usize>> {
    of.iter().fold(vec![Vec::new()], |chosen, next| {
        let with = |chosen: &Vec<usize>| {
            next.iter()
                .map(|one| [chosen.as_slice(), &[*one]].concat())
                .collect::<Vec<_>>()
        };
        chosen.iter().flat_map(with).collect()
    })
}

/// All models except those with dependences, which a run does not record, and those of several hosts.
#[test]
fn the_oracle_agrees_with_the_cuts_of_every_execution_on_the_shelf() {
    let mut states = 0;
    for name in Model::names() {
        let model = Model::named(&name).expect("a model");
        if ["data", "addr", "ctrl", "same-host"]
            .iter()
            .any(|name| model.names_relation(name))
        {
            continue;
        }
        for entry in shelf() {
            let test = entry.test().expect("a right test");
            if !model.takes(&test) || test.events() > 14 {
                continue;
            }
            let unrolled = Unrolled::of(&test, model.wanted());
            executions(&test, &unrolled, |execution| {
                if is_told_apart(&execution) {
                    states += compare(&test, &model, &unrolled, &execution);
                }
            })
            .expect("few executions");
        }
    }
    assert!(states > 25_000, "{states} states");
}
