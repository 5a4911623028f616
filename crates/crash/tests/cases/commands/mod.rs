//! Random whole `crash` commands, under each design. None may panic, hang, or leave a wrong state.

mod draw;
mod found;
mod shrink;

use crate::case::{Case, Check};
use crate::mutants::all::mutants;
use crate::planted::{finding, FoundFault, Planted};
use crate::thinning::amount;
use strandline_crash::litmus::Subject;
use strandline_crash::{command, first_failure, FaultKind, Points};
use strandline_design::About;
use strandline_designs::abouts;
use strandline_kernel::Cycles;
use strandline_sim::{check_needs, Error, Plan, Spec};

/// Number of recovered crash states of a command; the model judges all states.
const POINTS: Points = Points::Count(24);

/// Cycles without the end of a task: on the slowest machine, a task of some hundred stores takes a million.
const PATIENCE: Cycles = Cycles(4_000_000);

/// Random commands under each design.
pub fn random_commands() -> Vec<Check> {
    let amount = amount();
    let seeds = move |about: About| (0..amount.commands).map(move |seed| (about, seed));
    let check = |(about, seed): (About, u64)| Check {
        suite: "commands",
        name: format!("{}::{seed}", about.name),
        design: about.name,
        weight: 300,
        finds: Box::new(move |planted| wrong(planted, draw::command(&about, seed))),
    };
    abouts().into_iter().flat_map(seeds).map(check).collect()
}

/// Commands that once failed.
pub fn found() -> Vec<Check> {
    found::COMMANDS
        .iter()
        .map(|(name, words)| found::check(name, words))
        .collect()
}

/// The failure of a command, and the shortest command with the same failure.
fn wrong(planted: &Planted, spec: Spec) -> Option<FoundFault> {
    let first = tried(planted, &spec)?;
    let same = |spec: &Spec| tried(planted, spec).is_some_and(|found| found.kind == first.kind);
    let shortest = shrink::shortest(spec, same);
    let text = tried(planted, &shortest).map_or(first.text, |found| found.text);
    Some(FoundFault {
        kind: first.kind,
        text: format!("strandline {}: {text}", command(&shortest)),
    })
}

/// The failure of a command. A refusal is right, and so is an unrecovered state of a design or runtime without a
/// promise.
fn tried(planted: &Planted, spec: &Spec) -> Option<FoundFault> {
    let found = finding(planted, || {
        match first_failure(spec, POINTS, &|spec| planted.observe_for(spec, PATIENCE)) {
            Err(Error::Input(_)) => Ok(None),
            other => Ok(other?.map(|failure| FoundFault::new(failure.kind, failure.why))),
        }
    })?;
    let is_bound = !planted.promises_recovery(spec) && found.kind == Some(FaultKind::Unrecovered);
    (!is_bound).then_some(found)
}

/// Tests the generator: most commands run, and a planted bug is found and shrunk.
pub fn proofs() -> Vec<Case> {
    vec![
        Case::new("tables", "most_random_commands_are_run", 10, most_are_run),
        Case::new("tables", "random_commands_find_a_planted_bug", 100, finds_a_bug),
    ]
}

fn most_are_run() -> Result<(), String> {
    const DRAWN: u64 = 40;
    let refused = |about: &About, seed: u64| {
        let plan = Plan::of(&draw::command(about, seed));
        plan.and_then(|plan| check_needs(about, &plan.machine)).err()
    };
    for about in abouts() {
        let refused: Vec<Error> = (0..DRAWN).filter_map(|seed| refused(&about, seed)).collect();
        if refused.len() as u64 > DRAWN / 3 {
            return Err(format!("{}: {refused:#?}", about.name));
        }
    }
    Ok(())
}

fn finds_a_bug() -> Result<(), String> {
    let mutant = mutants()
        .into_iter()
        .find(|mutant| mutant.name == "x86/flush-dropped")
        .expect("a mutant");
    let planted = Planted::of(mutant);
    let about = planted.about();
    let found = (0..20).find_map(|seed| wrong(&planted, draw::command(&about, seed)));
    let found = found.ok_or("nothing is found")?;
    // A batch of echo has two tasks.
    let is_small = ["1", "2"].map(|tasks| found.text.contains(&format!("--threads 1 --tasks {tasks} ")));
    match is_small.contains(&true) && !found.text.contains("--set") {
        true => Ok(()),
        false => Err(found.text),
    }
}
