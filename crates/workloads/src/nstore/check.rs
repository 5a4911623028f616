//! The invariant of N-Store's tuples.

use super::{field_offset, place_in_tuple, tuple, word_offset, Nstore};
use super::{FIELDS, FIELD_WORDS, KEY_SHIFT, VERSION_SHIFT};
use strandline_isa::{Addr, Image};

impl Nstore {
    /// Whether the tuple at `row` belongs to `key`, and its fields to its versions.
    pub(super) fn check_tuple(&self, image: &dyn Image, key: u64, row: u64) -> Result<(), String> {
        let found = image.word(Addr(row + tuple::KEY));
        if found != key {
            return Err(format!("the tuple of key {key} has key {found}"));
        }
        let version = image.word(Addr(row + tuple::VERSION));
        for field in 0..FIELDS {
            // An update writes the first fields, all with its version; the others have their loaded contents.
            let expected = if field < self.written { version } else { 0 };
            for word in 0..FIELD_WORDS {
                let content = image.word(Addr(row + field_offset(field) + word_offset(word)));
                let whole = key << KEY_SHIFT | expected << VERSION_SHIFT | place_in_tuple(field, word);
                if content != whole {
                    return Err(format!(
                        "word {word} of field {field} of key {key} holds {content:#x}, not {whole:#x} of version {expected}"
                    ));
                }
            }
        }
        Ok(())
    }
}
