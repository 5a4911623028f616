//! Why there is no record.

use std::fmt;
use strandline_kernel::ParamError;
use strandline_machine::{ConfigError, Standstill, Stuck};

/// A run that did not start or did not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Bad input: one line with the fault, the place, and the correction.
    Input(String),
    /// The run makes no progress: one line with what each core waits for.
    Stuck {
        /// Whether it is a deadlock (otherwise a livelock).
        dead: bool,
        /// Who waits for whom.
        text: String,
    },
    /// The run was told to stop.
    Stopped,
    /// A fault of strandline itself: the fault, and its place in the source.
    Fault(String),
}

impl Error {
    /// An input error.
    pub fn input(text: impl Into<String>) -> Error {
        Error::Input(text.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input(text) | Error::Stuck { text, .. } | Error::Fault(text) => f.write_str(text),
            Error::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Error {
        Error::Input(error.to_string())
    }
}

impl From<strandline_workloads::Error> for Error {
    fn from(error: strandline_workloads::Error) -> Error {
        match error {
            strandline_workloads::Error::Param(error) => error.into(),
            other => Error::Input(other.to_string()),
        }
    }
}

impl From<ParamError> for Error {
    fn from(error: ParamError) -> Error {
        Error::Input(format!("--set {error}"))
    }
}

impl From<Stuck> for Error {
    fn from(stuck: Stuck) -> Error {
        match stuck.how {
            Standstill::Stopped => Error::Stopped,
            how => Error::Stuck {
                dead: how != Standstill::Idle,
                text: stuck.to_string(),
            },
        }
    }
}
