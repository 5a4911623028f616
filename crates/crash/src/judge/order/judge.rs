//! The oracle's verdict on all crash states of a run.

use super::history::{Names, Traced};
use super::places::BytePlace;
use super::stale::unexcused;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::Memory;
use strandline_kernel::Cycles;
use strandline_machine::config::Consistency;
use strandline_machine::{Durable, Journal, MachineConfig};
use strandline_order::{Breach, Fault, Model, Oracle};
use strandline_sim::Error;

/// A crash state that the model forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// Number of durable events before the crash.
    pub event: usize,
    /// When power fails.
    pub at: Cycles,
    /// What is wrong.
    pub what: String,
}

/// A model with variants, because machines differ in what they promise.
pub struct Models {
    plain: Model,
    made: BTreeMap<BTreeSet<String>, Model>,
}

impl Models {
    /// The model of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Models, Error> {
        Ok(Models {
            plain: Model::named(name).map_err(input)?,
            made: BTreeMap::new(),
        })
    }

    /// The model, whatever the machine.
    pub fn plain(&self) -> &Model {
        &self.plain
    }

    /// The model on a machine.
    ///
    /// # Errors
    /// None, for a parsed model.
    pub fn on(&mut self, machine: &MachineConfig) -> Result<&Model, Error> {
        let variants = [
            ("weak-locks", !machine.core.lock_orders_flushes),
            ("weak-stores", machine.core.consistency != Consistency::Tso),
        ];
        let on = variants
            .iter()
            .filter(|(_, on)| *on)
            .map(|(name, _)| (*name).to_owned());
        match self.made.entry(on.collect()) {
            Entry::Occupied(made) => Ok(made.into_mut()),
            Entry::Vacant(place) => {
                let model = self.plain.with(place.key()).map_err(input)?;
                Ok(place.insert(model))
            }
        }
    }
}

/// Converts a mistake in a model or test into an input error.
pub fn input(fault: Fault) -> Error {
    Error::input(fault.to_string())
}

/// A model's verdict on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The first crash state that it forbids.
    pub disorder: Option<Disorder>,
    /// It leaves the run, or a part of it, undefined: a race.
    pub is_undefined: bool,
}

/// The first crash state of a run that the model forbids. It judges every state: after each durable event, and with
/// each output; and none any more once `is_stopped`.
pub fn judge(model: &Model, journal: &Journal, initial: &Memory, is_stopped: IsStopped<'_>) -> Option<Disorder> {
    judge_until(model, journal, initial, &|addr| addr.to_string(), is_stopped).disorder
}

/// As [`judge`], to the end, with other names for addresses.
pub fn judge_named(model: &Model, journal: &Journal, initial: &Memory, names: Names<'_>) -> Option<Disorder> {
    judge_all(model, journal, initial, names).disorder
}

/// As [`judge_named`], with whether the model defines the run.
pub fn judge_all(model: &Model, journal: &Journal, initial: &Memory, names: Names<'_>) -> Judged {
    judge_until(model, journal, initial, names, &|| false)
}

/// Whether the user has stopped the judge, whose verdict says nothing then.
pub type IsStopped<'a> = &'a dyn Fn() -> bool;

fn judge_until(
    model: &Model,
    journal: &Journal,
    initial: &Memory,
    names: Names<'_>,
    is_stopped: IsStopped<'_>,
) -> Judged {
    let wrong = |what| Judged {
        disorder: Some(Disorder {
            event: 0,
            at: Cycles::ZERO,
            what,
        }),
        is_undefined: false,
    };
    let mut traced = Traced::of(journal, initial, names);
    if let Some(what) = traced.wrong.take().or_else(|| unexcused(journal)) {
        return wrong(what);
    }
    let history = std::mem::take(&mut traced.history);
    let Some(oracle) = Oracle::new(model, history) else {
        return wrong(format!(
            "the order in which the cores saw stores is none that model {} allows",
            model.name()
        ));
    };
    traced.outputs.sort_unstable();
    let is_undefined = oracle.undefined().0 > 0;
    let first = Crashes {
        traced,
        names,
        oracle,
        journal,
        outputs: 0,
    }
    .first(is_stopped);
    Judged {
        disorder: first,
        is_undefined,
    }
}

struct Crashes<'j> {
    traced: Traced<'j>,
    names: Names<'j>,
    oracle: Oracle,
    journal: &'j Journal,
    /// The outputs that the world has observed.
    outputs: usize,
}

impl Crashes<'_> {
    fn first(mut self, is_stopped: IsStopped<'_>) -> Option<Disorder> {
        for event in (0..=self.counted()).take_while(|_| !is_stopped()) {
            let at = match event.checked_sub(1) {
                None => Cycles::ZERO,
                Some(last) => {
                    let durable = &self.journal.durable[last];
                    show(&mut self.oracle, &self.traced.places, durable);
                    durable.at
                }
            };
            let end = self.journal.durable.get(event).map_or(Cycles::NEVER, |next| next.at);
            let end = end.min(self.journal.counts_until());
            let wrong = self.breach(event, at).or_else(|| self.breach_at_outputs(event, end));
            if wrong.is_some() {
                return wrong;
            }
        }
        None
    }

    /// Durable events that count.
    fn counted(&self) -> usize {
        let until = self.journal.counts_until();
        self.journal.durable.partition_point(|durable| durable.at < until)
    }

    /// A violation at one of the outputs before `end`.
    fn breach_at_outputs(&mut self, event: usize, end: Cycles) -> Option<Disorder> {
        while let Some((at, output)) = self.next_output(end) {
            self.oracle.see(output);
            let wrong = self.breach(event, at);
            if wrong.is_some() {
                return wrong;
            }
        }
        None
    }

    /// The next output, if it happens before `end`.
    fn next_output(&mut self, end: Cycles) -> Option<(Cycles, usize)> {
        let next = self
            .traced
            .outputs
            .get(self.outputs)
            .copied()
            .filter(|(at, _)| *at < end)?;
        self.outputs += 1;
        Some(next)
    }

    fn breach(&mut self, event: usize, at: Cycles) -> Option<Disorder> {
        let what = match self.oracle.breach()? {
            Breach::Order { present, missing } => {
                let words = |event: usize| self.traced.words(self.journal, event);
                format!(
                    "`{}` is durable and `{}`, which comes before it, is not",
                    words(present),
                    words(missing)
                )
            }
            Breach::Foreign { location } => {
                let addr = (self.names)(self.traced.places[location].addr);
                format!("{addr} has a value that no store left there")
            }
        };
        Some(Disorder { event, at, what })
    }
}

/// Passes a line's durable content to the oracle.
pub fn show(oracle: &mut Oracle, places: &[BytePlace], durable: &Durable) {
    let line = durable.line;
    let first = places.partition_point(|place| place.addr < line.addr());
    for (number, place) in places.iter().enumerate().skip(first) {
        if place.addr.line() != line {
            break;
        }
        oracle.set(number, place.bits(durable.data[place.word_of_line()]));
    }
}
