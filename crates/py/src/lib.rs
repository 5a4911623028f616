//! Python bindings: typed values in and out. The interpreter lock is released during calls. `_native.pyi` describes
//! them.

mod collect;
mod lists;
mod litmus;
mod recording;
mod toml;
mod validate;
mod value;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::{json, Value};
use strandline_crash::{Report, Request};
use strandline_machine::MachineConfig;
use strandline_sim::{guarded, Drawn, Error, Length, MemoryNeed, Part, Record, Scope, Spec, Survival, Surviving};
use strandline_validate::Processor;
use value::{Answer, Given};

create_exception!(_native, InputError, PyException, "Bad input; one line.");
create_exception!(
    _native,
    StuckError,
    PyException,
    "The simulated machine made no progress; one line."
);
create_exception!(
    _native,
    StoppedError,
    PyException,
    "The user stopped it before there was anything to report."
);
create_exception!(
    _native,
    FaultError,
    PyException,
    "A fault of strandline itself: what went wrong, and where in its source; one line."
);

const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMMIT: &str = env!("STRANDLINE_COMMIT");

fn raise(error: Error) -> PyErr {
    match error {
        Error::Input(text) => InputError::new_err(text),
        Error::Stuck { text, .. } => StuckError::new_err(text),
        Error::Stopped => StoppedError::new_err("stopped"),
        Error::Fault(text) => FaultError::new_err(text),
    }
}

type Answered = PyResult<Answer<Value>>;

/// Calls `question` while other Python threads run.
fn ask<T: Send>(py: Python<'_>, question: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    py.detach(|| guarded(question)).map_err(raise)
}

/// Calls a short `question`.
fn answer(question: impl FnOnce() -> Result<Value, Error>) -> Answered {
    guarded(question).map(Answer).map_err(raise)
}

/// Progress of a run, readable by other threads.
#[pyclass(frozen)]
#[derive(Default)]
struct Progress(strandline_sim::Progress);

#[pymethods]
impl Progress {
    #[new]
    fn new() -> Progress {
        Progress::default()
    }

    /// The share of the run's tasks that have ended, 0 to 1.
    fn share(&self) -> f64 {
        self.0.share()
    }
}

/// What some runs begin with, and share.
#[pyclass(frozen)]
struct Starts {
    starts: strandline_sim::Starts,
    groups: Vec<(usize, usize)>,
}

#[pymethods]
impl Starts {
    #[new]
    fn new(py: Python<'_>, specs: Given<Vec<Spec>>) -> PyResult<Starts> {
        ask(py, || {
            Ok(Starts {
                starts: strandline_sim::Starts::of(&specs.0),
                groups: strandline_sim::Starts::groups(&specs.0),
            })
        })
    }

    /// Two numbers for each of the runs: of its filled memory, and of its steady start.
    fn groups(&self) -> Vec<(usize, usize)> {
        self.groups.clone()
    }

    /// One of the runs will not be made after all.
    fn forgo(&self, spec: Given<Spec>) {
        self.starts.forgo(&spec.0);
    }

    /// How many filled memories and steady starts were computed for more than one run.
    fn computed(&self) -> (u64, u64) {
        let computed = self.starts.computed();
        (computed.filled, computed.steady)
    }
}

#[pyfunction]
#[pyo3(signature = (spec, progress=None, starts=None))]
fn run(
    py: Python<'_>,
    spec: Given<Spec>,
    progress: Option<&Bound<'_, Progress>>,
    starts: Option<&Bound<'_, Starts>>,
) -> Answered {
    let progress = progress.map_or_else(Default::default, |progress| progress.get().0.clone());
    let starts = starts.map(|starts| &starts.get().starts);
    ask(py, || {
        strandline_crash::run(&spec.0, starts, &progress).map(|record| json!(built_here(record)))
    })
    .map(Answer)
}

/// A run's record and its digests; if `journal`, of a run without slack that keeps journal and trace.
#[pyfunction]
fn digests(py: Python<'_>, spec: Given<Spec>, journal: bool) -> Answered {
    let digested = || {
        let (record, digests) = if journal {
            let run = strandline_sim::observe(&spec.0)?;
            let digests = run.digests();
            (run.record, digests)
        } else {
            let record = strandline_sim::run(&spec.0)?;
            let digests = record.digests();
            (record, digests)
        };
        Ok(json!({"record": built_here(record), "digests": digests}))
    };
    ask(py, digested).map(Answer)
}

/// A run's record, and its timeline.
#[pyfunction]
#[pyo3(signature = (spec, part, progress=None))]
fn timeline(
    py: Python<'_>,
    spec: Given<Spec>,
    part: Given<Part>,
    progress: Option<&Bound<'_, Progress>>,
) -> PyResult<Answer<Drawn>> {
    let progress = progress.map_or_else(Default::default, |progress| progress.get().0.clone());
    ask(py, || {
        strandline_sim::timeline(&spec.0, &part.0, &progress).map(|drawn| Drawn {
            record: built_here(drawn.record),
            ..drawn
        })
    })
    .map(Answer)
}

/// A record with the commit of this build.
fn built_here(mut record: Record) -> Record {
    COMMIT.clone_into(&mut record.origin.commit);
    record
}

/// Version, commit and the resolved run, as in its record.
#[pyfunction]
fn origin(spec: Given<Spec>) -> Answered {
    answer(|| {
        let spec = strandline_sim::resolve(&spec.0)?;
        Ok(json!({"version": VERSION, "commit": COMMIT, "spec": spec}))
    })
}

/// The version, and the commit of this build.
#[pyfunction]
fn build() -> Answer<Value> {
    Answer(json!({"version": VERSION, "commit": COMMIT}))
}

/// Ends running crash tests: they return what they have found.
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
    ask(py, || request.0.answer(stop).map(|report| json!(with_commit(report)))).map(Answer)
}

/// The run of a crash state with its timeline.
#[pyfunction]
fn crash_timeline(py: Python<'_>, request: Given<Request>) -> PyResult<Answer<Drawn>> {
    ask(py, || request.0.timeline()).map(Answer)
}

/// A report whose record has the commit of this build.
fn with_commit(report: Report) -> Report {
    let record = built_here(report.record);
    Report { record, ..report }
}

/// The host memory of a run, or an error.
#[pyfunction]
fn memory(spec: Given<Spec>) -> Answered {
    answer(|| MemoryNeed::of(&spec.0, false).map(described))
}

/// How long a run takes, roughly, or an error.
#[pyfunction]
fn length(spec: Given<Spec>) -> Answered {
    answer(|| Length::of(&spec.0).map(|length| json!(length)))
}

/// The host memory of a crash test, or an error.
#[pyfunction]
fn crash_memory(request: Given<Request>) -> Answered {
    answer(|| request.0.memory().map(described))
}

fn described(need: MemoryNeed) -> Value {
    json!({"parts": need, "total": need.total()})
}

#[pyfunction]
fn spec_fields() -> Answer<Value> {
    let scopes = Scope::ALL.map(Scope::name);
    Answer(json!({
        "run": Spec::fields(),
        "crash": Request::fields(),
        "timeline": Part::fields(),
        "scopes": scopes,
    }))
}

#[pyfunction]
fn listing(kind: &str) -> Answered {
    answer(|| lists::of(kind))
}

#[pyfunction]
fn machine(name_or_path: &str, sets: Vec<String>) -> Answered {
    answer(|| Ok(json!(changed(name_or_path, &sets)?.describe())))
}

/// What survives what, or an error.
#[pyfunction]
fn surviving(asked: Given<Surviving>) -> PyResult<Answer<Survival>> {
    guarded(|| strandline_sim::surviving(&asked.0))
        .map(Answer)
        .map_err(raise)
}

/// A machine with these settings.
fn changed(name_or_path: &str, sets: &[String]) -> Result<MachineConfig, Error> {
    let mut machine = MachineConfig::load(name_or_path)?;
    let sets = sets.iter().map(|set| machine_setting(set));
    machine.change(sets.collect::<Result<Vec<_>, _>>()?)?;
    machine.validate()?;
    Ok(machine)
}

/// The parameter and value of a machine's setting.
fn machine_setting(set: &str) -> Result<(&str, &str), Error> {
    set.strip_prefix("machine.")
        .and_then(|rest| rest.split_once('='))
        .ok_or_else(|| Error::input(format!("--set {set}: must be machine.KEY=VALUE")))
}

#[pyfunction]
#[pyo3(name = "litmus")]
fn litmus_tests(py: Python<'_>, spec: Given<litmus::LitmusSpec>) -> Answered {
    ask(py, || litmus::litmus(&spec.0)).map(Answer)
}

#[pyfunction]
fn litmus_shelf() -> Answer<Value> {
    Answer(litmus::names())
}

#[pyfunction]
fn litmus_expected(py: Python<'_>, test: Given<litmus::Asked>) -> Answered {
    ask(py, || litmus::expected_lines(&test.0)).map(Answer)
}

#[pyfunction]
fn litmus_read_expected(spec: Given<litmus::ExpectedFile>) -> Answered {
    answer(|| litmus::read_file(&spec.0))
}

#[pyfunction]
fn litmus_timeline(
    py: Python<'_>,
    spec: Given<litmus::DrawnSpec>,
) -> PyResult<Answer<strandline_crash::litmus::Drawn>> {
    ask(py, || litmus::drawn(&spec.0)).map(Answer)
}

#[pyfunction]
fn litmus_dot(py: Python<'_>, spec: Given<litmus::DotSpec>) -> Answered {
    ask(py, || litmus::dot(&spec.0)).map(Answer)
}

#[pyfunction]
fn litmus_export(spec: Given<litmus::ExportSpec>) -> Answered {
    answer(|| litmus::exported(&spec.0))
}

#[pyfunction]
fn random(py: Python<'_>, spec: Given<litmus::RandomSpec>) -> Answered {
    ask(py, || litmus::programs(&spec.0)).map(Answer)
}

#[pyfunction]
#[pyo3(name = "collect")]
fn collect_recording(py: Python<'_>, source: &str, out: &str, advance: Py<PyAny>) -> Answered {
    ask(py, || collect::collect(source, out, advance)).map(Answer)
}

/// The microbenchmarks of `strandline validate`.
#[pyfunction]
fn validate_cases() -> Answer<Value> {
    Answer(validate::listed())
}

/// The processor at hand, and its clocks.
#[pyfunction]
fn validate_processor(py: Python<'_>) -> Answered {
    ask(py, || Processor::here().map(|processor| json!(processor))).map(Answer)
}

/// The time of a microbenchmark's operation on a machine.
#[pyfunction]
fn validate_simulated(py: Python<'_>, case: &str, machine: &str, sets: Vec<String>) -> Answered {
    ask(py, || validate::on_machine(case, &changed(machine, &sets)?)).map(Answer)
}

/// The time of a microbenchmark's operation on this processor.
#[pyfunction]
fn validate_measured(py: Python<'_>, case: &str, processor: Given<Processor>) -> Answered {
    ask(py, || validate::on_processor(case, &processor.0)).map(Answer)
}

/// Each value of a TOML text with its line.
#[pyfunction]
fn toml_lines(text: &str) -> Answer<Value> {
    Answer(toml::lines(text))
}

/// The closest known name.
#[pyfunction]
fn nearest(written: &str, names: Vec<String>) -> Option<String> {
    strandline_kernel::nearest(written, names.iter().map(String::as_str)).map(str::to_owned)
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
    m.add("StoppedError", m.py().get_type::<StoppedError>())?;
    m.add("FaultError", m.py().get_type::<FaultError>())?;
    m.add_class::<Progress>()?;
    m.add_class::<Starts>()?;
    m.add_class::<Stop>()?;
    m.add_class::<recording::RecordingStates>()?;
    recording::add(m)?;
    m.add_function(wrap_pyfunction!(run, m)?)?;
    m.add_function(wrap_pyfunction!(digests, m)?)?;
    m.add_function(wrap_pyfunction!(timeline, m)?)?;
    m.add_function(wrap_pyfunction!(crash, m)?)?;
    m.add_function(wrap_pyfunction!(crash_timeline, m)?)?;
    m.add_function(wrap_pyfunction!(memory, m)?)?;
    m.add_function(wrap_pyfunction!(length, m)?)?;
    m.add_function(wrap_pyfunction!(crash_memory, m)?)?;
    m.add_function(wrap_pyfunction!(surviving, m)?)?;
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
    m.add_function(wrap_pyfunction!(litmus_timeline, m)?)?;
    m.add_function(wrap_pyfunction!(litmus_export, m)?)?;
    m.add_function(wrap_pyfunction!(is_recording, m)?)?;
    m.add_function(wrap_pyfunction!(toml_lines, m)?)?;
    m.add_function(wrap_pyfunction!(validate_cases, m)?)?;
    m.add_function(wrap_pyfunction!(validate_processor, m)?)?;
    m.add_function(wrap_pyfunction!(validate_simulated, m)?)?;
    m.add_function(wrap_pyfunction!(validate_measured, m)?)?;
    m.add_function(wrap_pyfunction!(nearest, m)?)?;
    m.add_function(wrap_pyfunction!(random, m)?)?;
    m.add_function(wrap_pyfunction!(collect_recording, m)?)?;
    Ok(())
}
