//! The states expected of a test, as they stand beside it.

use crate::litmus::Test;
use crate::model::Model;
use crate::states::{allowed, Allowed, State};
use crate::Fault;
use std::fmt::Write;

impl Test {
    /// A state in words: `x=0 z=1`.
    #[must_use]
    pub fn show_state(&self, state: &[u8]) -> String {
        let observed = self.observed();
        let names = observed.iter().map(|id| &self.location(*id).name);
        let parts: Vec<String> = names
            .zip(state)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        parts.join(" ")
    }

    /// The state that these words say: each observed location once, in any order.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn read_state(&self, words: &str) -> Result<State, String> {
        let observed = self.observed();
        let names: Vec<&str> = observed.iter().map(|id| self.location(*id).name.as_str()).collect();
        let mut state: Vec<Option<u8>> = vec![None; observed.len()];
        for word in words.split_whitespace() {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("`{word}`: must be LOCATION=VALUE"))?;
            let index = names.iter().position(|known| *known == name);
            let index = index.ok_or_else(|| format!("`{word}`: a state is of {}", names.join(", ")))?;
            let value = value
                .parse()
                .map_err(|_| format!("`{word}`: the value must be a number from 0 to 255"))?;
            state[index] = Some(value);
        }
        let missing = names.iter().zip(&state).find(|(_, value)| value.is_none());
        match missing {
            Some((name, _)) => Err(format!("the state does not say what {name} is")),
            None => Ok(state.into_iter().flatten().collect()),
        }
    }
}

/// What a model allows, as it stands in a file `.expected`.
#[must_use]
pub fn show_allowed(test: &Test, model: &str, allowed: &Allowed) -> String {
    if allowed.undefined {
        return format!("{model} undefined\n");
    }
    let mut text = format!("{model} {}\n", allowed.states.len());
    for state in &allowed.states {
        _ = writeln!(text, "  {}", test.show_state(state));
    }
    text
}

/// The built-in models that a test belongs to, with each of their variants.
///
/// # Errors
/// A built-in model is wrong.
pub fn models_of(test: &Test) -> Result<Vec<Model>, Fault> {
    let mut models = Vec::new();
    for name in Model::names() {
        let model = Model::named(&name)?;
        if model.takes(test) {
            models.extend(model.with_variants()?);
        }
    }
    Ok(models)
}

/// All that a file `.expected` says of a test.
///
/// # Errors
/// The test has too many executions.
pub fn expected(test: &Test) -> Result<String, Fault> {
    let mut text = String::new();
    for model in models_of(test)? {
        text += &show_allowed(test, &model.name(), &allowed(test, &model)?);
    }
    Ok(text)
}

/// What a file `.expected` says of one model.
#[must_use]
pub fn block_of<'t>(expected: &'t str, model: &str) -> Option<&'t str> {
    let starts = |line: &str| line.strip_prefix(model).is_some_and(|rest| rest.starts_with(' '));
    let mut begin = None;
    let mut at = 0;
    for line in expected.split_inclusive('\n') {
        match begin {
            None if starts(line) => begin = Some(at),
            Some(begin) if !line.starts_with(' ') => return Some(&expected[begin..at]),
            _ => {}
        }
        at += line.len();
    }
    begin.map(|begin| &expected[begin..])
}
