//! A machine's TOML file taken apart: what it gives, and on which lines.

use std::collections::BTreeMap;

use toml_edit::{ImDocument, Item, TableLike, Value};

use super::assign::unknown_key;
use super::error::{nearest, ConfigError, Fault, Place};
use super::given::{Given, Raw};
use super::table::{find, sections};

/// The contents of a file; its keys are known parameters, its values are not yet judged.
#[derive(Default)]
pub(super) struct Document {
    path: String,
    /// The machine's name.
    pub name: Option<String>,
    /// The paper it is from.
    pub paper: Option<String>,
    /// One line about it.
    pub summary: Option<String>,
    /// The preset to begin with, and its line.
    pub base: Option<(String, usize)>,
    /// What is given, by key.
    pub entries: BTreeMap<&'static str, Entry>,
    /// The line at which each section begins.
    pub sections: BTreeMap<&'static str, usize>,
}

/// One parameter as given.
pub(super) struct Entry {
    pub given: Given,
    pub source: Option<String>,
    pub line: usize,
}

const WORDS_ABOUT: [&str; 4] = ["base", "name", "paper", "summary"];

impl Document {
    pub fn parse(path: &str, text: &str) -> Result<Document, ConfigError> {
        let mut document = Document {
            path: path.to_owned(),
            ..Document::default()
        };
        let parsed = ImDocument::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_at(text, span.start));
            let what = format!("not TOML: {}", error.message().trim().replace('\n', ", "));
            document.error(line, None, Fault::new(what, "mend the syntax"))
        })?;
        for (key, item, line) in items(parsed.as_table(), text, 1) {
            document.top(key, item, line, text)?;
        }
        Ok(document)
    }

    /// An error at a line of this file.
    pub fn error(&self, line: usize, key: Option<&str>, fault: Fault) -> ConfigError {
        ConfigError::new(Place::Line(self.path.clone(), line), key, fault)
    }

    fn top(&mut self, key: &str, item: &Item, line: usize, text: &str) -> Result<(), ConfigError> {
        match key {
            "base" => self.base = Some((self.words(key, item, line)?, line)),
            "name" => self.name = Some(self.words(key, item, line)?),
            "paper" => self.paper = Some(self.words(key, item, line)?),
            "summary" => self.summary = Some(self.words(key, item, line)?),
            _ if find(key).is_some() => self.parameter(key, item, line, text)?,
            _ => self.section(key, item, line, text)?,
        }
        Ok(())
    }

    fn section(&mut self, key: &str, item: &Item, line: usize, text: &str) -> Result<(), ConfigError> {
        let sections = sections();
        let Some(name) = sections.iter().find(|name| **name == key) else {
            let near = nearest(key, sections.into_iter().chain(WORDS_ABOUT).chain(["cores"]));
            return Err(self.error(
                line,
                Some(key),
                Fault::new("no such key or section", format!("did you mean {near}?")),
            ));
        };
        let Some(table) = item.as_table_like() else {
            let fault = Fault::new(
                format!("expected a section, found the {}", item.type_name()),
                format!("write [{name}] and its parameters below it"),
            );
            return Err(self.error(line, Some(key), fault));
        };
        self.sections.insert(name, line);
        for (field, item, line) in items(table, text, line) {
            self.parameter(&format!("{name}.{field}"), item, line, text)?;
        }
        Ok(())
    }

    fn parameter(&mut self, key: &str, item: &Item, line: usize, text: &str) -> Result<(), ConfigError> {
        let parameter = find(key).ok_or_else(|| self.error(line, Some(key), unknown_key(key)))?;
        let entry = match item.as_table_like() {
            Some(table) => self.described(key, table, line, text)?,
            None => Entry {
                given: Given {
                    raw: raw(item),
                    unit: None,
                },
                source: None,
                line,
            },
        };
        self.entries.insert(parameter.key, entry);
        Ok(())
    }

    /// A parameter written as `{ value = 224, unit = "entries", source = "Table 2" }`.
    fn described(&self, key: &str, table: &dyn TableLike, line: usize, text: &str) -> Result<Entry, ConfigError> {
        let mut value = None;
        let mut entry = Entry {
            given: Given {
                raw: Raw::Other("table"),
                unit: None,
            },
            source: None,
            line,
        };
        for (part, item, line) in items(table, text, line) {
            let whole_key = format!("{key}.{part}");
            match part {
                "value" => value = Some((raw(item), line)),
                "unit" => entry.given.unit = Some(self.words(&whole_key, item, line)?),
                "source" => entry.source = Some(self.words(&whole_key, item, line)?),
                _ => {
                    let fault = Fault::new("no such part of a parameter", "give value, unit and source");
                    return Err(self.error(line, Some(&whole_key), fault));
                }
            }
        }
        let Some((raw, line)) = value else {
            return Err(self.error(line, Some(key), Fault::new("value is missing", "write { value = ... }")));
        };
        entry.given.raw = raw;
        entry.line = line;
        Ok(entry)
    }

    fn words(&self, key: &str, item: &Item, line: usize) -> Result<String, ConfigError> {
        item.as_str().map(str::to_owned).ok_or_else(|| {
            let fault = Fault::new(
                format!("expected a text, found the {}", item.type_name()),
                "put it in quotes",
            );
            self.error(line, Some(key), fault)
        })
    }
}

/// The keys of a table with their items and lines; `line` for a key that has no place of its own.
fn items<'a>(table: &'a dyn TableLike, text: &str, line: usize) -> Vec<(&'a str, &'a Item, usize)> {
    let place = |key: &str| table.get_key_value(key).and_then(|(key, _)| key.span());
    table
        .iter()
        .map(|(key, item)| (key, item, place(key).map_or(line, |span| line_at(text, span.start))))
        .collect()
}

fn raw(item: &Item) -> Raw {
    match item.as_value() {
        Some(Value::Integer(number)) => {
            let number = *number.value();
            u64::try_from(number).map_or(Raw::Number(number as f64), Raw::Whole)
        }
        Some(Value::Float(number)) => Raw::Number(*number.value()),
        Some(Value::Boolean(truth)) => Raw::Bool(*truth.value()),
        Some(Value::String(text)) => Raw::Text(text.value().clone()),
        Some(other) => Raw::Other(other.type_name()),
        None => Raw::Other(item.type_name()),
    }
}

/// The line of a byte of the text, from 1.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
