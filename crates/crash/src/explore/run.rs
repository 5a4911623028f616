//! One of the runs in which power fails.

use super::points::Points;
use super::shake::{seed, shake};
use super::sizes::small;
use super::until::Until;
use crate::judge::fault::Fault;
use crate::judge::order::{judge, Models};
use crate::judge::regions::Regions;
use crate::judge::walk::{Finding, Walk};
use strandline_machine::config::HostCoherence;
use strandline_sim::{Error, Observation, Spec};

/// How a spec is run.
pub type Observe<'a> = &'a dyn Fn(&Spec) -> Result<Observation, Error>;

/// A run, observed.
pub struct Run {
    /// Its number; run 0 is unperturbed.
    pub number: usize,
    /// The user's specification, without the run's own settings.
    pub spec: Spec,
    /// The perturbed settings.
    pub shaken: Vec<String>,
    /// What happened.
    pub observation: Observation,
    regions: Regions,
    disorder: Option<Finding>,
}

impl Run {
    /// Makes the `number`-th run of `spec`.
    ///
    /// # Errors
    /// Bad input; a run without progress, with its perturbation; or [`Error::Stopped`].
    pub fn of(spec: &Spec, number: usize, until: &Until, observe: Observe<'_>) -> Result<Run, Error> {
        let (shaken, full) = perturbed(spec, number);
        let observation = observe(&full).map_err(|error| named(error, number, &shaken))?;
        Ok(Run {
            number,
            spec: spec.clone(),
            shaken,
            regions: Regions::of(&observation.journal.notes),
            disorder: disorder(&observation, until)?,
            observation,
        })
    }

    /// Its durable events.
    pub fn events(&self) -> usize {
        self.observation.journal.durable.len()
    }

    /// Those up to the end of a cycle.
    pub fn events_until(&self, cycle: u64) -> usize {
        self.observation
            .journal
            .durable
            .partition_point(|event| event.at.0 <= cycle)
    }

    /// The cycle of its last durable event.
    pub fn ends_at(&self) -> u64 {
        self.observation.journal.durable.last().map_or(0, |event| event.at.0)
    }

    /// A walk through its crash points, from the first.
    pub fn walk(&self) -> Walk<'_> {
        let run = &self.observation;
        Walk::new(&run.journal, &self.regions, &run.initial, &*run.program)
    }

    /// The crash points that are recovered and judged, in order. The model has judged all points; a point that it
    /// forbids is included.
    pub fn chosen(&self, points: Points) -> Vec<usize> {
        let mut chosen = points.of(self.events(), self.observation.record.ran.seed);
        chosen.extend(self.disorder.as_ref().map(|finding| finding.event));
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// The fault of the crash after `event` durable events; moves `walk` there.
    pub fn point(&self, walk: &mut Walk<'_>, event: usize) -> Option<Finding> {
        let disorder = self.disorder.clone().filter(|disorder| disorder.event == event);
        match (walk.point(event), disorder) {
            (Some(mut finding), Some(disorder)) => {
                finding.faults.extend(disorder.faults);
                Some(finding)
            }
            (finding, disorder) => finding.or(disorder),
        }
    }

    /// Its earliest crash point that fails, if it is found before the user's stop.
    pub fn earliest(&self, until: &Until) -> Option<Finding> {
        let mut walk = self.walk();
        let mut events = (0..=self.events()).take_while(|_| !until.stopped());
        events.find_map(|event| self.point(&mut walk, event))
    }
}

/// Structures begin as they are built: growing ones do most of what is rare in their first tasks.
const AS_BUILT: &str = "machine.simulation.warm=footprint";

/// The perturbed settings of run `number` of `spec`, and the whole run: small, and without warm-up unless `spec` asks.
pub fn perturbed(spec: &Spec, number: usize) -> (Vec<String>, Spec) {
    let shaken = shake(spec, number);
    let sizes = small(spec).into_iter().map(|size| size.set(size.value));
    let defaults = sizes.chain([AS_BUILT.to_owned()]);
    let sets = shaken.iter().cloned().chain(defaults).chain(spec.set.iter().cloned());
    let full = Spec {
        seed: seed(spec, number),
        warm: Some(spec.warm.unwrap_or(0)),
        set: sets.collect(),
        ..spec.clone()
    };
    (shaken, full)
}

fn disorder(run: &Observation, until: &Until) -> Result<Option<Finding>, Error> {
    let machine = &run.machine;
    let is_one = machine.hosts == 1 || machine.cxl.coherence == HostCoherence::Hardware;
    // The model knows one coherent memory, of which nothing is lost before power is.
    if !is_one || machine.simulation.fails.host().is_some() {
        return Ok(None);
    }
    let mut models = Models::named(run.about.model)?;
    let model = models.on(&run.machine)?;
    let disorder = judge(model, &run.journal, &run.initial, &|| until.stopped());
    if until.stopped() {
        return Err(Error::Stopped);
    }
    Ok(disorder.map(|disorder| Finding {
        event: disorder.event,
        at: disorder.at,
        faults: vec![Fault::Disorder {
            model: model.name(),
            what: disorder.what,
        }],
    }))
}

fn named(error: Error, number: usize, shaken: &[String]) -> Error {
    match error {
        Error::Stuck { dead, text } if number > 0 => Error::Stuck {
            dead,
            text: format!("crash run {number} ({}): {text}", shaken.join(", ")),
        },
        error => error,
    }
}
