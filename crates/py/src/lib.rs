//! Python bindings, thin: JSON in, JSON out, the interpreter lock released meanwhile. `_native.pyi` describes them.

mod collect;
mod import;
mod lists;
mod litmus;
mod recording;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{json, Value};
use strandline_crash::Request;
use strandline_machine::Machine;
use strandline_sim::{Error, Scope, Spec};

create_exception!(
    _native,
    InputError,
    PyException,
    "What was asked for cannot be run; one line."
);
create_exception!(
    _native,
    StuckError,
    PyException,
    "The simulated machine made no progress; one line."
);

fn raise(error: Error) -> PyErr {
    match error {
        Error::Input(text) => InputError::new_err(text),
        Error::Stuck(text) => StuckError::new_err(text),
    }
}

fn parse<T: for<'a> Deserialize<'a>>(spec: &str) -> PyResult<T> {
    serde_json::from_str(spec).map_err(|e| InputError::new_err(format!("specification: {e}")))
}

#[pyfunction]
fn run(py: Python<'_>, spec: &str) -> PyResult<String> {
    let spec: Spec = parse(spec)?;
    let record = py.detach(|| strandline_crash::run(&spec));
    Ok(json!(record.map_err(raise)?).to_string())
}

#[pyfunction]
fn crash(py: Python<'_>, request: &str) -> PyResult<String> {
    let request: Request = parse(request)?;
    let report = py.detach(|| request.answer());
    Ok(json!(report.map_err(raise)?).to_string())
}

#[pyfunction]
fn spec_fields() -> String {
    let scopes: Vec<&str> = Scope::ALL.into_iter().map(Scope::name).collect();
    json!({"run": Spec::fields(), "crash": Request::fields(), "scopes": scopes}).to_string()
}

#[pyfunction]
fn listing(kind: &str) -> PyResult<String> {
    lists::of(kind).map(|list| list.to_string()).map_err(raise)
}

#[pyfunction]
fn machine(name_or_path: &str, sets: Vec<String>) -> PyResult<String> {
    let describe = || -> Result<Value, Error> {
        let mut machine = Machine::load(name_or_path)?;
        for set in &sets {
            let (key, value) = set
                .strip_prefix("machine.")
                .and_then(|rest| rest.split_once('='))
                .ok_or_else(|| Error::input(format!("--set {set}: must be machine.KEY=VALUE")))?;
            machine.set(key, value)?;
        }
        machine.validate()?;
        Ok(json!(machine.describe()))
    };
    describe().map(|parameters| parameters.to_string()).map_err(raise)
}

#[pyfunction]
#[pyo3(name = "litmus")]
fn litmus_tests(py: Python<'_>, spec: &str) -> PyResult<String> {
    let asked: litmus::LitmusSpec = parse(spec)?;
    let answer = py.detach(|| litmus::litmus(&asked));
    answer.map(|answer| answer.to_string()).map_err(raise)
}

#[pyfunction]
fn litmus_shelf() -> String {
    litmus::names().to_string()
}

#[pyfunction]
fn litmus_dot(py: Python<'_>, spec: &str) -> PyResult<String> {
    let asked: litmus::DotSpec = parse(spec)?;
    let answer = py.detach(|| litmus::dot(&asked));
    answer.map(|answer| answer.to_string()).map_err(raise)
}

#[pyfunction]
fn random(py: Python<'_>, spec: &str) -> PyResult<String> {
    let asked: litmus::RandomSpec = parse(spec)?;
    let answer = py.detach(|| litmus::programs(&asked));
    answer.map(|answer| answer.to_string()).map_err(raise)
}

#[pyfunction]
fn import_trace(
    py: Python<'_>,
    trace: &str,
    out: &str,
    pm_ranges: Vec<String>,
    advance: Py<PyAny>,
) -> PyResult<String> {
    let answer = import::import(py, trace, out, &pm_ranges, advance);
    answer.map(|answer| answer.to_string()).map_err(raise)
}

#[pyfunction]
#[pyo3(name = "collect")]
fn collect_recording(py: Python<'_>, source: &str, out: &str, advance: Py<PyAny>) -> PyResult<String> {
    let answer = collect::collect(py, source, out, advance);
    answer.map(|answer| answer.to_string()).map_err(raise)
}

/// Whether a workload's name is the path of a recording.
#[pyfunction]
fn is_recording(name: &str) -> bool {
    Spec::new(name, "x86").is_recording()
}

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("InputError", m.py().get_type::<InputError>())?;
    m.add("StuckError", m.py().get_type::<StuckError>())?;
    m.add_class::<recording::RecordingStates>()?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(crash, m)?)?;
    m.add_function(wrap_pyfunction!(spec_fields, m)?)?;
    m.add_function(wrap_pyfunction!(listing, m)?)?;
    m.add_function(wrap_pyfunction!(machine, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_tests, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_shelf, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_dot, m)?)?;
    m.add_function(wrap_pyfunction!(is_recording, m)?)?;
    m.add_function(wrap_pyfunction!(random, m)?)?;
    m.add_function(wrap_pyfunction!(collect_recording, m)?)?;
    m.add_function(wrap_pyfunction!(import_trace, m)?)?;
    Ok(())
}
