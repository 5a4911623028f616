//! Parses a file of expected states. It must understand every line.

use super::Expected;
use crate::model::Model;
use crate::{Fault, TextPlace};
use std::collections::{BTreeMap, BTreeSet};
use std::iter::{Enumerate, Peekable};
use std::str::Lines;

/// The contents of a file `<model>.expected` for the tests of its folder.
///
/// # Errors
/// The first wrong line: a test that the folder lacks, a variant that the model lacks, a repetition of either, a count
/// that differs from the number of states, or an unknown line.
pub fn read_expected(model: &Model, text: &str, folder: &BTreeSet<&str>) -> Result<BTreeMap<String, Expected>, Fault> {
    let mut reader = Reader {
        model,
        lines: text.lines().enumerate().peekable(),
    };
    let mut tests = BTreeMap::new();
    while let Some((at, test)) = reader.lines.next() {
        if !folder.contains(test) {
            return Err(fault(
                at,
                format!("there is no test `{test}` in this folder: delete its lines"),
            ));
        }
        let expected = reader.test(at, test)?;
        if tests.insert(test.to_owned(), expected).is_some() {
            return Err(fault(at, format!("{test} occurs twice: delete one entry")));
        }
    }
    Ok(tests)
}

struct Reader<'r> {
    model: &'r Model,
    lines: Peekable<Enumerate<Lines<'r>>>,
}

fn fault(at: usize, message: String) -> Fault {
    let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
    Fault::new(TextPlace { line, column: 1 }, message)
}

impl<'r> Reader<'r> {
    /// The next line without this indentation, if it has it.
    fn indented(&mut self, by: &str) -> Option<(usize, &'r str)> {
        let (at, line) = self.lines.next_if(|(_, line)| line.starts_with(by))?;
        Some((at, &line[by.len()..]))
    }

    fn test(&mut self, at: usize, test: &str) -> Result<Expected, Fault> {
        let mut expected = Expected::new();
        while let Some((at, head)) = self.indented("  ") {
            let (name, states) = self.section(at, head, &expected)?;
            if expected.insert(name.clone(), states).is_some() {
                return Err(fault(at, format!("{test} has {name} twice: delete one")));
            }
        }
        match expected.contains_key(self.model.base()) {
            true => Ok(expected),
            false => Err(fault(
                at,
                format!(
                    "{test} has no states of {} itself: add a line for them",
                    self.model.base()
                ),
            )),
        }
    }

    /// The name of the model or variant at the start of a line, and the states.
    fn section(&mut self, at: usize, head: &str, before: &Expected) -> Result<(String, Option<Vec<String>>), Fault> {
        let model = self.model.base();
        let (label, said) = head.split_once(' ').unwrap_or((head, ""));
        let name = self.name(label).ok_or_else(|| self.unknown(at, head))?;
        let states = match said {
            "undefined" => None,
            said if said == format!("as {model}") => {
                let states = before.get(model);
                states
                    .ok_or_else(|| fault(at, format!("{label} is as {model}, which must come first")))?
                    .clone()
            }
            said => {
                let count = said.parse().map_err(|_| self.unknown(at, head))?;
                Some(self.states(at, label, count)?)
            }
        };
        Ok((name, states))
    }

    /// The full name of a model or variant in a line.
    fn name(&self, label: &str) -> Option<String> {
        let model = self.model.base();
        let variant = || self.model.variants().contains(label);
        if label == model {
            return Some(model.to_owned());
        }
        variant().then(|| format!("{model}:{label}"))
    }

    fn unknown(&self, at: usize, line: &str) -> Fault {
        let model = self.model.base();
        let labels: Vec<&str> = self.model.variants().iter().map(String::as_str).collect();
        let labels = [&[model], labels.as_slice()].concat().join(", ");
        let message =
            format!("`{line}`: must be one of {labels}, and the number of its states, `undefined` or `as {model}`");
        fault(at, message)
    }

    fn states(&mut self, at: usize, label: &str, count: usize) -> Result<Vec<String>, Fault> {
        let mut states = Vec::new();
        while let Some((at, state)) = self.indented("    ") {
            if !state.split_whitespace().all(is_value) {
                return Err(fault(
                    at,
                    format!("`{state}`: a state is LOCATION=VALUE, with blanks between"),
                ));
            }
            states.push(state.to_owned());
        }
        match states.len() {
            found if found == count => Ok(states),
            found => Err(fault(
                at,
                format!("{label} has {found} states, not {count}: correct the number"),
            )),
        }
    }
}

fn is_value(word: &str) -> bool {
    let parts = word.split_once('=');
    parts.is_some_and(|(name, value)| !name.is_empty() && value.parse::<u8>().is_ok())
}
