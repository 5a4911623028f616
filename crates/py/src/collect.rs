//! Makes recordings from the recorder's stream.

use crate::Error;
use pyo3::prelude::*;
use serde_json::{json, Value};
use std::fs::File;
use std::path::Path;
use strandline_record::{Recording, Totals};

/// Reads packets from `source` to the end, writes the recording `out` and returns its contents in numbers. It calls
/// `advance` from time to time with the number of new instructions. Exceptions of `advance` are raised at the end.
pub fn collect(source: &str, out: &str, advance: Py<PyAny>) -> Result<Value, Error> {
    let input = File::open(source).map_err(|e| Error::Input(format!("{source}: {e}")))?;
    let collected = strandline_record::collect(input, Path::new(out), &mut teller(advance));
    let collected = collected.map_err(|e| Error::Input(e.to_string()))?;
    let mut described = describe(out)?;
    described["waiting"] = json!(collected.waiting);
    Ok(described)
}

/// Passes the number of new instructions to `advance`.
pub fn teller(advance: Py<PyAny>) -> impl FnMut(u64) {
    let mut reported = 0;
    move |instructions: u64| {
        let news = instructions - reported;
        reported = instructions;
        // A progress bar that cannot be drawn must not lose a recording.
        let _ = Python::attach(|py| advance.call1(py, (news,)));
    }
}

/// What a recording holds, in numbers.
pub fn describe(path: &str) -> Result<Value, Error> {
    let wrong = |e: &dyn std::fmt::Display| Error::Input(format!("{path}: {e}"));
    let bytes = std::fs::metadata(path).map_err(|e| wrong(&e))?.len();
    let recording = Recording::open(Path::new(path)).map_err(|e| Error::Input(e.to_string()))?;
    Ok(json!({
        "recording": path,
        "bytes": bytes,
        "program": recording.program(),
        "status": recording.status(),
        "threads": recording.threads().len(),
        "totals": totals(recording.totals()),
        "warnings": recording.warnings(),
        "complete": !recording.is_incomplete(),
        "files": recording.regions().iter().map(|region| &region.path).collect::<Vec<_>>(),
    }))
}

fn totals(t: &Totals) -> Value {
    json!({
        "instructions": t.instructions,
        "loads": t.loads,
        "stores": t.stores,
        "atomics": t.atomics,
        "stores_nt": t.stores_nt,
        "clwbs": t.clwbs,
        "clflushopts": t.clflushopts,
        "clflushes": t.clflushes,
        "sfences": t.sfences,
        "mfences": t.mfences,
        "tasks": t.tasks,
        "persistent_stores": t.persistent_stores,
    })
}
