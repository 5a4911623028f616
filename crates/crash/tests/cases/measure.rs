//! The worth of each suite: the planted bugs that it catches, and its cost (`STRANDLINE_MEASURE=1`, or the name of one).

use crate::case::Check;
use crate::mutants::all::mutants;
use crate::mutants::table::Mutant;
use crate::planted::Planted;
use crate::times::timed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread::{available_parallelism, scope};

/// What became of a suite.
#[derive(Default)]
struct Worth {
    /// For all its cases, without a planted bug.
    seconds: f64,
    caught: BTreeSet<&'static str>,
}

type Worths = BTreeMap<&'static str, Worth>;

/// Runs every suite on the unchanged designs and on every mutant, and prints a table; of a suite that `only` names, that one.
pub fn print(mut checks: Vec<Check>, only: &str) {
    let is_one = checks.iter().any(|check| check.suite == only);
    checks.retain(|check| !is_one || check.suite == only);
    let checks = &checks;
    let worths = Mutex::new(Worths::new());
    in_parallel(checks, |check| {
        let (found, seconds) = timed(|| (check.finds)(&Planted::unbroken(check.design)));
        assert_eq!(found, None, "{}::{}", check.suite, check.name);
        with(&worths, check.suite, |worth| worth.seconds += seconds);
    });
    in_parallel(&mutants(), |mutant| {
        for suite in catching(checks, mutant) {
            with(&worths, suite, |worth| _ = worth.caught.insert(mutant.name));
        }
    });
    table(worths.into_inner().expect("nobody panics while he holds the table"));
}

/// The suites that catch a mutant; each stops at its first success.
fn catching(checks: &[Check], mutant: &Mutant) -> BTreeSet<&'static str> {
    let planted = Planted::of(mutant);
    let mut suites = BTreeSet::new();
    for check in checks.iter().filter(|check| applies(check, mutant)) {
        if !suites.contains(check.suite) && (check.finds)(&planted).is_some() {
            suites.insert(check.suite);
        }
    }
    println!("{}: {suites:?}", mutant.name);
    suites
}

/// Litmus tests and random programs write no log. A workload whose loads do not get what its core has stored does not end.
fn applies(check: &Check, mutant: &Mutant) -> bool {
    let is_program = matches!(check.suite, "conforms" | "random");
    let can_tell = match check.suite {
        "recovers" => true,
        _ => !mutant.is_of_log(),
    };
    check.design == mutant.design && can_tell && (is_program || !mutant.is_of_own_stores())
}

fn with(worths: &Mutex<Worths>, suite: &'static str, change: impl FnOnce(&mut Worth)) {
    change(
        worths
            .lock()
            .expect("nobody panics while he holds the table")
            .entry(suite)
            .or_default(),
    );
}

fn in_parallel<T: Sync>(all: &[T], run: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run(one);
                }
            });
        }
    });
}

/// The cheapest suite first.
fn table(worths: Worths) {
    let mut worths: Vec<_> = worths.into_iter().collect();
    worths.sort_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds));
    let mut cheaper = BTreeSet::new();
    println!("suite          seconds  bugs caught  by nothing cheaper");
    for (suite, worth) in worths {
        let new = worth.caught.difference(&cheaper).count();
        println!("{suite:12} {:9.1} {:12} {new:19}", worth.seconds, worth.caught.len());
        cheaper.extend(worth.caught);
    }
    let missed = mutants().into_iter().filter(|mutant| !cheaper.contains(mutant.name));
    println!(
        "caught by none of these: {:?}",
        missed.map(|mutant| mutant.name).collect::<Vec<_>>()
    );
}
