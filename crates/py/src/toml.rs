//! Where the values of a TOML document stand.

use serde_json::{json, Value};
use std::ops::Range;
use toml_edit::{ImDocument, Item, Table};

/// Each value of a TOML text: its path (keys and indices) and its line, from 1. A table has the line of its header.
/// Nothing of a text that is not TOML.
pub fn lines(text: &str) -> Value {
    let mut found = FoundLines {
        text,
        lines: Vec::new(),
    };
    if let Ok(document) = ImDocument::parse(text) {
        found.table(&[], document.as_table());
    }
    Value::Array(found.lines)
}

struct FoundLines<'t> {
    text: &'t str,
    lines: Vec<Value>,
}

impl FoundLines<'_> {
    fn table(&mut self, path: &[Value], table: &Table) {
        for (key, item) in table.iter() {
            let path = [path, &[json!(key)]].concat();
            let own = table.key(key).and_then(|key| key.span());
            self.item(&path, own.or_else(|| item.span()), item);
        }
    }

    fn item(&mut self, path: &[Value], span: Option<Range<usize>>, item: &Item) {
        match item {
            Item::None => {}
            Item::Table(table) => {
                self.note(path, table.span().or(span));
                self.table(path, table);
            }
            Item::ArrayOfTables(tables) => {
                let first = tables.get(0).and_then(Table::span);
                self.note(path, first.or(span));
                for (index, table) in tables.iter().enumerate() {
                    let path = [path, &[json!(index)]].concat();
                    self.note(&path, table.span());
                    self.table(&path, table);
                }
            }
            Item::Value(value) => self.value(path, span, value),
        }
    }

    fn value(&mut self, path: &[Value], span: Option<Range<usize>>, value: &toml_edit::Value) {
        self.note(path, span.or_else(|| value.span()));
        if let Some(array) = value.as_array() {
            for (index, element) in array.iter().enumerate() {
                self.value(&[path, &[json!(index)]].concat(), element.span(), element);
            }
        }
        if let Some(table) = value.as_inline_table() {
            for (key, element) in table.iter() {
                let own = table.key(key).and_then(|key| key.span());
                self.value(&[path, &[json!(key)]].concat(), own, element);
            }
        }
    }

    fn note(&mut self, path: &[Value], span: Option<Range<usize>>) {
        if let Some(before) = span.and_then(|span| self.text.get(..span.start)) {
            let line = before.matches('\n').count() + 1;
            self.lines.push(json!([path, line]));
        }
    }
}
