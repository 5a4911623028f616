//! Crash states of recordings.

use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use strandline_crash::litmus::{Registered, Subject};
use strandline_record::order::{Op, Places, What};
use strandline_record::states::{Asked, Budget, CrashStates, Rules, Stored, Visit};
use strandline_record::{Recording, Source};
use strandline_sim::Error;

/// Stores that a state is explained by, of those that it has and of those that it lacks.
const MOST_STORES: usize = 16;

/// Which states of which recording.
#[derive(Deserialize)]
struct StatesSpec {
    recording: PathBuf,
    design: String,
    points: Value,
    seed: u64,
    replay: Option<String>,
}

/// The crash states of a recording, written one after the other.
#[pyclass(frozen)]
pub struct RecordingStates(Mutex<Inner>);

struct Inner {
    states: CrashStates,
    source: Source,
    model: &'static str,
}

impl StatesSpec {
    fn asked(&self) -> Result<(Asked, &'static str), Error> {
        let about = Registered::named(&self.design)?.about();
        let rules = Rules::of_model(about.model).ok_or_else(|| {
            let (name, model) = (about.name, about.model);
            Error::input(format!(
                "-d {name}: crash states of recordings are known for designs of the models px86, eadr and bbb, not {model}; take x86 or eadr"
            ))
        })?;
        let budget = match &self.points {
            Value::Number(number) => number.as_u64().map(Budget::Most),
            Value::String(text) if text == "all" => Some(Budget::All),
            _ => None,
        };
        let budget = budget.ok_or_else(|| Error::input(format!("--points {}: give a number or `all`", self.points)))?;
        let only = self.replay.as_ref().map(|name| name.parse()).transpose();
        let only = only.map_err(|why| Error::input(format!("--replay: {why}")))?;
        let asked = Asked {
            rules,
            budget,
            seed: self.seed,
            only,
        };
        Ok((asked, about.model))
    }
}

impl Inner {
    fn open(spec: &StatesSpec) -> Result<Inner, Error> {
        let wrong = |error: strandline_record::RecordError| Error::input(error.to_string());
        let (asked, model) = spec.asked()?;
        let recording = Recording::open(&spec.recording).map_err(wrong)?;
        let source = Source::new(recording.modules());
        let states = CrashStates::new(recording, asked).map_err(wrong)?;
        Ok(Inner { states, source, model })
    }

    fn plan(&mut self) -> Value {
        let plan = self.states.plan().clone();
        let audit: Vec<Value> = plan
            .audit
            .iter()
            .map(|(spot, count)| {
                let mut entry = site(&mut self.source, spot.pc);
                entry["finding"] = json!(spot.finding.key());
                entry["instruction"] = json!(spot.instruction);
                entry["count"] = json!(count);
                entry
            })
            .collect();
        let recording = self.states.recording();
        let file = |file: &strandline_record::order::PoolFile| json!({"name": file.name, "path": file.path, "bytes": file.bytes});
        let totals = recording.totals();
        json!({
            "program": recording.meta().program, "values": recording.meta().values, "warnings": recording.warnings(),
            "threads": recording.threads().len(), "instructions": totals.instructions,
            "persistent_stores": totals.persistent_stores, "tasks": plan.tasks, "model": self.model,
            "files": self.states.places().files().iter().map(file).collect::<Vec<_>>(),
            "intervals": plan.intervals, "visited_intervals": plan.visited_intervals, "visits": plan.visits,
            // As text: it may not fit JSON's numbers.
            "states": plan.states.exact.map(|exact| exact.to_string()), "states_log2": plan.states.log2,
            "taken_together": plan.taken_together, "audit": audit,
        })
    }

    fn next(&mut self, folder: &Path) -> Result<Option<Value>, Error> {
        let visit = self.states.next(&mut |name| folder.join(name));
        let visit = visit.map_err(|error| Error::input(error.to_string()))?;
        Ok(visit.map(|visit| self.show(folder, &visit)))
    }

    fn show(&mut self, folder: &Path, visit: &Visit) -> Value {
        let places = self.states.places();
        let files: Vec<PathBuf> = places
            .files()
            .iter()
            .map(|file| folder.join(&visit.name).join(&file.name))
            .collect();
        let source = &mut self.source;
        json!({
            "name": visit.name, "interval": visit.interval, "tasks": visit.tasks, "differs": visit.differs, "files": files,
            "began": operation(source, visit.began), "ends": operation(source, visit.ends),
            "has": stores(source, places, &visit.has), "has_stores": visit.has.len(),
            "lacks": stores(source, places, &visit.lacks), "lacks_stores": visit.lacks.len(),
        })
    }
}

fn site(source: &mut Source, pc: u64) -> Value {
    let site = source.site(pc);
    json!({
        "site": site.to_string(), "pc": site.pc, "symbol": site.symbol, "file": site.file, "line": site.line,
        "inlined_in": site.inlined_in, "module": site.module, "offset": site.offset,
    })
}

fn operation(source: &mut Source, op: Option<Op>) -> Option<Value> {
    let op = op?;
    let instruction = match op.what {
        What::Store(_) | What::Unknown => "store",
        What::StoreNt(_) => "non-temporal store",
        What::Flush(flush, _) => flush.name(),
        What::Fence(fence) => fence.name(),
        What::Sync { .. } => "msync",
        What::Marker(_) => "marker",
    };
    let mut value = site(source, op.pc);
    value["instruction"] = json!(instruction);
    value["thread"] = json!(op.thread);
    Some(value)
}

fn stores(source: &mut Source, places: &Places, stores: &[Stored]) -> Vec<Value> {
    let store = |store: &Stored| {
        let mut value = site(source, store.pc);
        value["place"] = json!(places.show(store.place));
        value["times"] = json!(store.times);
        value
    };
    stores.iter().take(MOST_STORES).map(store).collect()
}

#[pymethods]
impl RecordingStates {
    #[new]
    fn new(py: Python<'_>, spec: &str) -> PyResult<RecordingStates> {
        let spec: StatesSpec = crate::parse(spec)?;
        let inner = py.detach(|| Inner::open(&spec)).map_err(crate::raise)?;
        Ok(RecordingStates(Mutex::new(inner)))
    }

    fn plan(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).plan().to_string())
    }

    fn next(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Option<String>> {
        let next = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).next(&folder));
        Ok(next.map_err(crate::raise)?.map(|visit| visit.to_string()))
    }
}
