//! What a failing case says of its cause, for planted faults: what recovery lacked, and which order was broken.

use crate::case::Case as Test;
use crate::mutants::all::mutants;
use crate::planted::Planted;
use strandline_crash::{explore_with, Case, Failure, Observe, Order, Points};
use strandline_sim::{observe, Spec};

fn failure(spec: &Spec, observe: Observe<'_>) -> Result<Failure, String> {
    let report = explore_with(spec, Points::Count(200), observe).map_err(|error| error.to_string())?;
    report.failures.into_iter().next().ok_or("nothing fails".to_owned())
}

/// The pairs of this kind: the first must be lost, the second must not.
fn broken(case: &Case, kind: Order) -> Result<Vec<usize>, String> {
    let pairs = case.order.iter().filter(|edge| edge.kind == kind);
    let firsts = pairs.map(|edge| {
        let is_broken = !case.events[edge.before].durable && case.events[edge.after].durable;
        is_broken
            .then_some(edge.before)
            .ok_or(format!("not broken: {edge:?} of {case:?}"))
    });
    firsts.collect()
}

/// A design that breaks its own model: the order that the model wanted is named.
fn of_a_design() -> Result<(), String> {
    let mutant = mutants().into_iter().find(|mutant| mutant.name == "x86/sfence-passes");
    let planted = Planted::of(mutant.ok_or("no such mutant")?);
    let spec = Spec::new("sps", "x86");
    let case = failure(&spec, &|spec| planted.observe(spec))?
        .case
        .ok_or("not in detail")?;
    let lost = broken(&case, Order::Broken)?;
    match case.forbidden
        && case.model.starts_with("px86")
        && !lost.is_empty()
        && broken(&case, Order::Missing)?.is_empty()
    {
        true => Ok(()),
        false => Err(format!("no order of the model is broken: {case:?}")),
    }
}

/// A program that flushes no value before the item with it is linked: what the check found lacking is what was lost, and
/// the model allows it.
fn of_a_program() -> Result<(), String> {
    let spec = Spec {
        set: vec!["workload.omits=value".to_owned()],
        ..Spec::new("memcached", "x86")
    };
    let Failure { why, case, .. } = failure(&spec, &observe)?;
    let case = case.ok_or("not in detail")?;
    if case.forbidden || !why.starts_with("structure: ") {
        return Err(format!("{why}: {case:?}"));
    }
    let lacking: Vec<usize> = case.reads.iter().filter_map(|read| read.lacks).collect();
    let missing = broken(&case, Order::Missing)?;
    match !missing.is_empty() && missing.iter().all(|lost| lacking.contains(lost)) {
        true => Ok(()),
        false => Err(format!(
            "read without {lacking:?}, and lacks the order of {missing:?}: {case:?}"
        )),
    }
}

pub fn cases() -> Vec<Test> {
    vec![
        Test::new("causes", "of-a-design", 100, of_a_design),
        Test::new("causes", "of-a-program", 100, of_a_program),
    ]
}
