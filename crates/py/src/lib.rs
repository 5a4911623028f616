//! Python bindings, thin: typed values in and out, the interpreter lock released meanwhile. `_native.pyi` describes them.

mod collect;
mod lists;
mod litmus;
mod recording;
mod value;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::{json, Value};
use strandline_crash::{Report, Request};
use strandline_machine::Machine;
use strandline_sim::{Error, Record, Scope, Spec};
use value::{Answer, Given};

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

const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMMIT: &str = env!("STRANDLINE_COMMIT");

fn raise(error: Error) -> PyErr {
    match error {
        Error::Input(text) => InputError::new_err(text),
        Error::Stuck(text) => StuckError::new_err(text),
    }
}

type Answered = PyResult<Answer<Value>>;

fn answer(value: Result<Value, Error>) -> Answered {
    value.map(Answer).map_err(raise)
}

#[pyfunction]
fn run(py: Python<'_>, spec: Given<Spec>) -> Answered {
    answer(py.detach(|| strandline_crash::run(&spec.0).map(|record| json!(built_here(record)))))
}

/// A record with the commit of this build.
fn built_here(mut record: Record) -> Record {
    COMMIT.clone_into(&mut record.origin.commit);
    record
}

/// What builds a record, and the run with every choice made, as its record has them.
#[pyfunction]
fn origin(spec: Given<Spec>) -> Answered {
    let spec = strandline_sim::resolve(&spec.0);
    answer(spec.map(|spec| json!({"version": VERSION, "commit": COMMIT, "spec": spec})))
}

/// The version, and the commit that this is built from.
#[pyfunction]
fn build() -> Answer<Value> {
    Answer(json!({"version": VERSION, "commit": COMMIT}))
}

/// Ends crash tests that have begun: they answer with what they have found.
#[pyclass(frozen)]
struct Stop(strandline_crash::Stop);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop(strandline_crash::Stop::default())
    }

    /// Ends them.
    fn set(&self) {
        self.0.set();
    }
}

#[pyfunction]
fn crash(py: Python<'_>, request: Given<Request>, stop: &Bound<'_, Stop>) -> Answered {
    let stop = stop.get().0.clone();
    let report = py.detach(|| request.0.answer(stop));
    answer(report.map(|report| {
        let record = built_here(report.record);
        json!(Report { record, ..report })
    }))
}

#[pyfunction]
fn spec_fields() -> Answer<Value> {
    let scopes = Scope::ALL.map(Scope::name);
    Answer(json!({"run": Spec::fields(), "crash": Request::fields(), "scopes": scopes}))
}

#[pyfunction]
fn listing(kind: &str) -> Answered {
    answer(lists::of(kind))
}

#[pyfunction]
fn machine(name_or_path: &str, sets: Vec<String>) -> Answered {
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
    answer(describe())
}

#[pyfunction]
#[pyo3(name = "litmus")]
fn litmus_tests(py: Python<'_>, spec: Given<litmus::LitmusSpec>) -> Answered {
    answer(py.detach(|| litmus::litmus(&spec.0)))
}

#[pyfunction]
fn litmus_shelf() -> Answer<Value> {
    Answer(litmus::names())
}

#[pyfunction]
fn litmus_expected(py: Python<'_>, test: Given<litmus::Asked>) -> Answered {
    answer(py.detach(|| litmus::expected_lines(&test.0)))
}

#[pyfunction]
fn litmus_read_expected(spec: Given<litmus::ExpectedFile>) -> Answered {
    answer(litmus::read_file(&spec.0))
}

#[pyfunction]
fn litmus_dot(py: Python<'_>, spec: Given<litmus::DotSpec>) -> Answered {
    answer(py.detach(|| litmus::dot(&spec.0)))
}

#[pyfunction]
fn random(py: Python<'_>, spec: Given<litmus::RandomSpec>) -> Answered {
    answer(py.detach(|| litmus::programs(&spec.0)))
}

#[pyfunction]
#[pyo3(name = "collect")]
fn collect_recording(py: Python<'_>, source: &str, out: &str, advance: Py<PyAny>) -> Answered {
    answer(collect::collect(py, source, out, advance))
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
    m.add_class::<Stop>()?;
    m.add_class::<recording::RecordingStates>()?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(crash, m)?)?;
    m.add_function(wrap_pyfunction!(origin, m)?)?;
    m.add_function(wrap_pyfunction!(build, m)?)?;
    m.add_function(wrap_pyfunction!(spec_fields, m)?)?;
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
