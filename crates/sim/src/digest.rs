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

#[cfg(test)]
mod tests {
    use crate::{observe, run, Spec};

    fn spec(seed: u64) -> Spec {
        Spec {
            tasks: Some(20),
            seed,
            set: vec!["workload.rows=100".to_owned()],
            ..Spec::new("sps", "x86")
        }
    }

    #[test]
    fn a_run_has_its_digests_again_and_another_run_has_others() {
        let [first, again, other] = [1, 1, 2].map(|seed| observe(&spec(seed)).unwrap().digests());
        assert_eq!(first, again);
        assert_eq!(first.len(), 4);
        for (part, digest) in first {
            assert_ne!(digest, other[part], "{part}");
        }
    }

    #[test]
    fn a_count_without_a_key_is_part_of_the_digest() {
        let mut record = run(&spec(1)).unwrap();
        let before = record.digests();
        record.stats.mispredictions += 1;
        assert_ne!(record.digests(), before);
    }
}
