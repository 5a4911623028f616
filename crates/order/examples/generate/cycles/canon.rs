//! Tests modulo names of locations and order of threads.

use std::collections::BTreeMap;
use std::fmt::Write;
use strandline_order::litmus::{Formula, LocationId};
use strandline_order::Test;

/// Equal texts for tests that differ only in names and in the order of their threads.
pub fn canonical(test: &Test) -> String {
    let orders = permutations(test.threads.len());
    orders
        .iter()
        .map(|order| in_order(test, order))
        .min()
        .unwrap_or_default()
}

fn in_order(test: &Test, order: &[usize]) -> String {
    let mut renamed = test.clone();
    renamed.threads = order.iter().map(|thread| test.threads[*thread].clone()).collect();
    let mut names: BTreeMap<LocationId, String> = BTreeMap::new();
    for at in renamed
        .threads
        .iter()
        .flatten()
        .filter_map(|instruction| instruction.location())
    {
        let next = names.len();
        names.entry(at).or_insert_with(|| format!("l{next}"));
    }
    for (at, name) in &names {
        renamed.locations[at.0 as usize].name.clone_from(name);
    }
    let mut text = String::new();
    for (thread, from) in renamed.threads.iter().zip(order) {
        if let Some(host) = test.hosts.of_threads.get(*from) {
            let fails = test.hosts.fail.contains(host);
            _ = write!(text, "h{host} {fails}: ");
        }
        thread
            .iter()
            .for_each(|instruction| _ = write!(text, "{}; ", renamed.show(*instruction)));
        text.push('\n');
    }
    let mut places: Vec<String> = names.iter().map(|(at, name)| place(test, *at, name, &names)).collect();
    places.sort_unstable();
    let mut claims = Vec::new();
    conjuncts(&renamed, &renamed.condition.formula, &mut claims);
    claims.sort_unstable();
    text + &places.join(" ") + "\n" + &claims.join(" ")
}

/// A location's memory, line and initial value.
fn place(test: &Test, at: LocationId, name: &str, names: &BTreeMap<LocationId, String>) -> String {
    let location = test.location(at);
    let beside = names
        .iter()
        .filter(|(other, _)| test.location(**other).line == location.line);
    let line = beside.map(|(_, name)| name.as_str()).min().unwrap_or(name);
    format!("{name}:{:?}:{line}:{}", location.kind, location.initial)
}

fn conjuncts(test: &Test, formula: &Formula, found: &mut Vec<String>) {
    match formula {
        Formula::And(a, b) => {
            conjuncts(test, a, found);
            conjuncts(test, b, found);
        }
        Formula::Is(at, value) => found.push(format!("{}={value}", test.location(*at).name)),
        other => found.push(format!("{other:?}")),
    }
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(count - 1);
    let insert = |order: &Vec<usize>, place: usize| {
        let mut order = order.clone();
        order.insert(place, count - 1);
        order
    };
    shorter
        .iter()
        .flat_map(|order| (0..count).map(move |place| insert(order, place)))
        .collect()
}
