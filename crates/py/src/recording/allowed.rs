//! All states that a model allows.

use super::edits::edits;
use super::{shown, words, StatesPlan, StatesSpec};
use serde_json::{json, Value};
use std::path::Path;
use strandline_crash::recorded::{self, judge_beside, Judgement};
use strandline_crash::Points;
use strandline_design::About;
use strandline_record::states::{assumed, Asked, Assumed, Budget, CrashStates, Rules};
use strandline_record::{RecordError, Recording, Source};
use strandline_sim::Error;

/// The model that has the states of designs whose own model is not enumerated.
const FLUSHED: &str = "px86";

/// The share of the work that judged runs are, about.
const JUDGED: f64 = 0.4;

pub struct Allowed {
    states: CrashStates,
    source: Source,
    about: About,
    judgement: Judgement,
    assumed: Assumed,
}

impl Allowed {
    /// Judges a few runs, unless others do, and enumerates the states; tells the share of the work that is done.
    pub fn open(spec: &StatesSpec, rules: Rules, about: About, told: &mut dyn FnMut(f64)) -> Result<Allowed, Error> {
        let wrong = |error: RecordError| Error::input(error.to_string());
        let asked = asked(spec, rules)?;
        let recording = Recording::open(&spec.recording).map_err(wrong)?;
        let source = Source::of(&recording);
        let judgement = match asked.only {
            None if spec.judged => judge_beside(&recording, &recorded::spec(&spec.recording, &spec.design, spec.seed)),
            _ => Judgement::default(),
        };
        let assumed = assumed(&recording).map_err(wrong)?;
        let begun = if judgement.judged > 0 { JUDGED } else { 0.0 };
        told(begun);
        let recording = recording.edited(edits(&spec.edits));
        let states = CrashStates::told(recording, asked, &mut |share| told(begun + (1.0 - begun) * share));
        let states = states.map_err(wrong)?;
        Ok(Allowed {
            states,
            source,
            about,
            judgement,
            assumed,
        })
    }

    /// Number of its states that are visited, but for those before and after the program.
    pub fn visits(&self) -> u64 {
        self.states.plan().visits.saturating_sub(2)
    }

    pub fn plan(&mut self) -> StatesPlan {
        let plan = self.states.plan().clone();
        let (recording, places) = (self.states.recording(), self.states.places());
        let mut value = words::recording(recording, places, &self.about, &mut self.source, &plan.audit);
        let allowed_by = Rules::of_model(self.about.model).map_or(FLUSHED, |_| self.about.model);
        let own = json!({
            "tasks": plan.tasks, "intervals": plan.intervals, "visited_intervals": plan.visited_intervals,
            "states_log2": plan.states.log2, "visits": plan.visits, "taken_together": plan.taken_together,
            "runs": null, "allowed_by": allowed_by, "orders": plan.orders, "orders_tried": plan.orders_tried, "classes": plan.classes,
        });
        words::add(&mut value, own);
        words::reads(&mut value, &mut self.source, &plan.reads);
        words::add(&mut value, shown::judgement(&self.judgement));
        words::assumed(&mut value, &mut self.source, &self.assumed);
        StatesPlan {
            keys: value,
            states: plan.states.exact,
        }
    }

    pub fn next(&mut self, folder: &Path) -> Result<Option<Value>, Error> {
        let visit = self.states.next(&mut |name| folder.join(name));
        let visit = visit.map_err(|error| Error::input(error.to_string()))?;
        let (source, places) = (&mut self.source, self.states.places());
        Ok(visit.map(|visit| words::visit(source, places, folder, &visit, words::MOST_STORES)))
    }

    /// The state of this name, with its pending `lines`.
    pub fn named(&mut self, name: &str, folder: &Path) -> Result<Value, Error> {
        let name = name.parse().map_err(|why: String| Error::input(why))?;
        let found = self.states.named(&name, &mut |name| folder.join(name));
        let (visit, lines) = found.map_err(|error| Error::input(error.to_string()))?;
        let mut value = words::visit(&mut self.source, self.states.places(), folder, &visit, usize::MAX);
        value["lines"] = json!(lines);
        Ok(value)
    }
}

fn asked(spec: &StatesSpec, rules: Rules) -> Result<Asked, Error> {
    let budget = match spec.points {
        Points::Count(count) => Budget::Most(count),
        Points::All => Budget::All,
    };
    let only = spec.replay.as_ref().map(|name| name.parse()).transpose();
    let only = only.map_err(|why| Error::input(format!("--replay: {why}")))?;
    Ok(Asked {
        rules,
        budget,
        seed: spec.seed,
        only,
        fails: spec.fails.clone(),
        orders: spec.orders,
    })
}
