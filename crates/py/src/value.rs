//! Conversion between Python's values (dicts, dataclasses, lists, numbers, texts) and serde's types.

use crate::InputError;
use pyo3::prelude::*;
use pythonize::{depythonize, pythonize, PythonizeError};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// An argument from Python: a dataclass, or a dict.
pub struct Given<T>(pub T);

impl<'a, 'py, T: DeserializeOwned> FromPyObject<'a, 'py> for Given<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Given<T>> {
        let read = depythonize(&object).map(Given);
        read.map_err(|error| InputError::new_err(format!("specification: {error}")))
    }
}

/// A result for Python: dicts, lists, numbers and texts.
pub struct Answer<T>(pub T);

impl<'py, T: Serialize> IntoPyObject<'py> for Answer<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PythonizeError;

    fn into_pyobject(self, py: Python<'py>) -> Result<Bound<'py, PyAny>, PythonizeError> {
        pythonize(py, &self.0)
    }
}
