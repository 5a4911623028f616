//! Errors of recordings and of recorders' streams.

use std::fmt;
use std::path::Path;

/// Why a recording cannot be written, read or made: one line with what, where and the correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The file or stream, if it is known.
    file: Option<String>,
    /// Where in it, in bytes.
    offset: Option<u64>,
    /// What is wrong.
    what: String,
    /// How to mend it.
    mend: String,
}

/// The usual correction of damage.
pub(crate) const RECORD_AGAIN: &str = "record again";

impl RecordError {
    /// An error with a correction.
    pub(crate) fn new(what: impl Into<String>, mend: impl Into<String>) -> RecordError {
        RecordError {
            file: None,
            offset: None,
            what: one_line(&what.into()),
            mend: one_line(&mend.into()),
        }
    }

    /// An error at this byte; the correction is to record again.
    pub(crate) fn at(offset: u64, what: impl Into<String>) -> RecordError {
        RecordError {
            offset: Some(offset),
            ..RecordError::new(what, RECORD_AGAIN)
        }
    }

    /// This error, of a file.
    #[must_use]
    pub(crate) fn of(mut self, file: &Path) -> RecordError {
        self.file.get_or_insert_with(|| one_line(&file.display().to_string()));
        self
    }

    /// This error, in a part of the recording.
    #[must_use]
    pub(crate) fn within(mut self, part: &str) -> RecordError {
        self.what = format!("{part}: {}", self.what);
        self
    }

    /// The place in the file, in bytes, if there is one.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// The error without place and correction.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }
}

/// A text without line breaks and other control characters.
fn one_line(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.trim().chars().map(plain).collect()
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if let Some(offset) = self.offset {
            write!(f, "byte {offset}: ")?;
        }
        f.write_str(&self.what)?;
        if !self.mend.is_empty() {
            write!(f, "; {}", self.mend)?;
        }
        Ok(())
    }
}

impl std::error::Error for RecordError {}
