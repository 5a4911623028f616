//! Designs against their models: litmus tests and random programs.

use crate::axes::least;
use crate::case::{Case, Check};
use crate::planted::{finding, FoundFault, Planted};
use crate::seam::aiming;
use crate::thinning::amount;
use std::collections::BTreeSet;
use strandline_crash::litmus::{
    conform, random, RandomReport, Registered, Subject, HOST_SEEDS, MOVING_SEEDS, PLAIN_SEEDS,
};
use strandline_crash::FaultKind;
use strandline_design::About;
use strandline_designs::abouts;
use strandline_order::{allowed, shelf, Entry, Model, Test};
use strandline_sim::Error;

/// The folders of the shelf.
fn folders() -> BTreeSet<&'static str> {
    let folder = |entry: Entry| entry.path.split('/').next().unwrap_or_default();
    shelf().into_iter().map(folder).collect()
}

/// Each design with the tests of each folder that apply to it.
pub fn conforms() -> Vec<Check> {
    let machines = amount().machines;
    let pairs = abouts()
        .into_iter()
        .flat_map(|about| folders().into_iter().map(move |folder| (about, folder)));
    let check = |(about, folder): (About, &'static str)| Check {
        suite: "conforms",
        name: format!("{}::{folder}", about.name),
        design: about.name,
        weight: machines / 2,
        finds: Box::new(move |planted| {
            let mut tests = shelf()
                .into_iter()
                .filter(|entry| entry.path.split('/').next() == Some(folder));
            tests.find_map(|entry| {
                conformed(planted, &entry, machines)
                    .or_else(|| conformed_from(planted, &entry, machines.div_ceil(PLAIN_ONE_IN), PLAIN_SEEDS))
                    .or_else(|| conformed_from(planted, &entry, moving(planted, machines, MOVING_ONE_IN), MOVING_SEEDS))
                    .or_else(|| conformed_from(planted, &entry, machines.div_ceil(HOSTS_ONE_IN), HOST_SEEDS))
            })
        }),
    };
    pairs.map(check).collect()
}

/// What a litmus test finds.
pub fn conformed(planted: &Planted, entry: &Entry, machines: u64) -> Option<FoundFault> {
    conformed_from(planted, entry, machines, 1)
}

/// One program in so many is plain code, besides the others.
const PLAIN_ONE_IN: u64 = 16;

/// Threads of one program in so many move, besides the others, under a design that says what comes before.
const MOVING_ONE_IN: u64 = 8;

/// One program in so many runs on several hosts that a directory keeps alike, besides the others.
const HOSTS_ONE_IN: u64 = 20;

fn moving(planted: &Planted, programs: u64, one_in: u64) -> u64 {
    match planted.hands_over() {
        true => programs.div_ceil(one_in),
        false => 0,
    }
}

fn conformed_from(planted: &Planted, entry: &Entry, machines: u64, seed: u64) -> Option<FoundFault> {
    let test = entry.test().expect("a right test");
    finding(planted, || {
        let Some(conformance) = conform(planted, &test, None, machines, seed)? else {
            return Ok(None);
        };
        let violations = conformance.violations;
        if !violations.is_empty() {
            return Ok(Some(FoundFault::new(
                FaultKind::Forbidden,
                format!("{}: {violations:#?}", entry.path),
            )));
        }
        if let Some(run) = conformance.stuck {
            return Ok(Some(FoundFault::new(run.kind, format!("{}: {run:#?}", entry.path))));
        }
        assert!(conformance.crash_states >= machines);
        Ok(None)
    })
}

/// Random programs under each design: with the paper's parameters, with each at its minimum, and with all at their
/// minimum.
pub fn random_programs() -> Vec<Check> {
    abouts()
        .into_iter()
        .flat_map(|about| sizes(about.name))
        .map(|(design, name, sets)| {
            let programs = programs(design, &sets);
            Check {
                suite: "random",
                name: format!("{design}::{name}"),
                design,
                weight: programs / 20,
                finds: Box::new(move |planted| {
                    let planted = &planted.clone().with(sets.clone());
                    reported(planted, programs, || aiming(planted, 1, programs))
                        .or_else(|| wrong(planted, PLAIN_SEEDS, programs / PLAIN_ONE_IN))
                        .or_else(|| wrong(planted, MOVING_SEEDS, moving(planted, programs, MOVING_ONE_IN)))
                        .or_else(|| wrong(planted, HOST_SEEDS, programs / HOSTS_ONE_IN))
                }),
            }
        })
        .collect()
}

/// Designs of which random programs alone show some bugs, one in some thousand: numbers that wrap, registers, frontiers.
const RARE: [&str; 4] = ["lb-pp", "asap-frontier-ep", "asap-frontier-rp", "asap-frontier-strand"];

/// Random programs of a design with these parameters.
fn programs(design: &str, sets: &Sets) -> u64 {
    match (sets.is_empty(), RARE.contains(&design)) {
        (true, true) => amount().rare_programs,
        (true, false) => amount().programs,
        (false, _) => amount().least_programs,
    }
}

type Sets = Vec<(&'static str, String)>;

fn sizes(design: &'static str) -> Vec<(&'static str, String, Sets)> {
    let all = least(design);
    let alone = all.iter().filter(|_| all.len() > 1).map(|set| vec![set.clone()]);
    let mut sizes: Vec<(String, Sets)> = vec![("structures".to_owned(), Vec::new())];
    sizes.extend(alone.map(|sets| (format!("least-{}", sets[0].0), sets)));
    if !all.is_empty() {
        sizes.push(("least-structures".to_owned(), all));
    }
    sizes.into_iter().map(|(name, sets)| (design, name, sets)).collect()
}

/// What random programs find.
pub fn wrong(planted: &Planted, first_seed: u64, programs: u64) -> Option<FoundFault> {
    reported(planted, programs, || random(planted, first_seed, programs))
}

fn reported(planted: &Planted, programs: u64, run: impl FnOnce() -> Result<RandomReport, Error>) -> Option<FoundFault> {
    finding(planted, || {
        let report = run()?;
        assert!(report.programs == programs || !report.violations.is_empty());
        let violations = &report.violations;
        Ok(violations
            .first()
            .map(|found| FoundFault::new(found.kind, format!("{violations:#?}"))))
    })
}

/// Tests for which a design must reach every state that its model allows. A design that reaches fewer would be tested
/// less than it seems. Lines leave the caches in any order, and fences hold nothing that is not flushed.
const REORDERED: [(&str, &str); 9] = [
    ("x86", "classic/mp+plain+dram"),
    ("x86", "papers/undo-x86"),
    ("x86", "classic/sb"),
    ("x86-pcommit", "classic/mp+plain+dram"),
    ("eadr", "papers/undo-eadr-nothing"),
    ("unordered", "classic/mp+clwb+dram"),
    // Another context's stores and flushes may be in flight behind a cfence.
    ("cosplay", "cfence/ww+clwb.other-cfence"),
    ("freeswitch", "cfence/ww+clwb.other-cfence"),
    ("sbatch", "papers/undo-x86"),
];

/// Number of machines for such a test: the rarest state occurs on one of some thousand.
const MANY: u64 = 10_000;

/// What may be reordered is reordered.
pub fn shows() -> Vec<Case> {
    let case = |(design, path)| {
        Case::new("shows", format!("{design}::{path}"), 300, move || {
            shows_all(design, path)
        })
    };
    REORDERED.into_iter().map(case).collect()
}

fn shows_all(design: &str, path: &str) -> Result<(), String> {
    let design = Registered::named(design).expect("registered");
    let test = on_shelf(path);
    let model = Model::named(design.about().model).expect("a model");
    let may = allowed(&test, &model).expect("few executions").states;
    let mut never = may;
    let mut seed = 1;
    while !never.is_empty() && seed <= MANY {
        let ran = conform(&design, &test, None, 100, seed).map_err(|error| error.to_string())?;
        never = &never - &ran.expect("a test for the design").shown;
        seed += 100;
    }
    match never.is_empty() {
        true => Ok(()),
        false => Err(never
            .iter()
            .map(|state| test.show_state(state))
            .collect::<Vec<_>>()
            .join("; ")),
    }
}

fn on_shelf(path: &str) -> Test {
    let entry = shelf().into_iter().find(|entry| entry.path == path);
    entry
        .unwrap_or_else(|| panic!("{path} is on the shelf"))
        .test()
        .expect("a right test")
}

/// A design's own model, and the model of its intents, each accept more than ten tests of the shelf.
pub fn models() -> Vec<Case> {
    let case = |about: About| Case::new("models", about.name, 10, move || has_tests(&about));
    abouts().into_iter().map(case).collect()
}

fn has_tests(about: &About) -> Result<(), String> {
    let tests: Vec<Test> = shelf()
        .iter()
        .map(|entry| entry.test().expect("a right test"))
        .collect();
    for name in [Some(about.model), about.intents].into_iter().flatten() {
        let model = Model::named(name).map_err(|error| error.to_string())?;
        let takes = tests.iter().filter(|test| model.takes(test)).count();
        if takes <= 10 {
            return Err(format!("{name} takes {takes} tests"));
        }
    }
    Ok(())
}
