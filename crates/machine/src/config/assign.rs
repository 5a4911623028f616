//! Changing a machine parameter by parameter.

use super::error::{nearest, ConfigError, Fault, Place};
use super::given::Given;
use super::machine::{cycles_of, Machine};
use super::parameter::{Kind, Parameter};
use super::table::{find, PARAMETERS};

/// The source of a value that came with `--set`.
pub(super) const COMMAND_LINE: &str = "command line";

/// Where a parameter's value comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    /// The paper's table or section, the file and line, or the command line.
    pub source: String,
    /// The value as given, if it was given in ns.
    pub nanoseconds: Option<f64>,
}

impl Machine {
    /// Sets one parameter, as `--set machine.KEY=TEXT` does: `set("pm.read_latency", "175ns")`.
    ///
    /// A number is in the parameter's unit (cycles for times) unless a unit follows it. Changing `core.clock_ghz`
    /// converts the times that were given in ns anew and leaves those given in cycles.
    ///
    /// # Errors
    /// An unknown key, a wrong type or unit, or a value out of range; the machine is then unchanged. How parameters
    /// go together is left to [`Machine::validate`].
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ConfigError> {
        let place = || Place::Set(key.to_owned(), text.to_owned());
        let fail = |fault| ConfigError::new(place(), None, fault);
        let parameter = find(key).ok_or_else(|| fail(unknown_key(key)))?;
        self.assign(parameter, &Given::from_text(text), COMMAND_LINE.to_owned())
            .map_err(fail)
    }

    /// Sets one parameter and notes where its value comes from.
    pub(super) fn assign(&mut self, parameter: &'static Parameter, given: &Given, source: String) -> Result<(), Fault> {
        let clock_before = self.core.clock_ghz;
        let nanoseconds = parameter.store(self, given)?;
        self.origins.insert(parameter.key, Origin { source, nanoseconds });
        if self.l2.is_none() {
            self.origins
                .retain(|key, _| !key.starts_with("l2.") || *key == "l2.bytes");
        }
        self.reclock(clock_before);
        Ok(())
    }

    /// Converts the times given in ns from the clock that was to the clock that is.
    fn reclock(&mut self, clock_before: f64) {
        if clock_before == self.core.clock_ghz {
            return;
        }
        for parameter in PARAMETERS {
            let Kind::Time { field, .. } = &parameter.kind else {
                continue;
            };
            let Some(nanoseconds) = self.origins.get(parameter.key).and_then(|origin| origin.nanoseconds) else {
                continue;
            };
            // A field that the program has changed since is no longer what was given.
            if (field.get)(self) == Some(cycles_of(nanoseconds, clock_before)) {
                (field.put)(self, cycles_of(nanoseconds, self.core.clock_ghz));
            }
        }
    }
}

/// The fault of a key that is no parameter.
pub(super) fn unknown_key(key: &str) -> Fault {
    let near = nearest(key, PARAMETERS.iter().map(|parameter| parameter.key));
    Fault::new("no such parameter", format!("did you mean {near}?"))
}
