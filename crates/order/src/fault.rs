//! Mistakes in tests and models, with their positions.

use std::fmt;

/// A position in a text, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// A mistake in a test or a model: one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file, if the text comes from one.
    pub file: Option<String>,
    /// The position, unless it concerns the whole text.
    pub place: Option<TextPlace>,
    /// The mistake and its correction.
    pub message: String,
}

impl Fault {
    /// A mistake at a place.
    pub fn new(place: TextPlace, message: impl Into<String>) -> Fault {
        Fault {
            file: None,
            place: Some(place),
            message: message.into(),
        }
    }

    /// A mistake without a position.
    pub fn of_whole(message: impl Into<String>) -> Fault {
        Fault {
            file: None,
            place: None,
            message: message.into(),
        }
    }

    /// This mistake in a file, unless it already names one.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Fault {
        self.file.get_or_insert_with(|| file.to_owned());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        if let Some(place) = self.place {
            write!(f, "{}:{}:", place.line, place.column)?;
        }
        let blank = if self.file.is_some() || self.place.is_some() {
            " "
        } else {
            ""
        };
        write!(f, "{blank}{}", self.message)
    }
}

impl std::error::Error for Fault {}
