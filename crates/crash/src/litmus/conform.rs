//! Litmus tests on a design: it must reach no forbidden state, and the reached states are recorded.

use super::observe::Case;
use super::subject::Subject;
use super::timing::Timings;
use crate::judge::fault::FaultKind;
use crate::judge::order::{input, Models};
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use strandline_design::{About, Hosts};
use strandline_machine::config::HostCoherence;
use strandline_machine::MachineConfig;
use strandline_order::{allowed, Allowed, State, Test};
use strandline_sim::Error;

/// The states of a test that a design reached.
#[derive(Clone, Debug, Serialize)]
pub struct Conformance {
    /// The design.
    pub design: &'static str,
    /// The model that judged it, without variants for machines.
    pub model: String,
    /// Runs, each on another machine; none follows a run that did not end.
    pub runs: u64,
    /// Crash states, all runs together.
    pub crash_states: u64,
    /// The states shown.
    pub shown: BTreeSet<State>,
    /// The same by the model and its variants (`px86:weak-locks`), each of which judges some of the machines.
    pub judged: BTreeMap<String, UnderModel>,
    /// Reached states that the model forbids, the first run of each.
    pub violations: Vec<Violation>,
    /// The run that did not end.
    pub stuck: Option<StuckRun>,
}

/// The runs on machines that one variant of the model judges.
#[derive(Clone, Debug, Serialize)]
pub struct UnderModel {
    /// The presets of the machines.
    pub machines: BTreeSet<String>,
    /// The number of runs.
    pub runs: u64,
    /// Whether the variant leaves the test undefined.
    pub undefined: bool,
    /// The states that it allows.
    pub allowed: BTreeSet<State>,
    /// The states shown on these machines.
    pub shown: BTreeSet<State>,
}

impl UnderModel {
    /// Before the first run.
    fn of(allowed: &Allowed) -> UnderModel {
        UnderModel {
            machines: BTreeSet::new(),
            runs: 0,
            undefined: allowed.undefined,
            allowed: allowed.states.clone(),
            shown: BTreeSet::new(),
        }
    }
}

/// A run that did not end.
#[derive(Clone, Debug, Serialize)]
pub struct StuckRun {
    /// Whether it stands still or goes on without progress.
    pub kind: FaultKind,
    /// The preset of the machine.
    pub machine: String,
    /// The seed that reproduces the run.
    pub seed: u64,
    /// The waiters and the run, by lines.
    pub detail: Vec<String>,
}

/// A state that a design reached and its model forbids.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    /// The state.
    pub values: State,
    /// The preset of the machine.
    pub machine: String,
    /// The seed that reproduces the run.
    pub seed: u64,
    /// The run, by lines.
    pub detail: Vec<String>,
}

/// The model of x86 hosts whose caches nothing keeps alike, on a device with ADR, and that of hosts with a directory. No machine has what
/// `cxl0` says: it judges none.
const ACROSS_HOSTS: [&str; 2] = ["cxl-today", "cxl-coherent"];

/// The model that judges a design on a test, and where hosts are coherent: none if no candidate defines the test's instructions.
fn models_for(about: &About, test: &Test) -> Result<Option<(&'static str, [Models; 2])>, Error> {
    let [apart, coherent] = ACROSS_HOSTS;
    let has_model =
        matches!(about.needs.hosts, Hosts::Any | Hosts::Apart(_)) && about.needs.adr && about.model == "px86";
    let candidates = match test.hosts.are_named() {
        true if has_model => vec![[apart, coherent]],
        true => vec![],
        false => [Some(about.model), about.intents]
            .into_iter()
            .flatten()
            .map(|name| [name, name])
            .collect(),
    };
    for [name, coherent] in candidates {
        let models = Models::named(name)?;
        if models.plain().takes(test) {
            return Ok(Some((name, [models, Models::named(coherent)?])));
        }
    }
    Ok(None)
}

/// Runs a test under a design on `runs` machines; `None` if the test does not apply to the design.
///
/// # Errors
/// A machine that does not exist.
pub fn conform(
    subject: &dyn Subject,
    test: &Test,
    machines: Option<&[String]>,
    runs: u64,
    seed: u64,
) -> Result<Option<Conformance>, Error> {
    let about = subject.about();
    // A machine has one host that fails.
    let Some((model, models)) = models_for(&about, test)?.filter(|_| test.hosts.fail.len() <= 1) else {
        return Ok(None);
    };
    let timings = Timings::of(about, machines)?;
    let mut judge = Judge {
        models,
        known: BTreeMap::new(),
    };
    let mut conformance = Conformance {
        design: about.name,
        model: model.to_owned(),
        runs: 0,
        crash_states: 0,
        shown: BTreeSet::new(),
        judged: BTreeMap::new(),
        violations: Vec::new(),
        stuck: None,
    };
    for seed in seed..seed + runs {
        conformance.runs += 1;
        let case = Case::of(subject, &timings, test, seed);
        let observed = match case.observe(subject) {
            Ok(observed) => observed,
            Err(Error::Stuck { dead, text }) => {
                conformance.stuck = Some(StuckRun {
                    kind: FaultKind::of_stuck(dead),
                    detail: [vec![text], case.describe(test)].concat(),
                    machine: case.machine.name,
                    seed,
                });
                break;
            }
            Err(error) => return Err(error),
        };
        let machine = &case.machine;
        let (variant, allowed) = judge.allowed(test, machine)?;
        let states = observed.states(test);
        let under = conformance
            .judged
            .entry(variant)
            .or_insert_with(|| UnderModel::of(allowed));
        under.machines.insert(machine.name.clone());
        under.runs += 1;
        under.shown.extend(states.iter().map(|found| found.state.clone()));
        for found in states {
            conformance.crash_states += 1;
            let known = conformance
                .violations
                .iter()
                .any(|violation| violation.values == found.state);
            if !allowed.undefined && !allowed.states.contains(&found.state) && !known {
                conformance.violations.push(Violation {
                    values: found.state.clone(),
                    machine: machine.name.clone(),
                    seed,
                    detail: observed.describe(test, found.event),
                });
            }
            conformance.shown.insert(found.state);
        }
    }
    Ok(Some(conformance))
}

/// The states that the model allows on each kind of machine.
struct Judge {
    /// Of machines in general, and of those whose hosts are coherent.
    models: [Models; 2],
    known: BTreeMap<String, Allowed>,
}

impl Judge {
    /// The variant for this machine, and the states that it allows.
    fn allowed(&mut self, test: &Test, machine: &MachineConfig) -> Result<(String, &Allowed), Error> {
        let is_coherent = machine.hosts > 1 && machine.cxl.coherence == HostCoherence::Hardware;
        let model = self.models[usize::from(is_coherent)].on(machine)?;
        let allowed = match self.known.entry(model.name()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(allowed(test, model).map_err(input)?),
        };
        Ok((model.name(), allowed))
    }
}
