//! Python bindings, thin: JSON in, JSON out, the interpreter lock released meanwhile. `_native.pyi` describes them.

mod collect;
mod lists;
mod litmus;
mod recording;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{json, Value};
use strandline_crash::Points;
use strandline_machine::Machine;
use strandline_sim::{Error, Spec, Window};

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

/// A run, and whether its crash states are to be checked too.
#[derive(Deserialize)]
struct RunSpec {
    #[serde(flatten)]
    run: SpecFields,
    #[serde(default)]
    recovers: bool,
}

/// A crash test of a run.
#[derive(Deserialize)]
struct CrashSpec {
    #[serde(flatten)]
    run: SpecFields,
    points: Value,
    #[serde(default)]
    replay: Option<String>,
}

/// How many crash states: a number or `all`.
fn points(asked: &Value) -> Result<Points, Error> {
    match asked {
        Value::String(text) => text.parse(),
        other => other.to_string().parse(),
    }
}

/// The keys of [`Spec`], with others beside them.
#[derive(Deserialize)]
struct SpecFields {
    workload: String,
    design: String,
    machine: Option<String>,
    runtime: Option<String>,
    threads: Option<u64>,
    tasks: Option<u64>,
    window: Option<Window>,
    coroutines: Option<String>,
    bmo: Option<u64>,
    seed: u64,
    set: Vec<String>,
    figure: Option<String>,
}

impl From<SpecFields> for Spec {
    fn from(f: SpecFields) -> Spec {
        let mut spec = Spec {
            workload: f.workload,
            design: f.design,
            machine: f.machine,
            runtime: f.runtime,
            threads: 0,
            tasks: f.tasks,
            window: f.window,
            coroutines: f.coroutines,
            bmo: f.bmo,
            seed: f.seed,
            set: f.set,
            figure: f.figure,
            warm: None,
        };
        // A workload runs on one thread, a recording on as many as it has.
        spec.threads = f.threads.unwrap_or(u64::from(!spec.is_recording()));
        spec
    }
}

#[pyfunction]
fn run(py: Python<'_>, spec: &str) -> PyResult<String> {
    let asked: RunSpec = parse(spec)?;
    let spec = Spec::from(asked.run);
    let record = py.detach(|| {
        let mut record = strandline_sim::run(&spec)?;
        if asked.recovers && !spec.is_recording() {
            record.recovers = Some(strandline_crash::recovers(&spec)?);
        }
        Ok(record)
    });
    Ok(json!(record.map_err(raise)?).to_string())
}

#[pyfunction]
fn crash(py: Python<'_>, spec: &str) -> PyResult<String> {
    let asked: CrashSpec = parse(spec)?;
    let points = points(&asked.points).map_err(raise)?;
    let spec = Spec::from(asked.run);
    let report = py.detach(|| match &asked.replay {
        Some(point) => strandline_crash::replay(&spec, point),
        None => strandline_crash::explore(&spec, points),
    });
    Ok(json!(report.map_err(raise)?).to_string())
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
fn litmus_expected(py: Python<'_>, test: &str) -> PyResult<String> {
    let asked: litmus::Asked = parse(test)?;
    let answer = py.detach(|| litmus::expected_lines(&asked));
    answer.map(|answer| answer.to_string()).map_err(raise)
}

#[pyfunction]
fn litmus_read_expected(spec: &str) -> PyResult<String> {
    let asked: litmus::ExpectedFile = parse(spec)?;
    litmus::read_file(&asked)
        .map(|answer| answer.to_string())
        .map_err(raise)
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
    m.add_function(wrap_pyfunction!(listing, m)?)?;
    m.add_function(wrap_pyfunction!(machine, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_tests, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_shelf, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_expected, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_read_expected, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_dot, m)?)?;
    m.add_function(wrap_pyfunction!(is_recording, m)?)?;
    m.add_function(wrap_pyfunction!(random, m)?)?;
    m.add_function(wrap_pyfunction!(collect_recording, m)?)?;
    Ok(())
}
