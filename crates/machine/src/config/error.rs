//! Bad configuration, said in one line.

use std::fmt;

/// A bad configuration: where, what is wrong, and how to mend it; one line when displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    place: Place,
    key: Option<String>,
    fault: Fault,
}

/// Where the fault was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A file that cannot be read, or a name that is none.
    File(String),
    /// A line of a file, from 1.
    Line(String, usize),
    /// `--set machine.KEY=VALUE`.
    Set(String, String),
    /// A machine changed by the program.
    Machine(String),
}

/// What is wrong and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub what: String,
    pub mend: String,
}

impl Fault {
    pub fn new(what: impl Into<String>, mend: impl Into<String>) -> Fault {
        Fault {
            what: what.into(),
            mend: mend.into(),
        }
    }
}

impl ConfigError {
    pub(super) fn new(place: Place, key: Option<&str>, fault: Fault) -> ConfigError {
        ConfigError {
            place,
            key: key.map(str::to_owned),
            fault,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Place::File(path) => path.clone(),
            Place::Line(path, line) => format!("{path}:{line}"),
            Place::Set(key, value) => format!("--set machine.{key}={value}"),
            Place::Machine(name) => format!("machine {name}"),
        };
        // A `--set` shows its key already.
        let key = match (&self.place, &self.key) {
            (Place::Set(..), _) | (_, None) => String::new(),
            (_, Some(key)) => format!("{key}: "),
        };
        f.write_str(&one_line(&format!(
            "{place}: {key}{} ({})",
            self.fault.what, self.fault.mend
        )))
    }
}

impl std::error::Error for ConfigError {}

/// `text` with control characters escaped: a user's key or value may hold a line break.
fn one_line(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars()
        .map(|c| {
            if breaks(c) {
                c.escape_default().to_string()
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// The candidate nearest to what was written: by its whole name, or by its last part.
pub(super) fn nearest<'a>(written: &str, candidates: impl Iterator<Item = &'a str>) -> &'a str {
    let distance = |candidate: &str| {
        let last = candidate.rsplit('.').next().unwrap_or(candidate);
        strsim::levenshtein(written, candidate).min(strsim::levenshtein(written, last) + 1)
    };
    candidates
        .min_by_key(|candidate| distance(candidate))
        .unwrap_or_default()
}
