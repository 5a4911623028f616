//! What is known of one parameter: its key, its kind with unit and range, and the field that holds it.

use std::ops::RangeInclusive;

use strandline_kernel::Cycles;

use super::machine::Machine;

/// One parameter of a machine.
pub(super) struct Parameter {
    /// Section and field, `core.rob_entries`.
    pub key: &'static str,
    /// What it is, in half a line.
    pub help: &'static str,
    /// Its type, with unit, range and field.
    pub kind: Kind,
}

/// The type of a parameter.
pub(super) enum Kind {
    /// A whole number of `unit`.
    Count {
        unit: &'static str,
        range: RangeInclusive<u64>,
        field: Field<u64>,
    },
    /// A time, written in cycles or ns; the range is in cycles.
    Time {
        range: RangeInclusive<u64>,
        field: Field<Cycles>,
    },
    /// A number of `unit`.
    Rate {
        unit: &'static str,
        range: RangeInclusive<f64>,
        field: Field<f64>,
    },
    /// True or false.
    Flag { field: Field<bool> },
    /// One of `words`; the field is its index.
    Word {
        words: &'static [&'static str],
        field: Field<usize>,
    },
}

/// How to reach the field; it reads as `None` when the part of the machine is absent.
pub(super) struct Field<T> {
    pub get: fn(&Machine) -> Option<T>,
    pub put: fn(&mut Machine, T),
}

impl Parameter {
    /// The unit its values are described in; empty for flags and words.
    pub fn unit(&self) -> &'static str {
        match self.kind {
            Kind::Count { unit, .. } | Kind::Rate { unit, .. } => unit,
            Kind::Time { .. } => "cycles",
            Kind::Flag { .. } | Kind::Word { .. } => "",
        }
    }

    /// The value in the machine, in [`Parameter::unit`]; `None` when that part of the machine is absent.
    pub fn value(&self, machine: &Machine) -> Option<String> {
        match &self.kind {
            Kind::Count { field, .. } => (field.get)(machine).map(|value| value.to_string()),
            Kind::Time { field, .. } => (field.get)(machine).map(|value| value.0.to_string()),
            Kind::Rate { field, .. } => (field.get)(machine).map(|value| value.to_string()),
            Kind::Flag { field } => (field.get)(machine).map(|value| value.to_string()),
            Kind::Word { words, field } => (field.get)(machine).map(|index| words[index].to_owned()),
        }
    }

    /// What may be given: "1 to 64 entries", "true or false", "tso or weak".
    pub fn admits(&self) -> String {
        match &self.kind {
            Kind::Count { unit, range, .. } => format!("{} to {} {unit}", range.start(), range.end()),
            Kind::Time { range, .. } => format!("{} to {} cycles, or ns", range.start(), range.end()),
            Kind::Rate { unit, range, .. } => format!("{} to {} {unit}", range.start(), range.end()),
            Kind::Flag { .. } => "true or false".to_owned(),
            Kind::Word { words, .. } => words.join(" or "),
        }
    }

    /// Whether the value in the machine is within the range.
    pub fn in_range(&self, machine: &Machine) -> bool {
        match &self.kind {
            Kind::Count { range, field, .. } => (field.get)(machine).is_none_or(|value| range.contains(&value)),
            Kind::Time { range, field } => (field.get)(machine).is_none_or(|value| range.contains(&value.0)),
            Kind::Rate { range, field, .. } => (field.get)(machine).is_none_or(|value| range.contains(&value)),
            Kind::Flag { .. } | Kind::Word { .. } => true,
        }
    }
}
