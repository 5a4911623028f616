//! Checks of the checkers: broken variants of the designs, the machine, the logs and the coroutines, and the suites
//! that catch each.

pub mod all;
pub mod altered;
mod clauses;
mod docs;
mod log;
mod machine;
pub mod programs;
pub mod reports;
pub mod table;

use crate::case::Case;
use crate::exploration::explored;
use crate::models::{conformed, wrong};
use crate::planted::{finding, FoundFault, Planted};
use crate::seam;
use crate::thinning::amount;
use all::mutants;
use std::collections::BTreeSet;
use strandline_crash::litmus::{first_failure, random};
use strandline_crash::{FaultKind, Points};
use strandline_designs::abouts;
use strandline_order::{shelf, Entry};
use strandline_rules::{breaking, Rule};
use strandline_sim::Spec;
use table::{Broken, Catcher, Mutant, Shows};

/// The explored programs, with their threads and, if these are more than usual, their tasks; in this order until one fails.
/// Bugs of epoch numbers that wrap need long runs.
const PROGRAMS: &[(&str, u64, Option<u64>)] = &[
    ("sps", 1, None),
    ("sps", 4, None),
    ("cq", 4, None),
    ("pc", 4, None),
    ("tatp", 4, None),
    ("tpcc", 1, None),
    ("tpcc", 3, None),
    ("cq", 4, Some(200)),
];
/// The same of two hosts.
const ACROSS_HOSTS: &[(&str, u64, Option<u64>)] = &[("shared-log", 2, None)];
const POINTS: u64 = 400;
/// Of those with more tasks.
const MORE_POINTS: u64 = 4000;

/// Number of machines for each litmus test of a mutant, and of random programs: the rarest bug occurs on one of several
/// thousand.
const MACHINES: u64 = 60;
const RANDOM: u64 = 20_000;

/// How much a catcher runs.
struct Load {
    programs: &'static [(&'static str, u64, Option<u64>)],
    machines: u64,
    random: u64,
}

/// The amounts for mutants, and in thorough suites for their unbroken bases.
const FULL: Load = Load {
    programs: PROGRAMS,
    machines: MACHINES,
    random: RANDOM,
};

/// The amounts for unbroken bases in short suites.
const PART: Load = Load {
    programs: &[("sps", 4, None)],
    machines: 2,
    random: 500,
};

fn load(planted: &Planted) -> &'static Load {
    match planted.broken().is_some() || amount().thorough {
        true => &FULL,
        false => &PART,
    }
}

/// A test for each mutant and each of its catchers. In the short suites litmus tests run for those mutants only that crash
/// exploration does not catch, which takes less, and random programs, which take longest, if nothing else does.
pub fn caught() -> Vec<Case> {
    let runs = |catcher: &Catcher, all: &[Catcher]| {
        amount().thorough
            || match catcher {
                Catcher::Exploration | Catcher::Program => true,
                Catcher::Litmus => !all.contains(&Catcher::Exploration),
                Catcher::Random => all.iter().all(|other| *other == Catcher::Random),
            }
    };
    let pairs = mutants().into_iter().flat_map(|mutant| {
        let catchers = mutant
            .caught_by
            .iter()
            .filter(move |catcher| runs(catcher, mutant.caught_by));
        catchers.map(move |catcher| (mutant, *catcher))
    });
    let case = |(mutant, catcher): (&'static Mutant, Catcher)| {
        let name = format!("{}::{}", mutant.name, catcher.name().replace(' ', "-"));
        Case::new("mutants", name, 100, move || {
            let found = finds(catcher, mutant, &Planted::of(mutant)).ok_or("nothing is found")?;
            let must = mutant.must_show(catcher);
            match must.is(&found) {
                true => Ok(()),
                false => Err(format!("not {must:?}, but {found:?}")),
            }
        })
    };
    pairs.map(case).collect()
}

/// Tests that the unbroken designs and machines pass. Without settings of its own a base is one that the suites `conforms` and
/// `random` have: it runs in the thorough suites only, unless the random programs that show the mutant are none of those.
pub fn unbroken() -> Vec<Case> {
    let mut seen = BTreeSet::new();
    let mut cases = Vec::new();
    for mutant in mutants() {
        for catcher in mutant.caught_by {
            let (sets, runtime) = match catcher {
                Catcher::Exploration | Catcher::Program => (mutant.sets.to_vec(), mutant.runtime),
                Catcher::Litmus | Catcher::Random => (mutant.design_sets().map(|(key, _)| key).collect(), None),
            };
            let seed = match catcher {
                Catcher::Random => mutant.first_seed,
                _ => 1,
            };
            let has_suite = sets.is_empty() && matches!(catcher, Catcher::Litmus | Catcher::Random) && seed == 1;
            if has_suite && !amount().thorough {
                continue;
            }
            if seen.insert((*catcher, mutant.design, sets, runtime, seed)) {
                let name = format!("{}::{}", mutant.name, catcher.name().replace(' ', "-"));
                cases.push(Case::new("unbroken", name, 100, move || {
                    match finds(*catcher, mutant, &Planted::unbroken(mutant.design)) {
                        Some(found) => Err(found.text),
                        None => Ok(()),
                    }
                }));
            }
        }
    }
    cases
}

/// The finding of a catcher in a mutant, or in its unbroken base.
pub fn finds(catcher: Catcher, mutant: &Mutant, planted: &Planted) -> Option<FoundFault> {
    let must = mutant.must_show(catcher);
    match catcher {
        Catcher::Exploration => exploration(mutant, planted),
        Catcher::Program if mutant.is_of_log() => {
            breaking(planted.rule(), log::run).map(|what| FoundFault::new(FaultKind::Unrecovered, what))
        }
        Catcher::Program => {
            let planted = planted.clone().with(mutant.design_sets());
            finding(&planted, || {
                let left = programs::run(&planted, mutant.sets);
                Ok(left.map(|program| FoundFault::new(FaultKind::Forbidden, program.to_owned())))
            })
        }
        Catcher::Litmus => litmus(&planted.clone().with(mutant.design_sets()), must),
        Catcher::Random => {
            let planted = planted.clone().with(mutant.design_sets());
            random_programs(&planted, mutant.first_seed, must)
        }
    }
}

fn exploration(mutant: &Mutant, planted: &Planted) -> Option<FoundFault> {
    let is_late = mutant.is_late && planted.broken().is_some();
    let all = match programs::are_across_hosts(mutant.sets) {
        true => ACROSS_HOSTS,
        false => load(planted).programs,
    };
    let programs = all.iter().filter(|(.., tasks)| tasks.is_some() || !is_late);
    let runs = programs.filter_map(|(workload, threads, tasks)| {
        let spec = Spec {
            threads: Some(*threads),
            tasks: *tasks,
            runtime: mutant.runtime.map(str::to_owned),
            set: mutant.sets_of(workload).map(str::to_owned).collect(),
            ..Spec::new(*workload, mutant.design)
        };
        let points = if tasks.is_some() { MORE_POINTS } else { POINTS };
        explored(planted, &spec, Points::Count(points))
    });
    telling(runs, mutant.must_show(Catcher::Exploration))
}

/// A litmus test that catches the mutant; first each is tried on a few machines.
fn litmus(planted: &Planted, must: Shows) -> Option<FoundFault> {
    let tests = shelf();
    let on = |machines: u64| {
        tests
            .iter()
            .filter_map(move |entry: &Entry| conformed(planted, entry, machines))
    };
    telling(on(2).chain(on(load(planted).machines)), must)
}

/// Random programs that catch the mutant, from this seed on. Of the base run those that come first: the suite `random` has many.
fn random_programs(planted: &Planted, first: u64, must: Shows) -> Option<FoundFault> {
    const AT_ONCE: u64 = 100;
    let programs = match planted.broken().is_none() && first > 1 {
        true => AT_ONCE,
        false => load(planted).random,
    };
    let first_seeds = (first..first + programs).step_by(AT_ONCE as usize);
    let found = first_seeds.filter_map(|seed| match planted.broken() {
        Some(_) => finding(planted, || {
            let kind = first_failure(planted, seed, AT_ONCE)?;
            Ok(kind.map(|kind| FoundFault::new(kind, format!("one of the programs from seed {seed} on"))))
        }),
        None => wrong(planted, seed, AT_ONCE),
    });
    telling(found, must)
}

/// The first finding with the required report, otherwise the last finding.
fn telling(found: impl Iterator<Item = FoundFault>, must: Shows) -> Option<FoundFault> {
    let mut last = None;
    for found in found {
        let is_it = must.is(&found);
        last = Some(found);
        if is_it {
            break;
        }
    }
    last
}

/// Tests that the table is complete and the page is up to date.
pub fn tables() -> Vec<Case> {
    vec![
        Case::new("tables", "every_rule_and_every_design_has_its_mutants", 1, has_mutants),
        Case::new("tables", "docs_mutants_md_is_the_table", 1, docs::is_current),
        Case::new("tables", "clauses_name_the_mutants_of_all_rules", 1, clauses::agree),
        Case::new("tables", "docs_tests_md_has_the_answers", 300, seam::is_current),
        Case::new(
            "tables",
            "a_random_program_that_fails_is_shrunk_and_comes_again",
            50,
            comes_again,
        ),
        Case::new(
            "tables",
            "a_design_that_gets_stuck_says_who_waits_for_whom",
            10,
            says_who_waits,
        ),
    ]
}

fn has_mutants() -> Result<(), String> {
    let names: BTreeSet<&str> = mutants().into_iter().map(|mutant| mutant.name).collect();
    assert_eq!(names.len(), mutants().len(), "names are unique");
    for about in abouts() {
        assert!(
            mutants().into_iter().any(|mutant| mutant.design == about.name),
            "{} has no mutant",
            about.name
        );
    }
    let rules = [&[Rule::ALL], &strandline_designs::rules::ALL[..]].concat();
    for rule in rules.into_iter().flatten() {
        let breaks = |mutant: &Mutant| matches!(mutant.broken, Broken::Rule(broken) if broken == *rule);
        assert!(mutants().into_iter().any(breaks), "nobody breaks {rule:?}");
    }
    for mutant in mutants() {
        assert!(mutant.rule().contains("Broken: "), "{}", mutant.name);
        assert!(
            !mutant.source().is_empty() && !mutant.caught_by.is_empty(),
            "{}",
            mutant.name
        );
    }
    Ok(())
}

fn comes_again() -> Result<(), String> {
    let mutant = mutants()
        .into_iter()
        .find(|mutant| mutant.name == "x86/sfence-passes")
        .expect("a mutant");
    let first = |seed, programs| {
        let report = random(&Planted::of(mutant), seed, programs).expect("programs that can be run");
        report.violations.into_iter().next().expect("is found")
    };
    let found = first(1, 2000);
    // A non-temporal store (or a store and its flush), a fence and a later operation; the machine's own traffic may
    // replace the store.
    assert!((2..=5).contains(&found.size), "{}\n{:#?}", found.program, found.detail);
    let again = first(found.seed, 1);
    assert_eq!((again.program, again.detail), (found.program, found.detail));
    Ok(())
}

/// It violates no rule of a model: it only deadlocks.
const NEVER_ACKNOWLEDGED: Mutant = table::mutant(
    "strandweaver/never-acknowledged",
    "strandweaver",
    Broken::Design(
        altered::Change::AcknowledgementsLost,
        "A flush completes. Broken: it never does.",
        "StrandWeaver IV",
    ),
    &[],
    &[Catcher::Random],
);

fn says_who_waits() -> Result<(), String> {
    let planted = Planted::of(&NEVER_ACKNOWLEDGED);
    let message = finding(&planted, || {
        let report = random(&planted, 1, 200)?;
        let first = report.violations.first();
        Ok(first.map(|found| FoundFault::new(found.kind, found.detail.join(" "))))
    });
    let message = message.expect("some program flushes").text;
    for words in [
        "no progress at cycle",
        "strand buffer 0 of core",
        "that is not acknowledged",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    Ok(())
}
