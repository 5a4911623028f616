//! The invariant of a table.

use super::resize::{limit, shift};
use super::{entry, header, SpHashmap, EMPTY, FULL, SPREAD, TOMBSTONE, VALUE};
use strandline_isa::{Addr, Image, LINE_BYTES};

impl SpHashmap {
    /// The address and the number of entries of a structure's table.
    pub(super) fn table(&self, image: &dyn Image, index: u64) -> Result<(u64, u64), String> {
        let at = self.headers.addr(index).0;
        let word = |offset| image.word(Addr(at + offset));
        let table = word(header::TABLE);
        let (mut start, mut entries) = (self.tables_of(index).0, self.first);
        while start != table && entries < self.most {
            start += entries * LINE_BYTES;
            entries *= 2;
        }
        let found = [header::TABLE, header::END, header::SHIFT, header::LIMIT].map(word);
        let expected = [start, start + entries * LINE_BYTES, shift(entries), limit(entries)];
        match found == expected {
            true => Ok((table, entries)),
            false => Err(format!("header {index} holds {found:x?}, which is none of its tables")),
        }
    }

    pub(super) fn check_table(&self, image: &dyn Image, index: u64) -> Result<(), String> {
        let (table, entries) = self.table(image, index)?;
        let word = |number: u64, offset| image.word(Addr(table + number * LINE_BYTES + offset));
        let mut seen = vec![false; self.keys as usize];
        let mut size = 0;
        for number in 0..entries {
            let state = word(number, entry::STATE);
            if state > TOMBSTONE {
                return Err(format!("table {index}: entry {number} has state {state:#x}"));
            }
            size += u64::from(state != EMPTY);
            if state != FULL {
                continue;
            }
            let key = word(number, entry::KEY);
            match seen.get_mut(key as usize) {
                None => return Err(format!("table {index} holds key {key}, which is never drawn")),
                Some(true) => return Err(format!("table {index} holds key {key} twice")),
                Some(new) => *new = true,
            }
            if word(number, entry::VALUE) != key + VALUE {
                return Err(format!(
                    "table {index}: the value of key {key} is {:#x}",
                    word(number, entry::VALUE)
                ));
            }
            let home = key.wrapping_mul(SPREAD) >> shift(entries);
            let passed = (number + entries - home) % entries;
            if (0..passed).any(|step| word((home + step) % entries, entry::STATE) == EMPTY) {
                return Err(format!("table {index}: no probe finds key {key} in entry {number}"));
            }
        }
        let counted = image.word(Addr(self.headers.addr(index).0 + header::SIZE));
        match counted == size && size < entries {
            true => Ok(()),
            false => Err(format!(
                "table {index} has size {counted}, and {size} entries that are not empty"
            )),
        }
    }
}
