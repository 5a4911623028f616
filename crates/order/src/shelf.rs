//! The built-in tests.

use crate::expected::{read_expected, Expected};
use crate::litmus::Test;
use crate::{Fault, Model};
use include_dir::{include_dir, Dir, File};
use std::collections::BTreeSet;

static SHELF: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../litmus");

/// A built-in test, as in `litmus/`.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its folder below `litmus/`.
    pub folder: &'static str,
    /// Its file below `litmus/`, without `.litmus`.
    pub path: &'static str,
    /// The test.
    pub text: &'static str,
}

impl Entry {
    /// Its file's name, without `.litmus`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('/').map_or(self.path, |(_, name)| name)
    }

    /// The test, read.
    ///
    /// # Errors
    /// It is wrong.
    pub fn test(&self) -> Result<Test, Fault> {
        Test::parse(self.text).map_err(|fault| fault.in_file(&format!("litmus/{}.litmus", self.path)))
    }

    /// Its expected states in a model; `None` without an entry in its folder's file, or without the file.
    ///
    /// # Errors
    /// The file is wrong.
    pub fn expected(&self, model: &Model) -> Result<Option<Expected>, Fault> {
        let file = file_of(self.folder, model);
        let text = stored(self.folder, model).unwrap_or_default();
        let entries = shelf();
        let folder = entries.iter().filter(|entry| entry.folder == self.folder);
        let folder: BTreeSet<&str> = folder.map(Entry::name).collect();
        let mut tests =
            read_expected(model, text, &folder).map_err(|fault| fault.in_file(&format!("litmus/{file}")))?;
        Ok(tests.remove(self.name()))
    }
}

/// All built-in tests, sorted by path.
#[must_use]
pub fn shelf() -> Vec<Entry> {
    let mut entries: Vec<Entry> = SHELF.dirs().flat_map(Dir::files).filter_map(entry).collect();
    entries.sort_unstable_by_key(|entry| entry.path);
    entries
}

fn entry(file: &'static File<'static>) -> Option<Entry> {
    let path = file.path().to_str()?.strip_suffix(".litmus")?;
    let (folder, _) = path.rsplit_once('/')?;
    let text = file.contents_utf8()?;
    Some(Entry { folder, path, text })
}

/// The file below `litmus/` with a model's expected states for a folder.
fn file_of(folder: &str, model: &Model) -> String {
    format!("{folder}/{}.expected", model.base())
}

/// The stored states of a model for a folder of built-in tests, as text.
#[must_use]
pub fn stored(folder: &str, model: &Model) -> Option<&'static str> {
    SHELF.get_file(file_of(folder, model))?.contents_utf8()
}
