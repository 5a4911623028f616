//! Elements of structures: words that follow from the first one, so that a torn element shows.

use crate::params::param;
use strandline_isa::{Addr, Cpu, Image, LINE_BYTES, W};
use strandline_kernel::{Param, ParamError, Params};
use strandline_runtime::{place, Heap, Region, Rows, PAYLOAD_BYTES};

/// The parameter: the size of an element.
pub(crate) const ITEM_BYTES: Param = param(
    "item_bytes",
    64,
    16..=MOST_BYTES,
    "bytes of an element, a multiple of 8",
);

const MOST_BYTES: u64 = 128;

/// The most records that a log needs for a row of `first` words and the largest element: two for each line.
pub(crate) const fn most_records(first: u64) -> u64 {
    2 * (8 * first + MOST_BYTES).div_ceil(PAYLOAD_BYTES)
}

/// An element in a row: the rest of the row, after its first words.
#[derive(Clone, Copy)]
pub(crate) struct Elements {
    /// The word of the row at which it begins.
    first: u64,
    words: u64,
}

impl Elements {
    /// Elements of the size that the user sets, in rows with `first` words before.
    pub fn of(params: &Params, first: u64) -> Result<Elements, ParamError> {
        let bytes = params.get(ITEM_BYTES.name);
        if bytes % 8 != 0 {
            return Err(ParamError(format!(
                "workload.item_bytes={bytes}: must be a multiple of 8; {} is the next one",
                bytes.next_multiple_of(8)
            )));
        }
        Ok(Elements {
            first,
            words: bytes / 8,
        })
    }

    /// Allocates `rows` rows.
    pub fn rows(&self, heap: &mut Heap, rows: u64) -> Rows {
        let lines = self.row_bytes().div_ceil(PAYLOAD_BYTES);
        heap.rows(rows, lines * LINE_BYTES, rows)
    }

    /// Bytes of a row's payload.
    pub fn row_bytes(&self) -> u64 {
        8 * (self.first + self.words)
    }

    /// The offset of word `i` of the element in its row.
    fn offset(&self, i: u64) -> u64 {
        place(8 * (self.first + i))
    }

    /// Logs the element in the row at `row`, without the words before.
    pub fn log<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, row: W<'c, C>) {
        let _call = row.call(2);
        let end = self.row_bytes();
        let mut at = 8 * self.first;
        while at < end {
            let line = at / PAYLOAD_BYTES;
            let next = end.min((line + 1) * PAYLOAD_BYTES);
            let from = at % PAYLOAD_BYTES;
            let address = if line == 0 { row } else { row + line * LINE_BYTES };
            region.log(address, from, next - at);
            at = next;
        }
    }

    /// Writes the element whose first word is `value`, in lines that the region's step has logged.
    pub fn update<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, row: W<'c, C>, value: W<'c, C>) {
        let _call = row.call(3);
        for i in 0..self.words {
            let word = if i == 0 { value } else { value + i };
            region.update(row.at(self.offset(i)), word, 8);
        }
    }

    /// As [`Elements::update`], by a faulty program that neither logs nor flushes.
    pub fn store<'c, C: Cpu>(&self, row: W<'c, C>, value: W<'c, C>) {
        let _call = row.call(2);
        for i in 0..self.words {
            let word = if i == 0 { value } else { value + i };
            row.at(self.offset(i)).store(word);
        }
    }

    /// Reads the element; returns its first word.
    pub fn read<'c, C: Cpu>(&self, row: W<'c, C>) -> W<'c, C> {
        let _call = row.call(1);
        let value = row.at(self.offset(0)).load();
        for i in 1..self.words {
            row.at(self.offset(i)).load();
        }
        value
    }

    /// The first word of the element in the row at `row`, if it is whole.
    pub fn check(&self, image: &dyn Image, row: u64) -> Result<u64, String> {
        let word = |i| image.word(Addr(row + self.offset(i)));
        let value = word(0);
        match (1..self.words).find(|i| word(*i) != value.wrapping_add(*i)) {
            None => Ok(value),
            Some(i) => Err(format!(
                "word {i} of the element at {} is {:#x}, but the first is {value:#x}",
                Addr(row),
                word(i)
            )),
        }
    }

    /// Writes an element before the run.
    pub fn set(&self, image: &dyn Image, row: u64, value: u64) {
        for i in 0..self.words {
            image.set_word(Addr(row + self.offset(i)), value.wrapping_add(i));
        }
    }
}
