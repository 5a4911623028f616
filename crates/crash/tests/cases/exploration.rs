//! Crash exploration: designs that promise recovery recover, and designs that order nothing are caught.

use crate::axes::{Axes, Row};
use crate::case::{Case, Check};
use crate::covering::rows;
use crate::planted::{finding, FoundFault, Planted};
use crate::thinning::{amount, Amount};
use strandline_crash::{explore, first_failure, replay, Points};
use strandline_machine::MachineConfig;
use strandline_sim::{Spec, Window};

const AUTO: Window = Window::Found(strandline_sim::FoundBy::Auto);

/// Every pair (triple) of: a design that promises recovery, a workload, a runtime, a number of threads, a machine, its
/// controllers, sizes of the design's structures, sharing of threads, and what locks order.
pub fn recovers() -> Vec<Check> {
    let amount = amount();
    let check = move |row: Row| {
        let spec = row.spec(amount);
        Check {
            suite: "recovers",
            name: row.name(),
            design: row.design.name,
            weight: spec.threads.unwrap_or(1) * spec.tasks.unwrap_or(0),
            finds: Box::new(move |planted| explored(planted, &spec, amount.points)),
        }
    };
    covered(true, amount.strength).into_iter().map(check).collect()
}

/// What crash exploration finds first.
pub fn explored(planted: &Planted, spec: &Spec, points: Points) -> Option<FoundFault> {
    finding(planted, || {
        let failure = first_failure(spec, points, &|spec| planted.observe(spec))?;
        Ok(failure.map(|failure| {
            let text = format!("{}; strandline {}", failure.why, failure.replay);
            FoundFault::new(failure.kind, text)
        }))
    })
}

fn covered(promises_recovery: bool, strength: usize) -> Vec<Row> {
    let axes = Axes::of(promises_recovery);
    let rows = rows(&axes.sizes(), strength, &|values| axes.fits(values));
    rows.iter().map(|values| axes.row(values)).collect()
}

/// Designs that order no persists, with each value at least once (in every pair): each workload, runtime, machine, ...
pub fn caught() -> Vec<Case> {
    let amount = amount();
    let rows = covered(false, amount.strength - 1);
    let unordered = rows.into_iter().filter(|row| row.design.intents.is_none());
    let case = move |row: Row| {
        let name = row.name();
        Case::new("caught", name, 50, move || fails_again(&row.spec(amount), amount))
    };
    unordered.map(case).collect()
}

/// The run must fail, and each failure must fail again when it is replayed.
pub fn fails_again(spec: &Spec, amount: Amount) -> Result<(), String> {
    let report = explore(spec, amount.points).map_err(|error| error.to_string())?;
    if report.failures.is_empty() || report.record.recovers != Some(false) {
        return Err("nothing is found".to_owned());
    }
    for failure in &report.failures {
        let words: Vec<&str> = failure.replay.split(' ').collect();
        let (again, place) = read(&words);
        let again = replay(&again, &place).map_err(|error| error.to_string())?;
        let same = again
            .failures
            .iter()
            .any(|other| other.why == failure.why && other.replay == failure.replay);
        if !same {
            return Err(format!("{} shows {:?}", failure.replay, again.failures));
        }
    }
    // Without fences, the first task is acknowledged before any of it is durable. Cceh releases a lock by a locked
    // instruction in between, which may take as long as its flush: the second task finds the controller busy. So may
    // stores that stay in the window until the L1 has their lines.
    let machine = spec.machine.as_deref().and_then(MachineConfig::preset);
    let stays = machine.is_some_and(|machine| machine.core.stores_retire_cached);
    let most = if stays || spec.workload == "cceh" { 2 } else { 1 };
    let smallest = &report.failures[0];
    match (smallest.tasks, smallest.threads) {
        (tasks, 1) if tasks <= most => Ok(()),
        _ => Err(format!("the smallest case has more than a task: {}", smallest.replay)),
    }
}

/// A command's options, as the front end parses them, and the crash point.
pub fn read(words: &[&str]) -> (Spec, String) {
    let ["crash", workload, "-d", design, ..] = words else {
        panic!("{words:?} is no command")
    };
    let (mut again, mut place) = (Spec::new(*workload, *design), String::new());
    for option in words[4..].chunks(2) {
        let value = option[1].to_owned();
        match option[0] {
            "-m" => again.machine = Some(value),
            "--runtime" => again.runtime = Some(value),
            "--threads" => again.threads = Some(value.parse().expect("threads")),
            "--tasks" => again.tasks = value.parse().ok(),
            "--seed" => again.seed = value.parse().expect("a seed"),
            "--window" => again.window = Some(value.parse().map_or(AUTO, Window::Tasks)),
            "--coroutines" => again.coroutines = Some(value),
            "--set" => again.set.push(value),
            "--replay" => place = value,
            other => panic!("{other} is no option of crash"),
        }
    }
    (again, place)
}
