//! The functions of a program.

use crate::value::Answer;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The functions of a file of code: symbol, name in the source, and that name as reports print it.
#[pyfunction]
#[pyo3(name = "functions")]
fn of(py: Python<'_>, path: PathBuf) -> PyResult<Answer<Vec<[String; 3]>>> {
    crate::ask(py, || Ok(strandline_record::functions(&path))).map(Answer)
}

/// Adds the function to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(of, module)?)
}
