//! Making recordings of traces of other tools.

use crate::collect::{describe, teller};
use crate::Error;
use pyo3::prelude::*;
use serde_json::Value;
use std::path::Path;
use strandline_record::{drmemtrace, range_of, ImportOptions};

/// Reads a trace of `drmemtrace`, writes the recording `out` and says what it holds; `advance` as for
/// [`crate::collect::collect`].
pub fn import(
    py: Python<'_>,
    trace: &str,
    out: &str,
    pm_ranges: &[String],
    advance: Py<PyAny>,
) -> Result<Value, Error> {
    py.detach(|| {
        let input = |error: strandline_record::RecordError| Error::Input(error.to_string());
        let ranges = pm_ranges.iter().map(|range| range_of(range));
        let persistent = ranges.collect::<Result<_, _>>().map_err(input)?;
        let options = ImportOptions { persistent };
        drmemtrace(Path::new(trace), Path::new(out), &options, &mut teller(advance)).map_err(input)?;
        describe(out)
    })
}
