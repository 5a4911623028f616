//! The table of the seam on `docs/tests.md`; `make promote` writes it.

use super::aim;
use super::counted::Taken;
use crate::planted::Planted;
use std::collections::BTreeMap;
use strandline_designs::abouts;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tests.md");

/// What is before the table, and what is behind it.
const BEGIN: &str = "| question | answer | designs |\n|---|---|---|\n";
const END: &str = "\n";

/// Random programs of each design.
const PROGRAMS: u64 = 300;

/// Whether the page has the table; with `STRANDLINE_PROMOTE` it is rewritten.
pub fn is_current() -> Result<(), String> {
    let page = std::fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))?;
    let (before, rest) = page.split_once(BEGIN).ok_or("docs/tests.md has no table of the seam")?;
    let (table, after) = rest.split_at(rest.find("\n\n").map_or(rest.len(), |end| end + END.len()));
    let taken = table_of(&taken());
    if std::env::var_os("STRANDLINE_PROMOTE").is_some() {
        let page = [before, BEGIN, &taken, after].concat();
        return std::fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"));
    }
    match table == taken {
        true => Ok(()),
        false => Err("docs/tests.md does not have the answers that random programs get: run `make promote`".to_owned()),
    }
}

/// The designs that gave each answer.
fn taken() -> BTreeMap<Taken, Vec<&'static str>> {
    let mut taken: BTreeMap<Taken, Vec<&'static str>> = BTreeMap::new();
    for about in abouts() {
        let (report, answers) = aim(&Planted::unbroken(about.name), 1, PROGRAMS);
        assert!(
            report.is_ok_and(|report| report.violations.is_empty()),
            "{}",
            about.name
        );
        answers
            .into_iter()
            .for_each(|answer| taken.entry(answer).or_default().push(about.name));
    }
    taken
}

fn table_of(taken: &BTreeMap<Taken, Vec<&'static str>>) -> String {
    let line = |((question, answer), designs): (&Taken, &Vec<&str>)| {
        format!("| `{question}` | {answer} | {} |\n", designs.join(", "))
    };
    taken.iter().map(line).collect()
}
