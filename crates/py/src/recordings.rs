//! Recordings: made from traces of other tools.

use crate::InputError;
use pyo3::prelude::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use strandline_record::{drmemtrace, range_of, ImportOptions, RecordError, Totals};

/// `_native.import_trace`
#[pyfunction]
pub fn import_trace(
    py: Python<'_>,
    trace: PathBuf,
    out: PathBuf,
    pm_ranges: Vec<String>,
    advance: Py<PyAny>,
) -> PyResult<String> {
    let mut told = 0;
    let mut failed = None;
    let mut progress = |instructions: u64| {
        let more = instructions - told;
        told = instructions;
        if let Err(error) = Python::attach(|py| advance.call1(py, (more,)).map(drop)) {
            failed.get_or_insert(error);
        }
    };
    let imported = py.detach(|| import(&trace, &out, &pm_ranges, &mut progress));
    match failed {
        Some(error) => Err(error),
        None => imported
            .map(|answer| answer.to_string())
            .map_err(|error| InputError::new_err(error.to_string())),
    }
}

fn import(trace: &Path, out: &Path, pm_ranges: &[String], progress: &mut dyn FnMut(u64)) -> Result<Value, RecordError> {
    let persistent = pm_ranges
        .iter()
        .map(|range| range_of(range))
        .collect::<Result<_, _>>()?;
    let imported = drmemtrace(trace, out, &ImportOptions { persistent }, progress)?;
    Ok(json!({
        "recording": out.to_string_lossy(),
        "bytes": imported.bytes,
        "program": imported.program,
        // A trace does not tell.
        "status": 0,
        "threads": imported.threads,
        "totals": totals(&imported.totals),
        "warnings": imported.warnings,
    }))
}

fn totals(totals: &Totals) -> Value {
    json!({
        "instructions": totals.instructions,
        "blocks": totals.blocks,
        "loads": totals.loads,
        "stores": totals.stores,
        "atomics": totals.atomics,
        "stores_nt": totals.stores_nt,
        "clwbs": totals.clwbs,
        "clflushopts": totals.clflushopts,
        "clflushes": totals.clflushes,
        "sfences": totals.sfences,
        "mfences": totals.mfences,
        "tasks": totals.tasks,
        "persistent_stores": totals.persistent_stores,
    })
}
