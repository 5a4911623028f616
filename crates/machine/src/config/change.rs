//! Changes of a machine parameter by parameter, and its description by parameters.

use serde::Serialize;

use super::error::{ConfigError, Fault};
use super::machine::MachineConfig;
use super::media::MEDIA;
use super::parameter::{cycles_of, find, Parameter, PARAMETERS};

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

/// One parameter of a machine, described.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParamInfo {
    /// Its key, as after `--set machine.`.
    pub key: &'static str,
    /// Its value in `unit`.
    pub value: String,
    /// The unit, "ns" where the value was given in ns; empty for flags and words.
    pub unit: &'static str,
    /// The paper's table or section, why it was chosen, the file and line, or "command line".
    pub source: String,
    /// What it is.
    pub help: &'static str,
}

impl MachineConfig {
    /// Sets one parameter, as `--set machine.KEY=TEXT` does: `set("pm.read_latency", "175ns")`.
    ///
    /// A number is in the parameter's unit (cycles for times) unless a unit follows it. Changing `core.clock_ghz`
    /// converts the times that were given in ns anew and leaves those given in cycles. `media` names one of the
    /// machine's memories and sets all parameters in which these differ.
    ///
    /// # Errors
    /// An unknown key, a wrong type or unit, or a value out of range; the machine is then unchanged. How parameters
    /// go together is left to [`MachineConfig::validate`].
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ConfigError> {
        let fail = |what: &str| ConfigError::new(&format!("--set machine.{key}={text}"), what);
        let parameter = find(key).map_err(|what| fail(&what))?;
        let outcome = match key {
            MEDIA => self.choose(text.trim(), COMMAND_LINE),
            _ => self.assign(parameter, text, COMMAND_LINE.to_owned()),
        };
        outcome.map_err(|fault| fail(&fault.text))
    }

    /// All parameters in the order of their sections; without an L2, of it only `l2.bytes`, which is 0; no
    /// `media` of a machine with one memory.
    #[must_use]
    pub fn describe(&self) -> Vec<ParamInfo> {
        PARAMETERS.iter().filter_map(|parameter| self.info(parameter)).collect()
    }

    /// Sets one parameter and notes where its value comes from; a fault leaves the machine unchanged.
    pub(super) fn assign(&mut self, parameter: &'static Parameter, text: &str, source: String) -> Result<(), Fault> {
        let clock_before = self.core.clock_ghz;
        let (value, nanoseconds) = parameter.read(text, clock_before)?;
        (parameter.put)(self, &value).ok_or_else(|| parameter.wrong(text))?;
        self.origins.insert(&parameter.key, Origin { source, nanoseconds });
        if parameter.key == "l2.bytes" && value == "0" {
            self.l2 = None;
            self.origins
                .retain(|key, _| !key.starts_with("l2.") || *key == "l2.bytes");
        }
        if self.core.clock_ghz != clock_before {
            self.reclock(clock_before);
        }
        Ok(())
    }

    /// Converts the times given in ns from the clock that was to the clock that is.
    fn reclock(&mut self, clock_before: f64) {
        for parameter in PARAMETERS.iter() {
            if let Some(nanoseconds) = self.nanoseconds(parameter, clock_before) {
                (parameter.put)(self, &cycles_of(nanoseconds, self.core.clock_ghz).to_string());
            }
        }
    }

    /// The nanoseconds that a time was given in, unless the program has changed the field since.
    fn nanoseconds(&self, parameter: &Parameter, clock_ghz: f64) -> Option<f64> {
        let nanoseconds = self.origins.get(&*parameter.key)?.nanoseconds?;
        let given = cycles_of(nanoseconds, clock_ghz).to_string();
        (parameter.value(self)? == given).then_some(nanoseconds)
    }

    pub(super) fn info(&self, parameter: &'static Parameter) -> Option<ParamInfo> {
        let value = parameter.value(self)?;
        let (value, unit) = match self.nanoseconds(parameter, self.core.clock_ghz) {
            Some(nanoseconds) => (nanoseconds.to_string(), "ns"),
            None => (value, parameter.unit),
        };
        let origin = self.origins.get(&*parameter.key);
        Some(ParamInfo {
            key: &parameter.key,
            value,
            unit,
            source: origin.map(|origin| origin.source.clone()).unwrap_or_default(),
            help: &parameter.help,
        })
    }
}
