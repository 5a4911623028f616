//! One simulated run of a recording.

use super::lines::Lines;
use crate::order::{judge_named, Models};
use crate::shake::{seed, shake};
use strandline_isa::{Line, LineData, Memory};
use strandline_kernel::Cycles;
use strandline_machine::{Durable, Journal};
use strandline_sim::{observe, observe_durable, Error, Observation, Spec, RECORDING_MACHINE};

/// A crash state that the design's model does not allow.
#[derive(Clone, Debug)]
pub struct Disorder {
    /// The run, and how many durable events there were by the crash.
    pub run: usize,
    /// The durable events before the crash.
    pub event: usize,
    /// When power fails.
    pub at: Cycles,
    /// What is wrong.
    pub what: String,
}

/// What was done to the machine for a run, and what came of it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its number.
    pub number: usize,
    /// What shaking set; empty for the machine as it is.
    pub shaken: Vec<String>,
    /// Its durable events.
    pub events: usize,
}

/// A run with what became durable in it.
pub struct Simulated {
    /// The run.
    pub ran: Ran,
    /// What became durable, and what power failures do; without what the cores executed.
    pub journal: Journal,
}

impl Simulated {
    /// Runs the recording for the `number`-th time.
    ///
    /// # Errors
    /// Bad input, or a run without progress.
    pub fn of(spec: &Spec, number: usize) -> Result<Simulated, Error> {
        let (shaken, observation) = observed(spec, number, &observe_durable)?;
        Ok(kept(number, shaken, observation.journal))
    }

    /// As [`Simulated::of`]; the first crash state that the design's model does not allow; and memory before the run.
    ///
    /// # Errors
    /// As [`Simulated::of`].
    pub fn judged(spec: &Spec, number: usize, lines: &Lines) -> Result<(Simulated, Option<Disorder>, Memory), Error> {
        let (shaken, run) = observed(spec, number, &observe)?;
        let mut models = Models::named(run.about.model)?;
        let model = models.on(&run.machine)?;
        let disorder = judge_named(model, &run.journal, &run.initial, &|addr| lines.name(addr));
        let disorder = disorder.map(|disorder| Disorder {
            run: number,
            event: disorder.event,
            at: disorder.at,
            what: format!("model {}: {}", model.name(), disorder.what),
        });
        Ok((kept(number, shaken, run.journal), disorder, run.initial))
    }

    /// As [`Simulated::of`], and memory before the run.
    ///
    /// # Errors
    /// As [`Simulated::of`].
    pub fn with_initial(spec: &Spec, number: usize) -> Result<(Simulated, Memory), Error> {
        let (shaken, run) = observed(spec, number, &observe_durable)?;
        Ok((kept(number, shaken, run.journal), run.initial))
    }

    /// The durable event that is the `event`-th, from 1.
    pub fn durable(&self, event: usize) -> Option<&Durable> {
        self.journal.durable.get(event.checked_sub(1)?)
    }

    /// What the design does to memory if power fails after so many events.
    pub fn failure(&self, event: usize, failure: Option<usize>) -> &[(Line, LineData)] {
        let failures = self.journal.failures_after(event);
        failure
            .and_then(|number| failures.get(number))
            .map_or(&[], |(_, lines)| lines)
    }
}

type Observing<'a> = &'a dyn Fn(&Spec) -> Result<Observation, Error>;

fn observed(spec: &Spec, number: usize, observe: Observing<'_>) -> Result<(Vec<String>, Observation), Error> {
    // Shaking asks for the machine only; a workload stands in for the recording, which would be read each time.
    let machine = spec.machine.clone().or_else(|| Some(RECORDING_MACHINE.to_owned()));
    let stand_in = Spec {
        workload: "sps".to_owned(),
        threads: 1,
        machine,
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

fn kept(number: usize, shaken: Vec<String>, journal: Journal) -> Simulated {
    let journal = Journal {
        durable: journal.durable,
        power_failures: journal.power_failures,
        ..Journal::default()
    };
    let events = journal.durable.len();
    Simulated {
        ran: Ran { number, shaken, events },
        journal,
    }
}
