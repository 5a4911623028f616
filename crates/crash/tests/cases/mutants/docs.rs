//! The page with the table of mutants; `make promote` writes it.

use super::all::mutants;
use super::table::{Catcher, Mutant};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mutants.md");

const INTRODUCTION: &str = "# Mutants

Use this page to see which planted bugs each suite catches, and to find the test of a rule.

Each mutant breaks one rule of a design, the machine or the logs, in tests only. Every suite in the
last column catches it. A test proves each entry:
`cargo test -p strandline-crash --test cases -- mutants::x86/sfence-passes`. The brackets have the
required report: a state that the design's model forbids, a state that is not recovered, or a run
without progress. A mutant that stops for another reason does not count as caught.

- *Crash exploration* runs the built-in workloads and recovers crash states (`strandline crash`).
- *Litmus tests* are those of the shelf (`strandline litmus`).
- *Random programs* are judged by the design's model (`strandline litmus --random`).
- *Small programs* are in `crates/crash/tests/cases/mutants/`.

The sources are `mutants.rs` in the folder of each family of designs, and
`crates/crash/tests/cases/mutants/machine.rs`. `make promote` writes this page.

| mutant | rule, and how it is broken | source | caught by |
|---|---|---|---|
";

/// Whether the page matches the table; with `STRANDLINE_PROMOTE` it is rewritten.
pub fn is_current() -> Result<(), String> {
    let page: String = [INTRODUCTION.to_owned()]
        .into_iter()
        .chain(mutants().into_iter().map(line))
        .collect();
    if std::env::var_os("STRANDLINE_PROMOTE").is_some() {
        std::fs::write(PAGE, &page).map_err(|error| format!("{PAGE}: {error}"))?;
    }
    match std::fs::read_to_string(PAGE) {
        Ok(written) if written == page => Ok(()),
        _ => Err("docs/mutants.md is not what the mutants say: run `make promote`".to_owned()),
    }
}

fn line(mutant: &Mutant) -> String {
    let rule = mutant.rule().replace("Broken: ", "*Broken:* ");
    let shows = |catcher: &Catcher| format!("{} ({})", catcher.name(), mutant.must_show(*catcher).name());
    let catchers: Vec<String> = mutant.caught_by.iter().map(shows).collect();
    format!(
        "| `{}` | {rule} | {} | {} |\n",
        mutant.name,
        mutant.source(),
        catchers.join(", ")
    )
}
