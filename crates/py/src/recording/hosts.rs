//! What is wrong if each thread is a host of its own.

use super::words;
use crate::value::Answer;
use pyo3::prelude::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use strandline_record::hosts::{judge, Fault, Seen};
use strandline_record::order::Places;
use strandline_record::{At, RecordError, Recording, Source};
use strandline_sim::Error;

/// The faults between hosts, by their instructions, and the threads that store to persistent memory.
#[pyfunction]
#[pyo3(name = "recording_hosts")]
fn hosts(py: Python<'_>, path: PathBuf) -> PyResult<Answer<Value>> {
    crate::ask(py, || judged(&path).map_err(|error| Error::input(error.to_string()))).map(Answer)
}

fn judged(path: &Path) -> Result<Value, RecordError> {
    let recording = Recording::open(path)?;
    let places = Places::of(recording.regions());
    let mut source = Source::of(&recording);
    let judged = judge(&recording)?;
    let faults: Vec<Value> = judged
        .faults
        .iter()
        .map(|(fault, seen)| entry(&mut source, &places, fault, seen))
        .collect();
    Ok(json!({"hosts": recording.threads().len(), "storing": judged.storing, "faults": faults}))
}

fn entry(source: &mut Source, places: &Places, fault: &Fault, seen: &Seen) -> Value {
    let (key, why) = fault.kind.key();
    let mut site = |at: At| words::site(source, at);
    let (store, other) = (site(fault.store), site(fault.other));
    let mut optional = |at: Option<At>| at.map_or(Value::Null, &mut site);
    json!({
        "fault": key, "why": why, "store": store, "other": other, "hosts": [seen.hosts.0, seen.hosts.1],
        "place": places.show(seen.word), "times": seen.times, "since": optional(seen.since), "flag": optional(seen.flag),
        "acts": optional(seen.acts),
    })
}

/// Adds the function to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hosts, module)?)
}
