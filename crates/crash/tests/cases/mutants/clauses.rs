//! The clauses on the pages of designs: each names a mutant, and each rule of a design has its clause.

use super::all::mutants;
use super::table::Broken;
use std::collections::BTreeSet;
use strandline_designs::rules;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/");

const PAGES: [&str; 8] = [
    "strands",
    "epochs",
    "asap-frontier",
    "dpo",
    "speculative-persistence",
    "pmem-spec",
    "coroutines",
    "cxl",
];

/// Whether the pages and the mutants agree.
pub fn agree() -> Result<(), String> {
    let mut named = BTreeSet::new();
    for page in PAGES {
        let text = std::fs::read_to_string(format!("{DOCS}{page}.md")).map_err(|error| format!("{page}: {error}"))?;
        let (_, clauses) = text
            .split_once("\n## Clauses\n")
            .ok_or(format!("{page}.md has no clauses"))?;
        let clauses = clauses.split("\n## ").next().unwrap_or_default();
        let before = named.len();
        named.extend(clauses.lines().filter_map(of_row).flatten());
        assert!(named.len() > before, "{page}.md names no mutant");
    }
    let all: BTreeSet<String> = mutants().into_iter().map(|mutant| mutant.name.to_owned()).collect();
    if let Some(name) = named.difference(&all).next() {
        return Err(format!("a clause names {name}, which is no mutant"));
    }
    // `dccvap` has no page.
    let of_designs = rules::ALL
        .into_iter()
        .flatten()
        .filter(|rule| !rules::Plain::ALL.contains(rule));
    for rule in of_designs {
        let has_clause = mutants().into_iter().any(|mutant| {
            matches!(mutant.broken, Broken::Rule(broken) if broken == *rule) && named.contains(mutant.name)
        });
        if !has_clause {
            return Err(format!("no clause of a page has {rule:?}"));
        }
    }
    Ok(())
}

/// The mutants in the last column of a row.
fn of_row(line: &str) -> Option<Vec<String>> {
    let mutants = line.strip_suffix(" |")?.rsplit(" | ").next()?;
    let names = mutants.split('`').filter(|name| name.contains('/'));
    Some(names.map(str::to_owned).collect())
}
