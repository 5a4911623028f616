//! The table of designs on `docs/cxl.md`; `make promote` writes it.

use strandline_design::Hosts;
use strandline_designs::abouts;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cxl.md");

/// What is before the table.
const BEGIN: &str = "| designs | hosts | what is missing otherwise |\n|---|---|---|\n";

/// Whether the page has the table; with `STRANDLINE_PROMOTE` it is rewritten.
pub fn is_current() -> Result<(), String> {
    let page = std::fs::read_to_string(PAGE).map_err(|error| format!("{PAGE}: {error}"))?;
    let (before, rest) = page.split_once(BEGIN).ok_or("docs/cxl.md has no table of designs")?;
    let (table, after) = rest.split_at(rest.find("\n\n").map_or(rest.len(), |end| end + 1));
    let now = table_of();
    if std::env::var_os("STRANDLINE_PROMOTE").is_some() {
        let page = [before, BEGIN, &now, after].concat();
        return std::fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"));
    }
    match table == now {
        true => Ok(()),
        false => Err("docs/cxl.md does not say which designs run on which hosts: run `make promote`".to_owned()),
    }
}

/// A row for all designs that need the same.
fn table_of() -> String {
    let mut rows: Vec<(Hosts, Vec<&str>)> = Vec::new();
    for about in abouts() {
        match rows.iter_mut().find(|(hosts, _)| *hosts == about.needs.hosts) {
            Some((_, designs)) => designs.push(about.name),
            None => rows.push((about.needs.hosts, vec![about.name])),
        }
    }
    let row = |(hosts, designs): &(Hosts, Vec<&str>)| {
        let designs = designs.join(", ");
        match hosts {
            Hosts::Any => format!("| {designs} | any, and one may fail | - |\n"),
            Hosts::Apart(mechanism) => format!("| {designs} | not kept alike, and one may fail | {mechanism} |\n"),
            Hosts::Saved(mechanism) => format!("| {designs} | kept alike, and one may fail | {mechanism} |\n"),
            Hosts::Coherent(mechanism) => format!("| {designs} | kept alike, and none fails | {mechanism} |\n"),
        }
    };
    rows.iter().map(row).collect()
}
