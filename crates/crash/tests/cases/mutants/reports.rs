//! Reports of violations stand alone: the printed machine and seed show the same run again, and every line in a report
//! has a name that the report places.

use super::all::mutants;
use super::table::{Catcher, Mutant, Shows};
use crate::case::Case;
use crate::planted::Planted;
use crate::quiet::quietly;
use std::collections::BTreeSet;
use strandline_crash::litmus::{conform, Conformance};
use strandline_order::{shelf, Test};
use strandline_rules::breaking;

/// Machines on which a test runs until one shows the bug.
const MACHINES: u64 = 60;

/// For each design, the first mutant of each kind that litmus tests catch.
pub fn cases() -> Vec<Case> {
    let mut kinds = BTreeSet::new();
    let caught = mutants()
        .into_iter()
        .filter(|mutant| mutant.caught_by.contains(&Catcher::Litmus));
    let first = caught.filter(|mutant| match mutant.must_show(Catcher::Litmus) {
        Shows::Reported(kind) => kinds.insert((mutant.design, kind)),
        Shows::Refused(_) => false,
    });
    first
        .map(|mutant| Case::new("reports", mutant.name, 40, move || stands_alone(mutant)))
        .collect()
}

fn stands_alone(mutant: &Mutant) -> Result<(), String> {
    let planted = Planted::of(mutant);
    for entry in shelf() {
        let test = entry.test().expect("a right test");
        // A run that panics reports nothing.
        let Ok(Some(first)) = quietly(|| report(&planted, &test, None, MACHINES, 1)) else {
            continue;
        };
        let again = report(
            &planted,
            &test,
            Some(std::slice::from_ref(&first.machine)),
            1,
            first.seed,
        );
        if again.as_ref() != Some(&first) {
            return Err(format!("{}: once {first:#?}, then {again:#?}", entry.path));
        }
        return names_all(&test, &first.detail).map_err(|line| format!("{}: {line}", entry.path));
    }
    Err("no test shows the bug".to_owned())
}

/// The first wrong run.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    machine: String,
    seed: u64,
    detail: Vec<String>,
}

fn report(planted: &Planted, test: &Test, machines: Option<&[String]>, runs: u64, seed: u64) -> Option<Report> {
    let ran = breaking(planted.rule(), || conform(planted, test, machines, runs, seed));
    let Conformance { violations, stuck, .. } = ran.expect("a machine")?;
    let violation = violations
        .into_iter()
        .next()
        .map(|run| (run.machine, run.seed, run.detail));
    let (machine, seed, detail) = violation.or(stuck.map(|run| (run.machine, run.seed, run.detail)))?;
    Some(Report { machine, seed, detail })
}

/// A line of a durable event has the names of the test's locations, or one that the report places.
fn names_all(test: &Test, detail: &[String]) -> Result<(), String> {
    let placed = detail.iter().filter_map(|line| line.strip_prefix("placed "));
    let placed: BTreeSet<&str> = placed.flat_map(|line| line.split([' ', ','])).collect();
    let is_known = |name: &str| test.ids().any(|id| test.location(id).name == name) || placed.contains(name);
    let events = detail.iter().filter_map(|line| line.split_once(": line of "));
    for (_, event) in events {
        let (names, _) = event.split_once(" holds ").ok_or_else(|| event.to_owned())?;
        if !names
            .split(", ")
            .all(|name| !name.is_empty() && !name.starts_with("pm+") && is_known(name))
        {
            return Err(format!("line of {names}, in {detail:#?}"));
        }
    }
    Ok(())
}
