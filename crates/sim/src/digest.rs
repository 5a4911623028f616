//! Digests: numbers that compare two builds by all that a run did, in few bytes.

use crate::{Observation, Record};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// A digest for each part of what was observed, by name.
pub type Digests = BTreeMap<&'static str, String>;

impl Record {
    /// A digest of every count of machine and design, those without a key of the record included.
    #[must_use]
    pub fn digests(&self) -> Digests {
        [("stats", digest(&self.stats))].into()
    }
}

impl Observation {
    /// The digests of the record, of the durable events, of the notes and of the trace.
    #[must_use]
    pub fn digests(&self) -> Digests {
        let journal = &self.journal;
        let mut digests = self.record.digests();
        digests.insert("durable", digest(&journal.durable));
        digests.insert("notes", digest(&journal.notes));
        digests.insert("trace", digest(&journal.trace));
        digests
    }
}

/// The hash of a value's text, which has each field of it, private ones too.
fn digest(value: &impl Debug) -> String {
    let mut text = Hashed(XxHash3_64::new());
    write!(text, "{value:?}").expect("a hash takes all text");
    format!("{:016x}", text.0.finish())
}

struct Hashed(XxHash3_64);

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
