//! Declared parameters of a workload or a design, and their values as set by `--set SCOPE.KEY=VALUE`.

use crate::nearest;
use std::collections::BTreeMap;
use std::fmt;

/// A parameter that somebody declares.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its value unless set.
    pub default: u64,
    /// Its smallest value.
    pub min: u64,
    /// Its largest value.
    pub max: u64,
    /// The meaning, with the unit, in one line.
    pub help: &'static str,
    /// The source of the default: paper and section. Empty for a workload's, whose paper is its source.
    pub source: &'static str,
    /// Words for its values from `min` on, which may be given for the numbers.
    pub words: &'static [&'static str],
}

/// A wrong parameter: one line with the key and the correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError(pub String);

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParamError {}

/// The values of declared parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params(BTreeMap<&'static str, u64>);

impl Params {
    /// The defaults of `declared`.
    #[must_use]
    pub fn defaults(declared: &[Param]) -> Params {
        Params(declared.iter().map(|param| (param.name, param.default)).collect())
    }

    /// The defaults of `declared`, overridden by `set`: keys (without their `SCOPE.`) and values as the user wrote
    /// them. The last of equal keys wins. Errors name `scope`, the owner of the parameters.
    ///
    /// # Errors
    /// An unknown key, or a value that is not a whole number or is outside the declared range.
    pub fn parse<'a>(
        scope: &str,
        declared: &[Param],
        set: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Params, ParamError> {
        let mut params = Params::defaults(declared);
        for (key, text) in set {
            let param = declared
                .iter()
                .find(|param| param.name == key)
                .ok_or_else(|| unknown(scope, declared, key))?;
            params.0.insert(param.name, parse_value(scope, param, text)?);
        }
        Ok(params)
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// If `name` was not declared.
    #[must_use]
    pub fn get(&self, name: &str) -> u64 {
        match self.0.get(name) {
            Some(value) => *value,
            None => panic!("parameter {name} was not declared"),
        }
    }

    /// These parameters with one value changed.
    #[must_use]
    pub fn with(&self, name: &'static str, value: u64) -> Params {
        let mut params = self.clone();
        params.0.insert(name, value);
        params
    }

    /// All keys and values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(name, value)| (*name, *value))
    }
}

fn parse_value(scope: &str, param: &Param, text: &str) -> Result<u64, ParamError> {
    let named = param.words.iter().zip(param.min..).find(|(word, _)| **word == text);
    let value: Option<u64> = match named {
        Some((_, value)) => Some(value),
        None => text.replace('_', "").parse().ok(),
    };
    let words = match param.words {
        [] => String::new(),
        words => format!(", or {}", words.join(" or ")),
    };
    value
        .filter(|value| (param.min..=param.max).contains(value))
        .ok_or_else(|| {
            ParamError(format!(
                "{scope}.{}={text}: must be a whole number from {} to {}{words} ({})",
                param.name, param.min, param.max, param.help
            ))
        })
}

fn unknown(scope: &str, declared: &[Param], key: &str) -> ParamError {
    let names: Vec<&str> = declared.iter().map(|param| param.name).collect();
    if names.is_empty() {
        return ParamError(format!(
            "{scope}.{key}: this {scope} has no parameters; leave the setting out"
        ));
    }
    let meant =
        nearest(key, names.iter().copied()).map_or_else(String::new, |name| format!("; did you mean {scope}.{name}?"));
    ParamError(format!(
        "{scope}.{key}: no such parameter{meant} (there are: {})",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Param] = &[
        Param {
            name: "rows",
            default: 100_000,
            min: 2,
            max: 1_000_000,
            help: "rows of the table",
            source: "",
            words: &[],
        },
        Param {
            name: "log_records",
            default: 1024,
            min: 16,
            max: 1 << 20,
            help: "lines of a ring",
            source: "",
            words: &[],
        },
        Param {
            name: "order",
            default: 1,
            min: 1,
            max: 2,
            help: "the order of the rows",
            source: "",
            words: &["rising", "falling"],
        },
    ];

    #[test]
    fn what_is_set_replaces_the_default() {
        let params = Params::parse("workload", DECLARED, [("rows", "1_000")]).unwrap();
        assert_eq!(params.get("rows"), 1000);
        assert_eq!(params.get("log_records"), 1024);
    }

    #[test]
    fn a_word_stands_for_its_value() {
        for text in ["falling", "2"] {
            let params = Params::parse("workload", DECLARED, [("order", text)]).unwrap();
            assert_eq!(params.get("order"), 2);
        }
    }

    #[test]
    fn errors_name_key_range_and_nearest() {
        let wrong = |key, value| {
            Params::parse("workload", DECLARED, [(key, value)])
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            wrong("rows", "1"),
            "workload.rows=1: must be a whole number from 2 to 1000000 (rows of the table)"
        );
        assert!(wrong("rows", "many").contains("whole number"));
        assert_eq!(
            wrong("order", "any"),
            "workload.order=any: must be a whole number from 1 to 2, or rising or falling (the order of the rows)"
        );
        assert!(wrong("rowz", "5").contains("did you mean workload.rows?"));
        assert!(wrong("logrecords", "5").contains("did you mean workload.log_records?"));
    }
}
