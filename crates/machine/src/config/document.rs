//! A machine's TOML file: its values, and their lines.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::Deserialize;
use strandline_kernel::did_you_mean;
use toml_edit::{de::Error, ImDocument, Item, Table, TableLike};

use super::error::ConfigError;
use super::parameter::{find, PARAMETERS};

/// The keys that are not parameters.
const ABOUT: [&str; 5] = ["base", "name", "paper", "summary", OTHER_MEDIA];

/// The table of memories that the machine can have in place of its own, a table each.
const OTHER_MEDIA: &str = "other_media";

/// A parameter as written: `{ value = 32, unit = "KiB", source = "Table 2" }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: Scalar,
    unit: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, a text, true or false")]
enum Scalar {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// A parameter's value as text, with the unit, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    pub text: String,
    pub source: String,
    pub line: usize,
}

/// Values by parameter.
pub(super) type Values = BTreeMap<&'static str, Given>;

/// A file's name and its syntax.
pub(super) struct Document<'a> {
    path: &'a str,
    toml: ImDocument<&'a str>,
}

impl<'a> Document<'a> {
    pub fn parse(path: &'a str, text: &'a str) -> Result<Document<'a>, ConfigError> {
        let toml = ImDocument::parse(text).map_err(|error| {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            let what = error.message().trim().replace('\n', ", ");
            let text = format!("not TOML: {what} (mend the syntax)");
            ConfigError::new(&format!("{path}:{line}"), &text)
        })?;
        Ok(Document { path, toml })
    }

    /// The value of a key that is not a parameter.
    pub fn about(&self, key: &str) -> Result<Option<String>, ConfigError> {
        let read = |item| read(item).map_err(|what| self.error(&[key], &format!("{what} (put it in quotes)")));
        self.toml.get(key).map(read).transpose()
    }

    /// The values given, by parameter.
    pub fn given(&self) -> Result<Values, ConfigError> {
        self.values(&[], self.toml.as_table())
    }

    /// The values of each other memory, by its name.
    pub fn other_media(&self) -> Result<BTreeMap<String, Values>, ConfigError> {
        let Some(item) = self.toml.get(OTHER_MEDIA) else {
            return Ok(BTreeMap::new());
        };
        let fix = format!("write [{OTHER_MEDIA}.NAME] and its parameters below it");
        let wrong = |path: &[&str]| self.error(path, &format!("expected a table a memory ({fix})"));
        let media = item.as_table_like().ok_or_else(|| wrong(&[OTHER_MEDIA]))?;
        let read = |(name, item): (&str, &Item)| {
            let path = [OTHER_MEDIA, name];
            let table = item.as_table_like().ok_or_else(|| wrong(&path))?;
            Ok((name.to_owned(), self.values(&path, table)?))
        };
        media.iter().map(read).collect()
    }

    /// The values of the parameters in a table at a path.
    fn values(&self, at: &[&str], table: &dyn TableLike) -> Result<Values, ConfigError> {
        let mut given = BTreeMap::new();
        for (key, item) in table.iter().filter(|(key, _)| !ABOUT.contains(key)) {
            let items = match item.as_table_like() {
                Some(table) if is_section(key) => table.iter().map(|(field, item)| (vec![key, field], item)).collect(),
                _ if find(key).is_ok() => vec![(vec![key], item)],
                _ => return Err(self.error(&[at, &[key]].concat(), &no_section(key, item))),
            };
            for (keys, item) in items {
                let path = [at, &keys].concat();
                let parameter = find(&keys.join(".")).map_err(|what| self.error(&path, &what))?;
                given.insert(&*parameter.key, self.parameter(&path, item)?);
            }
        }
        Ok(given)
    }

    fn parameter(&self, path: &[&str], item: &Item) -> Result<Given, ConfigError> {
        let fix = "write a value, or { value = ..., unit = ..., source = ... }";
        let alone = || Item::Table(Table::from_iter([("value", item.clone())]));
        let item = if item.is_table_like() { item.clone() } else { alone() };
        let Entry { value, unit, source } = read(&item).map_err(|what| self.error(path, &format!("{what} ({fix})")))?;
        let value = match value {
            Scalar::Flag(flag) => flag.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text,
        };
        let line = self.line(path);
        Ok(Given {
            text: unit.map_or(value.clone(), |unit| format!("{value} {unit}")),
            source: source.unwrap_or_else(|| format!("{}:{line}", self.path)),
            line,
        })
    }

    /// An error about the value at a path.
    pub fn error(&self, path: &[&str], text: &str) -> ConfigError {
        self.error_at(self.line(path), &path.join("."), text)
    }

    /// An error about the key on a line.
    pub fn error_at(&self, line: usize, key: &str, text: &str) -> ConfigError {
        ConfigError::new(&format!("{}:{line}: {key}", self.path), text)
    }

    /// The line of the value at a path, or of the innermost enclosing table that exists; from 1.
    fn line(&self, path: &[&str]) -> usize {
        let (mut item, mut start) = (self.toml.as_item(), 0);
        for part in path.iter().chain(&["value"]) {
            let Some((key, inner)) = item.as_table_like().and_then(|table| table.get_key_value(part)) else {
                break;
            };
            start = key.span().map_or(start, |span| span.start);
            item = inner;
        }
        line_at(self.toml.raw(), start)
    }
}

fn sections() -> impl Iterator<Item = &'static str> {
    PARAMETERS.iter().filter_map(|p| Some(p.key.split_once('.')?.0))
}

fn is_section(key: &str) -> bool {
    sections().any(|section| section == key)
}

fn no_section(key: &str, item: &Item) -> String {
    if is_section(key) {
        let found = item.type_name();
        format!("expected a section, found the {found} (write [{key}] and its parameters below it)")
    } else {
        let meant = did_you_mean(key, sections().chain(ABOUT).chain(["cores"]));
        format!("no such key or section{meant}")
    }
}

/// The line of a byte of the text, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

fn read<T: DeserializeOwned>(item: &Item) -> Result<T, String> {
    let value = item.clone().into_value().map_err(|_| "no value".to_owned())?;
    T::deserialize(value.into_deserializer()).map_err(|error: Error| error.message().to_owned())
}
