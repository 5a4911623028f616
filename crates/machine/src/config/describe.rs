//! A machine described parameter by parameter, as a list and as a file.

use serde::Serialize;
use toml_edit::Value;

use super::machine::{cycles_of, Machine};
use super::parameter::{Kind, Parameter};
use super::table::PARAMETERS;

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

impl Machine {
    /// All parameters in the order of their sections; without an L2, of it only `l2.bytes`, which is 0.
    #[must_use]
    pub fn describe(&self) -> Vec<ParamInfo> {
        PARAMETERS.iter().filter_map(|parameter| self.info(parameter)).collect()
    }

    /// The machine as a file that [`Machine::load`] takes and that needs no base.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        for (key, value) in [("name", &self.name), ("paper", &self.paper), ("summary", &self.summary)] {
            text += &format!("{key} = {}\n", Value::from(value));
        }
        let mut section = "";
        for (parameter, info) in PARAMETERS.iter().filter_map(|p| Some((p, self.info(p)?))) {
            let (of, field) = info.key.split_once('.').unwrap_or(("", info.key));
            if of != section {
                text += &format!("\n[{of}]\n");
                section = of;
            }
            text += &format!("{field} = {}\n", entry(parameter, &info));
        }
        text
    }

    pub(super) fn info(&self, parameter: &Parameter) -> Option<ParamInfo> {
        let value = parameter.value(self)?;
        let origin = self.origins.get(parameter.key);
        let source = origin.map(|origin| origin.source.clone()).unwrap_or_default();
        let (value, unit) = match (&parameter.kind, origin.and_then(|origin| origin.nanoseconds)) {
            (Kind::Time { field, .. }, Some(ns)) if (field.get)(self) == Some(cycles_of(ns, self.core.clock_ghz)) => {
                (ns.to_string(), "ns")
            }
            _ => (value, parameter.unit()),
        };
        Some(ParamInfo {
            key: parameter.key,
            value,
            unit,
            source,
            help: parameter.help,
        })
    }
}

fn entry(parameter: &Parameter, info: &ParamInfo) -> String {
    let source = Value::from(&info.source);
    match parameter.kind {
        Kind::Word { .. } => format!("{{ value = {}, source = {source} }}", Value::from(&info.value)),
        Kind::Flag { .. } => format!("{{ value = {}, source = {source} }}", info.value),
        _ => format!(
            "{{ value = {}, unit = \"{}\", source = {source} }}",
            info.value, info.unit
        ),
    }
}
