//! Litmus tests: states that models allow and that designs reach.

use serde::Deserialize;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use strandline_crash::litmus::{conform, random, timeline, Drawn, Registered};
use strandline_order::{
    allowed, expected, export, picture, read_expected, shelf, show_expected, thinkable, Allowed, Entry, Expected,
    Fault, Form, Model, Test,
};
use strandline_sim::Error;

/// Default number of machines on which a design runs a test.
const TIMINGS: u64 = 100;

/// Maximum number of listed candidate states; above it, only allowed ones are listed.
const MOST_STATES: usize = 4096;

/// A test as the Python side names it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    #[serde(default)]
    shelf: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    expected: Option<Expected>,
}

/// What [`litmus`] is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LitmusSpec {
    tests: Vec<Asked>,
    models: Option<Vec<String>>,
    designs: Option<Vec<String>>,
    /// `KEY=VALUE` of the designs' parameters.
    #[serde(default)]
    set: Vec<String>,
    machines: Option<Vec<String>>,
    timings: Option<u64>,
    seed: u64,
}

/// The request of [`read_file`]: a file of expected states, its model, and the tests of its folder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFile {
    file: String,
    model: String,
    text: String,
    tests: Vec<String>,
}

/// What [`dot`] is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DotSpec {
    test: Asked,
    model: String,
    state: String,
}

/// What [`exported`] is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExportSpec {
    test: Asked,
    /// `herd` or `c`.
    form: String,
}

/// What [`drawn`] is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnSpec {
    test: Asked,
    design: String,
    /// `KEY=VALUE` of the design's parameters.
    #[serde(default)]
    set: Vec<String>,
    machines: Option<Vec<String>>,
    seed: u64,
}

/// What [`programs`] is asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomSpec {
    designs: Vec<String>,
    /// `KEY=VALUE` of the designs' parameters.
    #[serde(default)]
    set: Vec<String>,
    first_seed: u64,
    programs: u64,
}

/// A test, read.
struct Read {
    test: Test,
    /// Its file or its name on the shelf, for messages.
    name: String,
    file: Option<String>,
    text: String,
    expected: Stored,
}

/// The source of a test's expected states.
enum Stored {
    /// On the shelf.
    Shelf(Entry),
    /// The Python side has read them; `None` if its folder has no such file.
    Given(Option<Expected>),
}

fn input(fault: Fault) -> Error {
    Error::input(fault.to_string())
}

fn read(asked: &Asked) -> Result<Read, Error> {
    if let Some(name) = &asked.shelf {
        let entry = shelf().into_iter().find(|entry| entry.path == name);
        let entry = entry.ok_or_else(|| Error::input(format!("there is no built-in litmus test {name}")))?;
        return Ok(Read {
            test: entry.test().map_err(input)?,
            name: name.clone(),
            file: None,
            text: entry.text.to_owned(),
            expected: Stored::Shelf(entry),
        });
    }
    let text = asked.text.clone().unwrap_or_default();
    let name = asked.file.clone().unwrap_or_else(|| "test".to_owned());
    Ok(Read {
        test: Test::parse(&text).map_err(|fault| input(fault.in_file(&name)))?,
        name,
        file: asked.file.clone(),
        text,
        expected: Stored::Given(asked.expected.clone()),
    })
}

/// The names of the built-in tests.
pub fn names() -> Value {
    shelf().iter().map(|entry| entry.path).collect()
}

/// The states that models allow, and those that designs reach.
///
/// # Errors
/// Bad input.
pub fn litmus(spec: &LitmusSpec) -> Result<Value, Error> {
    let named = |names: &Option<Vec<String>>| names.clone().unwrap_or_else(Model::names);
    let models = named(&spec.models)
        .iter()
        .map(|name| Model::named(name).map_err(input))
        .collect::<Result<Vec<_>, _>>()?;
    let designs = registered(spec.designs.iter().flatten(), &spec.set)?;
    let tests = spec
        .tests
        .iter()
        .map(|asked| one(&read(asked)?, &models, &designs, spec));
    Ok(json!({ "tests": tests.collect::<Result<Vec<_>, _>>()? }))
}

/// The designs of these names, with their parameters.
/// A run of a test with its timeline.
///
/// # Errors
/// Bad input, or a run without progress.
pub fn drawn(spec: &DrawnSpec) -> Result<Drawn, Error> {
    let read = read(&spec.test)?;
    let design = registered([&spec.design].into_iter(), &spec.set)?.remove(0);
    timeline(&design, &read.test, spec.machines.as_deref(), spec.seed)
}

fn registered<'a>(names: impl Iterator<Item = &'a String>, set: &[String]) -> Result<Vec<Registered>, Error> {
    let sets = || set.iter().filter_map(|set| set.split_once('='));
    names.map(|name| Registered::named(name)?.with(sets())).collect()
}

fn one(read: &Read, models: &[Model], designs: &[Registered], spec: &LitmusSpec) -> Result<Value, Error> {
    let test = &read.test;
    let in_file = |fault: Fault| input(fault.in_file(&read.name));
    let all = thinkable(test, MOST_STATES).map_err(in_file)?;
    let mut said = Vec::new();
    for model in models.iter().filter(|model| model.takes(test)) {
        let allowed = allowed(test, model).map_err(in_file)?;
        let states: BTreeSet<&Vec<u8>> = all.iter().chain(&allowed.states).collect();
        let states = states
            .into_iter()
            .map(|state| json!({"values": state, "allowed": allowed.states.contains(state)}));
        said.push(json!({
            "model": model.name(), "undefined": allowed.undefined, "states": states.collect::<Vec<_>>(),
            "condition_holds": test.condition_holds(&allowed.states),
            "expected": agreement(read, model, &allowed).map_err(input)?,
        }));
    }
    let mut shown = Vec::new();
    for design in designs {
        let timings = spec.timings.unwrap_or(TIMINGS);
        shown.extend(conform(design, test, spec.machines.as_deref(), timings, spec.seed)?);
    }
    let observed = test.observed();
    let locations: Vec<&str> = observed.iter().map(|id| test.location(*id).name.as_str()).collect();
    Ok(json!({
        "name": test.name, "file": read.file, "title": test.title, "text": read.text, "threads": test.threads.len(),
        "condition": test.show_condition(), "locations": locations, "models": said, "designs": shown,
    }))
}

fn agreement(read: &Read, model: &Model, allowed: &Allowed) -> Result<&'static str, Fault> {
    let name = model.name();
    // Expected states exist for one variant at a time.
    if name.matches(':').count() > 1 {
        return Ok("none");
    }
    let stored = match &read.expected {
        Stored::Given(None) => return Ok("none"),
        Stored::Given(Some(expected)) => expected.get(&name).cloned(),
        Stored::Shelf(entry) => entry.expected(model)?.and_then(|mut expected| expected.remove(&name)),
    };
    Ok(match stored {
        None => "missing",
        Some(states) if states == read.test.show_allowed(allowed) => "agrees",
        Some(_) => "differs",
    })
}

/// The lines of a test in its folder's files of expected states, by model.
///
/// # Errors
/// The test is wrong.
pub fn expected_lines(asked: &Asked) -> Result<Value, Error> {
    let read = read(asked)?;
    let file = Path::new(&read.name).file_stem().unwrap_or_default();
    let mut lines = BTreeMap::new();
    for name in Model::names() {
        let model = Model::named(&name).map_err(input)?;
        if model.takes(&read.test) {
            let said = expected(&read.test, &model).map_err(|fault| input(fault.in_file(&read.name)))?;
            let text = show_expected(&file.to_string_lossy(), &name, &said);
            lines.insert(name, text);
        }
    }
    Ok(json!(lines))
}

/// The contents of a file of expected states, for its folder's tests.
///
/// # Errors
/// The file is wrong, or there is no such model.
pub fn read_file(asked: &ExpectedFile) -> Result<Value, Error> {
    let in_file = |fault: Fault| input(fault.in_file(&asked.file));
    let model = Model::named(&asked.model).map_err(in_file)?;
    let tests = asked.tests.iter().map(String::as_str).collect();
    Ok(json!(read_expected(&model, &asked.text, &tests).map_err(in_file)?))
}

/// A graph of an execution that results in a state.
///
/// # Errors
/// Bad input.
pub fn dot(spec: &DotSpec) -> Result<Value, Error> {
    let read = read(&spec.test)?;
    let model = Model::named(&spec.model).map_err(input)?;
    if !model.takes(&read.test) {
        let message = format!("{}: model {} does not know its instructions", read.name, model.name());
        return Err(Error::input(message));
    }
    let state = read
        .test
        .read_state(&spec.state)
        .map_err(|what| Error::input(format!("--dot {:?}: {what}", spec.state)))?;
    let drawn =
        picture(&read.test, &model, &state).map_err(|fault| Error::input(format!("--dot: {}", fault.message)))?;
    Ok(json!({"dot": drawn.dot, "allowed": drawn.allowed}))
}

/// A test as text for another simulator, or the instruction because of which there is none.
///
/// # Errors
/// Bad input.
pub fn exported(spec: &ExportSpec) -> Result<Value, Error> {
    let read = read(&spec.test)?;
    let form = match spec.form.as_str() {
        "herd" => Form::Herd,
        "c" => Form::C,
        other => return Err(Error::input(format!("--export {other}: must be herd or c"))),
    };
    let name = spec.test.shelf.as_ref().unwrap_or(&read.test.name);
    Ok(match export(&read.test, name, form) {
        Ok(text) => json!({"text": text, "refused": null}),
        Err(refusal) => json!({"text": null, "refused": {
            "mnemonic": refusal.mnemonic, "why": refusal.to_string(),
        }}),
    })
}

/// Random programs under designs.
///
/// # Errors
/// Bad input.
pub fn programs(spec: &RandomSpec) -> Result<Value, Error> {
    let mut designs = Vec::new();
    let mut violations = Vec::new();
    for design in registered(spec.designs.iter(), &spec.set)? {
        let report = random(&design, spec.first_seed, spec.programs)?;
        designs
            .push(json!({"design": report.design, "programs": report.programs, "crash_states": report.crash_states}));
        violations.extend(report.violations);
    }
    Ok(json!({"designs": designs, "violations": violations}))
}
