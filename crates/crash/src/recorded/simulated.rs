//! One simulated run of a recording.

use crate::explore::run::Observe;
use crate::explore::shake::{seed, shake};
use strandline_isa::Memory;
use strandline_machine::{Durable, Journal};
use strandline_sim::{Error, Observation, Run, Spec, Traced, RECORDING_MACHINE};

/// A run's perturbation and result.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its number.
    pub number: usize,
    /// The perturbed settings; empty for the unchanged machine.
    pub shaken: Vec<String>,
    /// Its durable events.
    pub events: usize,
}

/// A run with its durable writes.
pub struct Simulated {
    /// The run.
    pub ran: Ran,
    /// The durable writes, without the executed operations.
    pub journal: Journal,
}

impl Simulated {
    /// Makes the `number`-th run of the recording.
    ///
    /// # Errors
    /// Bad input, or a run without progress.
    pub fn of(spec: &Spec, number: usize) -> Result<Simulated, Error> {
        let (shaken, observation) = observed(spec, number, &durable)?;
        Ok(kept(number, shaken, observation.journal))
    }

    /// As [`Simulated::of`], with memory before the run.
    ///
    /// # Errors
    /// As [`Simulated::of`].
    pub fn with_initial(spec: &Spec, number: usize) -> Result<(Simulated, Memory), Error> {
        let (shaken, run) = observed(spec, number, &durable)?;
        Ok((kept(number, shaken, run.journal), run.initial))
    }

    /// The `event`-th durable event, from 1.
    pub fn durable(&self, event: usize) -> Option<&Durable> {
        self.journal.durable.get(event.checked_sub(1)?)
    }
}

fn durable(spec: &Spec) -> Result<Observation, Error> {
    Run::of(spec).observe(Traced::Nothing)
}

/// Makes the `number`-th run of the recording by `observe`; returns the perturbation and the observation.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn observed(spec: &Spec, number: usize, observe: Observe<'_>) -> Result<(Vec<String>, Observation), Error> {
    // The perturbation needs only the machine. A workload replaces the recording, which would be read each time.
    let machine = spec.machine.clone().or_else(|| Some(RECORDING_MACHINE.to_owned()));
    let stand_in = Spec {
        workload: "sps".to_owned(),
        threads: None,
        machine,
        set: spec
            .set
            .iter()
            .filter(|set| !set.starts_with("recording."))
            .cloned()
            .collect(),
        ..spec.clone()
    };
    let shaken = shake(&stand_in, number);
    let full = Spec {
        seed: seed(spec, number),
        set: shaken.iter().chain(&spec.set).cloned().collect(),
        ..spec.clone()
    };
    let observation = observe(&full)?;
    Ok((shaken, observation))
}

/// The data of a run that is kept.
pub fn kept(number: usize, shaken: Vec<String>, journal: Journal) -> Simulated {
    let journal = Journal {
        durable: journal.durable,
        ..Journal::default()
    };
    let events = journal.durable.len();
    Simulated {
        ran: Ran { number, shaken, events },
        journal,
    }
}
