//! Mutants under crash exploration.

use super::design::{Altered, Change};
use super::table::{Broken, Mutant};
use std::panic::{catch_unwind, AssertUnwindSafe};
use strandline_crash::{explore_with, Points};
use strandline_kernel::Cycles;
use strandline_sim::{design_named, observe_design, Error, Observation, Spec};

/// The programs that are explored, with their threads, in this order until one fails.
const PROGRAMS: &[(&str, u64)] = &[
    ("sps", 1),
    ("sps", 4),
    ("cq", 4),
    ("pc", 4),
    ("tatp", 4),
    ("tpcc", 1),
    ("tpcc", 3),
];

/// Crash states of each program: of mutants, and of what they are made of, which is explored at length elsewhere, and here under
/// these programs alone.
const POINTS: u64 = 400;
const SOUND_POINTS: u64 = 80;
const SOUND_PROGRAMS: &[(&str, u64)] = &[("sps", 4), ("cq", 4), ("tpcc", 1)];

/// A task takes some ten thousand cycles at most; broken locks may keep a thread waiting for ever.
const PATIENCE: Cycles = Cycles(1_000_000);

/// Runs the mutant, or (`sound`) what it was made of.
fn observe(mutant: &Mutant, sound: bool, spec: &Spec) -> Result<Observation, Error> {
    let mut broken = strandline_sim::Broken {
        patience: Some(PATIENCE),
        ..strandline_sim::Broken::default()
    };
    let mut change = Change::Nothing;
    match mutant.broken {
        _ if sound => {}
        Broken::Design(changed, ..) => change = changed,
        Broken::Part(rule) => change = Change::Part(rule),
        Broken::Machine(rule) => broken.machine = Some(rule),
        Broken::Log(rule) => broken.log = Some(rule),
    }
    let mut design = design_named(mutant.design)?;
    design.configure(mutant.design_sets())?;
    observe_design(spec, Altered::boxed(design, change), broken)
}

/// How crash exploration catches the mutant, or (`sound`) the design as it is on the same machine: the program and what is
/// wrong, if it does.
///
/// A run that gets stuck or stops on a broken count is caught, too.
pub fn explore(mutant: &Mutant, sound: bool) -> Option<String> {
    let programs = if sound { SOUND_PROGRAMS } else { PROGRAMS };
    programs.iter().find_map(|(workload, threads)| {
        let spec = Spec {
            threads: Some(*threads),
            runtime: mutant.runtime().map(str::to_owned),
            set: mutant.sets.iter().map(|set| (*set).to_owned()).collect(),
            ..Spec::new(*workload, mutant.design)
        };
        let points = if sound { SOUND_POINTS } else { POINTS };
        let run = || explore_with(&spec, Points::Count(points), &|spec| observe(mutant, sound, spec));
        let caught = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(report)) => report.failures.first().map(|failure| failure.why.clone()),
            Ok(Err(Error::Stuck(why))) => Some(why),
            Ok(Err(error)) => panic!("{}: {workload}: {error}", mutant.name),
            Err(_) => Some("the run stops: a count is below zero".to_owned()),
        };
        caught.map(|why| format!("{workload} with {threads} threads: {why}"))
    })
}
