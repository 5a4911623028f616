//! The states that simulated runs reach.

use super::{words, StatesPlan, StatesSpec};
use serde_json::{json, Value};
use std::path::Path;
use strandline_crash::recorded::{Asked, Disorder, Judgement, Origin, Point, Ran, SimulatedStates};
use strandline_design::About;
use strandline_record::states::{assumed, Assumed};
use strandline_record::Source;
use strandline_sim::Error;

pub struct Shown {
    states: SimulatedStates,
    source: Source,
    about: About,
    assumed: Assumed,
}

impl Shown {
    /// Simulates the runs, each of which it tells as a share of all. If it is not alone, the states before and after the program
    /// are those of another source, and so is what is assumed.
    pub fn open(spec: &StatesSpec, about: About, alone: bool, told: &mut dyn FnMut(f64)) -> Result<Shown, Error> {
        let asked = Asked {
            recording: spec.recording.clone(),
            design: spec.design.clone(),
            points: spec.points,
            seed: spec.seed,
            only: spec.replay.as_ref().map(|name| name.parse()).transpose()?,
            edges: alone,
        };
        let states = SimulatedStates::new(&asked, told)?;
        let source = Source::of(states.recording());
        let assumed = match alone {
            true => assumed(states.recording()).map_err(|error| Error::input(error.to_string()))?,
            false => Assumed::default(),
        };
        Ok(Shown {
            states,
            source,
            about,
            assumed,
        })
    }

    pub fn plan(&mut self) -> StatesPlan {
        let plan = self.states.plan().clone();
        let (recording, places) = (self.states.recording(), self.states.places());
        let mut value = words::recording(recording, places, &self.about, &mut self.source, &plan.audit);
        let own = json!({
            "tasks": plan.tasks, "intervals": null, "visited_intervals": null,
            "states_log2": (plan.states as f64).log2(),
            "visits": plan.visits, "taken_together": false,
            "runs": plan.runs.len(), "allowed_by": null, "orders": null, "orders_tried": null, "classes": null,
        });
        words::add(&mut value, own);
        words::add(&mut value, judgement(&plan.judgement));
        words::assumed(&mut value, &mut self.source, &self.assumed);
        StatesPlan {
            keys: value,
            states: Some(plan.states.into()),
        }
    }

    pub fn next(&mut self, folder: &Path) -> Result<Option<Value>, Error> {
        let Some((visit, origin)) = self.states.next(&mut |name| folder.join(name))? else {
            return Ok(None);
        };
        let mut value = words::visit(
            &mut self.source,
            self.states.places(),
            folder,
            &visit,
            words::MOST_STORES,
        );
        value["run"] = origin.map_or(Value::Null, |origin| from(&origin));
        Ok(Some(value))
    }
}

fn run(ran: &Ran, event: usize, at_cycles: Option<u64>, line: Option<&str>) -> Value {
    json!({
        "run": ran.number, "event": event, "events": ran.events, "machine": ran.shaken,
        "at_cycles": at_cycles, "line": line,
    })
}

fn from(origin: &Origin) -> Value {
    run(&origin.ran, origin.event, origin.at_cycles, origin.line.as_deref())
}

/// The model's verdict on simulated runs.
pub fn judgement(judgement: &Judgement) -> Value {
    json!({
        "judged": judgement.judged, "not_judged": judgement.not_judged,
        "disorders": judgement.disorders.iter().map(disorder).collect::<Vec<_>>(),
    })
}

fn disorder(disorder: &Disorder) -> Value {
    let point = Point {
        run: disorder.ran.number,
        event: disorder.event,
    };
    json!({
        "name": point.to_string(), "why": disorder.what,
        "run": run(&disorder.ran, disorder.event, Some(disorder.at.0), None),
    })
}
