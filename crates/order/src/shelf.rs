//! The built-in tests.

use crate::litmus::Test;
use crate::Fault;
use include_dir::{include_dir, Dir};

static SHELF: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../litmus");

/// A built-in test, as it stands in `litmus/`.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its file below `litmus/`, without `.litmus`.
    pub path: &'static str,
    /// The test.
    pub text: &'static str,
    /// What is expected of it, if that was recorded.
    pub expected: Option<&'static str>,
}

impl Entry {
    /// The test, read.
    ///
    /// # Errors
    /// It is wrong.
    pub fn test(&self) -> Result<Test, Fault> {
        Test::parse(self.text).map_err(|fault| fault.in_file(&format!("litmus/{}.litmus", self.path)))
    }
}

/// All built-in tests, in the order of their paths.
#[must_use]
pub fn shelf() -> Vec<Entry> {
    let mut entries = Vec::new();
    gather(&SHELF, &mut entries);
    entries.sort_unstable_by_key(|entry| entry.path);
    entries
}

fn gather(dir: &'static Dir<'static>, entries: &mut Vec<Entry>) {
    for file in dir.files() {
        let path = file.path().to_str().and_then(|path| path.strip_suffix(".litmus"));
        let (Some(path), Some(text)) = (path, file.contents_utf8()) else {
            continue;
        };
        let expected = SHELF.get_file(format!("{path}.expected"));
        entries.push(Entry {
            path,
            text,
            expected: expected.and_then(|file| file.contents_utf8()),
        });
    }
    dir.dirs().for_each(|dir| gather(dir, entries));
}
