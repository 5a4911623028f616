//! A value as a user wrote it, and how it becomes a parameter's.

use strandline_kernel::Cycles;

use super::error::Fault;
use super::machine::{cycles_of, Machine};
use super::parameter::{Kind, Parameter};

/// A value with the unit it was given in; without one it is in the parameter's own unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub raw: Raw,
    pub unit: Option<String>,
}

/// The value alone.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    Number(f64),
    Whole(u64),
    Bool(bool),
    Text(String),
    /// Something that no parameter is, by its name in TOML.
    Other(&'static str),
}

impl Raw {
    fn shown(&self) -> String {
        match self {
            Raw::Number(number) => number.to_string(),
            Raw::Whole(number) => number.to_string(),
            Raw::Bool(truth) => truth.to_string(),
            Raw::Text(text) => format!("\"{text}\""),
            Raw::Other(name) => format!("the {name}"),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Raw::Number(number) => Some(*number),
            Raw::Whole(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// The value times `scale` as a whole number; one too great stays the greatest, to fall out of every range.
    fn whole(&self, scale: u64) -> Option<u64> {
        match self {
            Raw::Whole(number) => Some(number.saturating_mul(scale)),
            Raw::Number(number) => {
                let scaled = number * scale as f64;
                (scaled >= 0.0 && scaled.fract() == 0.0).then_some(scaled as u64)
            }
            _ => None,
        }
    }
}

impl Given {
    /// Reads what follows the `=` of `--set`: a word, or a number with or without a unit.
    pub fn from_text(text: &str) -> Given {
        let text = text.trim();
        let digits = text.trim_end_matches(|c: char| !(c.is_ascii_digit() || c == '.'));
        let unit = text[digits.len()..].trim();
        let raw = match (digits.parse::<u64>(), digits.parse::<f64>(), text) {
            (Ok(whole), _, _) => Raw::Whole(whole),
            (_, Ok(number), _) => Raw::Number(number),
            (_, _, "true") => Raw::Bool(true),
            (_, _, "false") => Raw::Bool(false),
            _ => {
                return Given {
                    raw: Raw::Text(text.to_owned()),
                    unit: None,
                }
            }
        };
        let is_number = !matches!(raw, Raw::Bool(_));
        Given {
            raw,
            unit: (is_number && !unit.is_empty()).then(|| unit.to_owned()),
        }
    }

    /// In a file, "175ns" in quotes means what it means after `--set`.
    fn unquoted(&self, parameter: &Parameter) -> Given {
        match (&self.raw, &parameter.kind) {
            (_, Kind::Word { .. } | Kind::Flag { .. }) => self.clone(),
            (Raw::Text(text), _) if self.unit.is_none() => Given::from_text(text),
            _ => self.clone(),
        }
    }
}

impl Parameter {
    /// Puts a value into the machine and returns its nanoseconds if it was given in them.
    ///
    /// # Errors
    /// A wrong type, an unknown unit or a value out of range; the machine is then unchanged.
    pub fn store(&self, machine: &mut Machine, given: &Given) -> Result<Option<f64>, Fault> {
        let given = given.unquoted(self);
        match &self.kind {
            Kind::Count { unit, range, field } => {
                let value = given
                    .raw
                    .whole(self.scale(unit, &given)?)
                    .ok_or_else(|| self.wrong_type(&given))?;
                self.demand(range.contains(&value), &given.raw.shown())?;
                (field.put)(machine, value);
            }
            Kind::Rate { range, unit, field } => {
                self.scale(unit, &given)?;
                let value = given.raw.number().ok_or_else(|| self.wrong_type(&given))?;
                self.demand(range.contains(&value), &given.raw.shown())?;
                (field.put)(machine, value);
            }
            Kind::Time { range, field } => {
                let (cycles, nanoseconds) = self.time(&given, machine.core.clock_ghz)?;
                let shown = match nanoseconds {
                    Some(ns) => format!("{ns} ns ({cycles} cycles at {} GHz)", machine.core.clock_ghz),
                    None => given.raw.shown(),
                };
                self.demand(range.contains(&cycles.0), &shown)?;
                (field.put)(machine, cycles);
                return Ok(nanoseconds);
            }
            Kind::Flag { field } => match (&given.raw, &given.unit) {
                (Raw::Bool(value), None) => (field.put)(machine, *value),
                _ => return Err(self.wrong_type(&given)),
            },
            Kind::Word { words, field } => match (&given.raw, &given.unit) {
                (Raw::Text(text), None) => {
                    let index = words
                        .iter()
                        .position(|word| word == text)
                        .ok_or_else(|| self.wrong_type(&given))?;
                    (field.put)(machine, index);
                }
                _ => return Err(self.wrong_type(&given)),
            },
        }
        Ok(None)
    }

    /// How many of `unit` one of the given unit is.
    fn scale(&self, unit: &str, given: &Given) -> Result<u64, Fault> {
        match (given.unit.as_deref(), unit) {
            (None, _) => Ok(1),
            (Some(given), unit) if given == unit => Ok(1),
            (Some("KiB"), "bytes") => Ok(1 << 10),
            (Some("MiB"), "bytes") => Ok(1 << 20),
            (Some(other), "bytes") => Err(bad_unit(other, "bytes, KiB or MiB")),
            (Some(other), unit) => Err(bad_unit(other, unit)),
        }
    }

    fn time(&self, given: &Given, clock_ghz: f64) -> Result<(Cycles, Option<f64>), Fault> {
        match given.unit.as_deref() {
            None | Some("cycles") => {
                let cycles = given.raw.whole(1).ok_or_else(|| self.wrong_type(given))?;
                Ok((Cycles(cycles), None))
            }
            Some("ns") => {
                let nanoseconds = given.raw.number().ok_or_else(|| self.wrong_type(given))?;
                self.demand(nanoseconds >= 0.0, &format!("{nanoseconds} ns"))?;
                Ok((cycles_of(nanoseconds, clock_ghz), Some(nanoseconds)))
            }
            Some(other) => Err(bad_unit(other, "cycles or ns")),
        }
    }

    fn demand(&self, holds: bool, shown: &str) -> Result<(), Fault> {
        if holds {
            return Ok(());
        }
        Err(Fault::new(
            format!("{shown} is out of range"),
            format!("give {}", self.admits()),
        ))
    }

    fn wrong_type(&self, given: &Given) -> Fault {
        let expected = match self.kind {
            Kind::Count { .. } => "a whole number",
            Kind::Time { .. } => "a whole number of cycles, or a number of ns",
            Kind::Rate { .. } => "a number",
            Kind::Flag { .. } => "true or false",
            Kind::Word { .. } => "one of its words",
        };
        let unit = given.unit.as_deref().map(|unit| format!(" {unit}")).unwrap_or_default();
        Fault::new(
            format!("expected {expected}, found {}{unit}", given.raw.shown()),
            format!("give {}", self.admits()),
        )
    }
}

fn bad_unit(unit: &str, known: &str) -> Fault {
    Fault::new(format!("unknown unit \"{unit}\""), format!("give it in {known}"))
}
