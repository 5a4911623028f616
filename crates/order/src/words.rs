//! States as text, such as `x=0 z=1`.

use crate::litmus::Test;
use crate::states::{Allowed, State};

impl Test {
    /// A state as text: `x=0 z=1`.
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

    /// The allowed states as text, sorted by value; `None` if the test is undefined.
    #[must_use]
    pub fn show_allowed(&self, allowed: &Allowed) -> Option<Vec<String>> {
        let states = || allowed.states.iter().map(|state| self.show_state(state));
        (!allowed.undefined).then(|| states().collect())
    }

    /// Parses a state: each observed location once, in any order.
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
