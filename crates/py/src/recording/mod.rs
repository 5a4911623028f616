//! Crash states of recordings.

mod allowed;
mod edits;
mod functions;
mod hosts;
mod shown;
mod words;

use crate::collect::teller;
use crate::value::{Answer, Given};
use allowed::Allowed;
use edits::Change;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};
use shown::Shown;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use strandline_crash::litmus::{Registered, Subject};
use strandline_crash::recorded::sources;
use strandline_crash::Points;
use strandline_design::About;
use strandline_record::states::Rules;
use strandline_sim::Error;

/// Which states of which recording.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatesSpec {
    recording: PathBuf,
    design: String,
    points: Points,
    seed: u64,
    replay: Option<String>,
    orders: Option<u32>,
    /// If each thread is a host of its own: those that fail.
    fails: Option<Vec<u32>>,
    /// Whether the model also judges runs beside the states that it allows.
    judged: bool,
    /// Changes of flushes, fences and stores, if the model yields the states.
    edits: Vec<Change>,
}

/// Of changes under other designs.
const NEEDS_A_MODEL: &str =
    "simulated runs yield its crash states, and flushes cannot be left out of them: choose a design with model px86, eadr or bbb";

/// What there is.
#[derive(Serialize)]
struct StatesPlan {
    #[serde(flatten)]
    keys: Value,
    /// The number of states, if it fits. JSON's numbers end at 2^64.
    states: Option<u128>,
}

impl StatesPlan {
    /// The plan of two sources: what the second has of its own, and the sums. Two states may have equal bytes.
    fn and(self, shown: StatesPlan) -> StatesPlan {
        let mut keys = self.keys;
        for key in ["runs", "judged", "not_judged", "disorders"] {
            keys[key] = shown.keys[key].clone();
        }
        keys["visits"] = json!(keys["visits"].as_u64().unwrap_or(0) + shown.keys["visits"].as_u64().unwrap_or(0));
        StatesPlan {
            // The state before the program is in both.
            states: self
                .states
                .zip(shown.states)
                .map(|(allowed, shown)| allowed + shown - 1),
            keys,
        }
    }
}

/// The crash states of a recording, written one after the other.
#[pyclass(frozen)]
pub struct RecordingStates(Mutex<Inner>);

/// How the states are found.
enum Inner {
    Allowed(Box<Allowed>),
    Shown(Box<Shown>),
    /// First those that `px86` allows, then those that runs show.
    Both(Box<Allowed>, Box<Shown>),
}

impl Inner {
    /// The states of the design's sources. A state that is asked for by name has one source, and so have those of a changed
    /// program.
    fn open(spec: &StatesSpec, told: &mut dyn FnMut(f64)) -> Result<Inner, Error> {
        let about = Registered::named(&spec.design)?.about();
        let (rules, simulates) = match (sources(&about), &spec.replay) {
            (_, Some(name)) if name.starts_with("run") => (None, true),
            ((Some(rules), _), Some(_)) => (Some(rules), false),
            (both, _) => both,
        };
        if simulates && !spec.edits.is_empty() {
            return Err(Error::input(format!("{}: {NEEDS_A_MODEL}", spec.design)));
        }
        Ok(match rules {
            Some(rules) if simulates => Inner::both(spec, rules, about, told)?,
            Some(rules) => Inner::Allowed(Box::new(Allowed::open(spec, rules, about, told)?)),
            None => Inner::Shown(Box::new(Shown::open(spec, about, true, told)?)),
        })
    }

    /// Each source has half of the points, and the second also what the first leaves.
    fn both(spec: &StatesSpec, rules: Rules, about: About, told: &mut dyn FnMut(f64)) -> Result<Inner, Error> {
        let own = StatesSpec {
            points: spec.points.share(0, 2),
            judged: false,
            ..spec.clone()
        };
        let allowed = Allowed::open(&own, rules, about, &mut |share| told(share / 2.0))?;
        let points = match spec.points {
            Points::Count(count) => Points::Count(count.saturating_sub(allowed.visits())),
            Points::All => Points::All,
        };
        let own = StatesSpec { points, ..spec.clone() };
        let shown = Shown::open(&own, about, false, &mut |share| told(0.5 + share / 2.0))?;
        Ok(Inner::Both(Box::new(allowed), Box::new(shown)))
    }

    fn plan(&mut self) -> StatesPlan {
        match self {
            Inner::Allowed(states) => states.plan(),
            Inner::Shown(states) => states.plan(),
            Inner::Both(allowed, shown) => allowed.plan().and(shown.plan()),
        }
    }

    fn next(&mut self, folder: &Path) -> Result<Option<Value>, Error> {
        match self {
            Inner::Allowed(states) => states.next(folder),
            Inner::Shown(states) => states.next(folder),
            Inner::Both(allowed, shown) => match allowed.next(folder)? {
                Some(state) => Ok(Some(state)),
                None => shown.next(folder),
            },
        }
    }

    fn named(&mut self, name: &str, folder: &Path) -> Result<Value, Error> {
        match self {
            Inner::Allowed(states) | Inner::Both(states, _) => states.named(name, folder),
            Inner::Shown(_) => Err(Error::input(format!("`{name}`: simulated runs yield the crash states"))),
        }
    }
}

/// Adds the functions on recordings and their programs to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    edits::add(module)?;
    functions::add(module)?;
    hosts::add(module)
}

#[pymethods]
impl RecordingStates {
    #[new]
    fn new(py: Python<'_>, spec: Given<StatesSpec>, advance: Py<PyAny>) -> PyResult<RecordingStates> {
        let mut tell = teller(advance);
        let inner = crate::ask(py, || Inner::open(&spec.0, &mut |share| tell((100.0 * share) as u64)))?;
        Ok(RecordingStates(Mutex::new(inner)))
    }

    fn plan(&self, py: Python<'_>) -> Answer<StatesPlan> {
        Answer(py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).plan()))
    }

    fn next(&self, py: Python<'_>, folder: PathBuf) -> PyResult<Answer<Option<Value>>> {
        let next = || self.0.lock().unwrap_or_else(PoisonError::into_inner).next(&folder);
        crate::ask(py, next).map(Answer)
    }

    fn named(&self, py: Python<'_>, name: &str, folder: PathBuf) -> PyResult<Answer<Value>> {
        let named = || {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .named(name, &folder)
        };
        crate::ask(py, named).map(Answer)
    }
}
