//! Crash states of recordings.

mod allowed;
mod edits;
mod functions;
mod shown;
mod words;

use crate::value::{Answer, Given};
use allowed::Allowed;
use edits::Change;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shown::Shown;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use strandline_crash::litmus::{Registered, Subject};
use strandline_crash::Points;
use strandline_record::states::Rules;
use strandline_sim::Error;

/// Which states of which recording.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatesSpec {
    recording: PathBuf,
    design: String,
    points: Points,
    seed: u64,
    replay: Option<String>,
    orders: Option<u32>,
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

/// The crash states of a recording, written one after the other.
#[pyclass(frozen)]
pub struct RecordingStates(Mutex<Inner>);

/// How the states are found.
enum Inner {
    Allowed(Box<Allowed>),
    Shown(Box<Shown>),
}

impl Inner {
    /// A design that keeps the order of the recorded fences has the states of its model, if these can be enumerated.
    /// For all others, and for names of simulated states, runs are simulated.
    fn open(spec: &StatesSpec) -> Result<Inner, Error> {
        let about = Registered::named(&spec.design)?.about();
        let simulated = spec.replay.as_ref().is_some_and(|name| name.starts_with("run"));
        let rules = Rules::of_model(about.model).filter(|_| about.promises_recovery && !simulated);
        Ok(match rules {
            Some(rules) => Inner::Allowed(Box::new(Allowed::open(spec, rules, about)?)),
            None if !spec.edits.is_empty() => return Err(Error::input(format!("{}: {NEEDS_A_MODEL}", spec.design))),
            None => Inner::Shown(Box::new(Shown::open(spec, about)?)),
        })
    }

    fn plan(&mut self) -> StatesPlan {
        match self {
            Inner::Allowed(states) => states.plan(),
            Inner::Shown(states) => states.plan(),
        }
    }

    fn next(&mut self, folder: &Path) -> Result<Option<Value>, Error> {
        match self {
            Inner::Allowed(states) => states.next(folder),
            Inner::Shown(states) => states.next(folder),
        }
    }

    fn named(&mut self, name: &str, folder: &Path) -> Result<Value, Error> {
        match self {
            Inner::Allowed(states) => states.named(name, folder),
            Inner::Shown(_) => Err(Error::input(format!("`{name}`: simulated runs yield the crash states"))),
        }
    }
}

/// Adds the functions on recordings and their programs to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    edits::add(module)?;
    functions::add(module)
}

#[pymethods]
impl RecordingStates {
    #[new]
    fn new(py: Python<'_>, spec: Given<StatesSpec>) -> PyResult<RecordingStates> {
        let inner = crate::ask(py, || Inner::open(&spec.0))?;
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
