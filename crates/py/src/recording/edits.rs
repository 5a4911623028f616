//! A recorded program with other flushes and fences, or a later store.

use super::words;
use crate::value::{Answer, Given};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use strandline_crash::recorded;
use strandline_record::order::{Fence, Interleaved, Places, What};
use strandline_record::states::{Finding, Orders};
use strandline_record::{At, Edit, Edits, Execution, RecordError, Recording, Source};
use strandline_sim::{Error, Run};

/// A change of the instruction at an address.
#[derive(Clone, Copy, Deserialize)]
pub struct Change(u64, How);

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum How {
    Drop,
    Weaken,
    Flush,
    Persist,
    Later(u64),
}

/// The changes of instructions.
pub fn edits(changes: &[Change]) -> Edits {
    let edit = |change: &Change| match change.1 {
        How::Drop => (change.0, Edit::Drop),
        How::Weaken => (change.0, Edit::Weaken),
        How::Flush => (change.0, Edit::Flush),
        How::Persist => (change.0, Edit::Persist),
        How::Later(target) => (change.0, Edit::Later(target)),
    };
    Edits {
        code: changes.iter().map(edit).collect(),
        ..Edits::default()
    }
}

/// Which replay.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CyclesSpec {
    recording: PathBuf,
    design: String,
    seed: u64,
    edits: Vec<Change>,
    /// A finding of the audit, its address, and that of the call if only its executions are meant: these are left out.
    finding: Option<(String, u64, Option<u64>)>,
}

/// The cycles of a replay with changes; `None` if the executions of a finding are too many, or unknown.
#[pyfunction]
#[pyo3(name = "recording_cycles")]
fn cycles(py: Python<'_>, spec: Given<CyclesSpec>) -> PyResult<Answer<Option<u64>>> {
    crate::ask(py, || measured(&spec.0)).map(Answer)
}

fn measured(spec: &CyclesSpec) -> Result<Option<u64>, Error> {
    let mut edits = edits(&spec.edits);
    if let Some((finding, pc, from)) = &spec.finding {
        match executions(&spec.recording, finding, *pc, *from).map_err(wrong)? {
            Some(executions) => edits.executions = executions.into_iter().collect(),
            None => return Ok(None),
        }
    }
    let replay = recorded::spec(&spec.recording, &spec.design, spec.seed);
    let run = Run {
        edits,
        ..Run::of(&replay)
    };
    let record = run.record()?;
    Ok(json!(record)["cycles"].as_u64())
}

fn executions(path: &Path, finding: &str, pc: u64, from: Option<u64>) -> Result<Option<Vec<Execution>>, RecordError> {
    let Some(finding) = Finding::of_performance(finding) else {
        return Ok(None);
    };
    let recording = Arc::new(Recording::open(path)?);
    let places = Arc::new(Places::of(recording.regions()));
    let found = Orders::of(&recording, &places).audited()?.executions(finding, pc, from);
    Ok(found
        .filter(|found| !found.is_empty())
        .map(|found| found.into_iter().collect()))
}

/// The executed flushes and fences by address, each with its count.
#[pyfunction]
#[pyo3(name = "recording_fences")]
fn fences(py: Python<'_>, path: PathBuf) -> PyResult<Answer<Vec<Value>>> {
    crate::ask(py, || executed(&path).map_err(wrong)).map(Answer)
}

fn executed(path: &Path) -> Result<Vec<Value>, RecordError> {
    let recording = Arc::new(Recording::open(path)?);
    let places = Arc::new(Places::of(recording.regions()));
    let mut counts: BTreeMap<(u64, &str), u64> = BTreeMap::new();
    for op in Interleaved::new(&recording, &places)? {
        let op = op?;
        let name = match op.what {
            What::Flush(flush, _) => flush.name(),
            What::Fence(fence) if fence != Fence::Locked => fence.name(),
            _ => continue,
        };
        *counts.entry((op.at.pc, name)).or_default() += 1;
    }
    let mut source = Source::of(&recording);
    let described = counts.into_iter().map(|((pc, name), count)| {
        let mut entry = words::site(&mut source, At::alone(pc));
        entry["instruction"] = json!(name);
        entry["count"] = json!(count);
        entry
    });
    Ok(described.collect())
}

/// The instructions of the program's own that store to persistent memory, each with its place; those of a library are where
/// the program called it.
#[pyfunction]
#[pyo3(name = "recording_stores")]
fn stores(py: Python<'_>, path: PathBuf) -> PyResult<Answer<Vec<Value>>> {
    crate::ask(py, || storing(&path).map_err(wrong)).map(Answer)
}

fn storing(path: &Path) -> Result<Vec<Value>, RecordError> {
    let recording = Arc::new(Recording::open(path)?);
    let places = Arc::new(Places::of(recording.regions()));
    let (mut source, mut found) = (Source::of(&recording), BTreeSet::new());
    for op in Interleaved::new(&recording, &places)? {
        let op = op?;
        if matches!(op.what, What::Store(_) | What::StoreNt(_)) {
            found.insert(source.own(op.at).pc);
        }
    }
    let found = found.into_iter();
    Ok(found.map(|pc| words::site(&mut source, At::alone(pc))).collect())
}

/// The instructions of the program's own that store, flush or fence behind each execution of one of these, in order, with
/// their places; those of a library are where the program called it.
#[pyfunction]
#[pyo3(name = "recording_behind")]
fn behind(py: Python<'_>, path: PathBuf, own: Vec<u64>) -> PyResult<Answer<Vec<Value>>> {
    crate::ask(py, || following(&path, &own).map_err(wrong)).map(Answer)
}

fn following(path: &Path, own: &[u64]) -> Result<Vec<Value>, RecordError> {
    let recording = Arc::new(Recording::open(path)?);
    let places = Arc::new(Places::of(recording.regions()));
    let mut source = Source::of(&recording);
    let (mut common, mut now): (Option<Vec<u64>>, Option<Vec<u64>>) = (None, None);
    let mut close = |now: Option<Vec<u64>>| match (&mut common, now) {
        (Some(common), Some(now)) => common.retain(|pc| now.contains(pc)),
        (common, Some(now)) => *common = Some(now),
        (_, None) => {}
    };
    for op in Interleaved::new(&recording, &places)? {
        let op = op?;
        if !matches!(
            op.what,
            What::Store(_) | What::StoreNt(_) | What::Flush(_, Some(_)) | What::Fence(_)
        ) {
            continue;
        }
        let pc = source.own(op.at).pc;
        match &mut now {
            _ if own.contains(&pc) => close(now.replace(Vec::new())),
            Some(now) if !now.contains(&pc) => now.push(pc),
            _ => {}
        }
    }
    close(now);
    let sites = common.unwrap_or_default().into_iter();
    Ok(sites.map(|pc| words::site(&mut source, At::alone(pc))).collect())
}

fn wrong(error: RecordError) -> Error {
    Error::input(error.to_string())
}

/// Adds the functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(cycles, module)?)?;
    module.add_function(wrap_pyfunction!(behind, module)?)?;
    module.add_function(wrap_pyfunction!(stores, module)?)?;
    module.add_function(wrap_pyfunction!(fences, module)?)
}
