//! Errors of a configuration, in one line.

use std::fmt;

/// A bad configuration: where, what is wrong, and how to fix it; one line when displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError(String);

/// The fault of some parameters, the likeliest culprit first, and in parentheses how to fix it.
pub(super) struct Fault {
    pub keys: Vec<&'static str>,
    pub text: String,
}

impl Fault {
    pub fn new(keys: &[&'static str], text: String) -> Fault {
        Fault {
            keys: keys.to_vec(),
            text,
        }
    }
}

impl ConfigError {
    /// Control characters are escaped: a user's key or value may hold a line break.
    pub(super) fn new(place: &str, text: &str) -> ConfigError {
        let line = format!("{place}: {text}");
        let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        let escaped = |c: char| {
            if breaks(c) {
                c.escape_default().collect()
            } else {
                String::from(c)
            }
        };
        ConfigError(line.chars().map(escaped).collect())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}
