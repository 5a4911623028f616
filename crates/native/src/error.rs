//! Why a run has no result.

use std::fmt;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Bad input: one line with the fault, the place, and the correction.
    Input(String),
    /// The invariant does not hold: one line with the fault.
    Broken(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(text) | Error::Broken(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}
