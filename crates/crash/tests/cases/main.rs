//! Generated tests: one for each combination of a suite (`thinning.rs`), and for each planted bug and its catcher.
//!
//! `cargo test -p strandline-crash --test cases -- recovers::strandweaver` runs tests by name.

mod axes;
mod between;
mod case;
mod causes;
mod commands;
mod covering;
mod exploration;
mod hosts;
mod measure;
mod models;
mod mutants;
mod planted;
mod quiet;
mod random_hosts;
mod seam;
mod thinning;
mod times;
mod wal;

use case::{Case, Check};
use libtest_mimic::{run, Arguments};
use std::sync::Arc;
use times::Times;

fn main() {
    let arguments = Arguments::from_args();
    quiet::install();
    if let Ok(only) = std::env::var("STRANDLINE_MEASURE") {
        return measure::print(checks(), &only);
    }
    let times = Arc::new(Times::default());
    let trials = cases().into_iter().map(|case| case.trial(times.clone())).collect();
    let conclusion = run(&arguments, trials);
    if !arguments.list {
        times.print();
    }
    conclusion.exit();
}

/// Suites that also run on mutants, to measure their worth.
fn checks() -> Vec<Check> {
    let suites = [
        exploration::recovers(),
        models::conforms(),
        models::random_programs(),
        commands::random_commands(),
        commands::found(),
    ];
    suites.into_iter().flatten().collect()
}

/// All tests, the longest first, so that no processor idles at the end.
fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = checks().into_iter().map(Check::case).collect();
    cases.extend(exploration::caught());
    cases.extend(models::shows());
    cases.extend(models::models());
    cases.extend(mutants::caught());
    cases.extend(mutants::unbroken());
    cases.extend(mutants::tables());
    cases.extend(mutants::reports::cases());
    cases.extend(commands::proofs());
    cases.extend(wal::cases());
    cases.extend(between::cases());
    cases.extend(causes::cases());
    cases.extend(hosts::cases());
    cases.extend(random_hosts::cases());
    cases.push(Case::new(
        "tables",
        "rows_cover_every_pair_and_triple",
        1,
        covering::proof,
    ));
    cases.sort_by_key(|case| std::cmp::Reverse(case.weight));
    cases
}
