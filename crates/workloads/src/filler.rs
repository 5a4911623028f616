//! Contents of the columns that no task changes.

use strandline_isa::{Addr, Image, Memory};
use strandline_kernel::Rng;
use strandline_runtime::Table;

/// Word `word` of row `row`; deterministic. Tables differ by `seed`.
pub(crate) fn filler(seed: u64, row: u64, word: u64) -> u64 {
    Rng::new(seed ^ row << 8 ^ word).next_u64()
}

/// Fills `words` payload words of each row of `table`, starting at word `from`.
pub(crate) fn fill<const PAYLOAD: u64>(memory: &Memory, table: &Table<PAYLOAD>, seed: u64, from: u64, words: u64) {
    for row in 0..table.rows() {
        for word in from..from + words {
            memory.write(table.field(row, 8 * word), 8, filler(seed, row, word));
        }
    }
}

/// The low and high halves of a word.
pub(crate) fn halves(image: &dyn Image, addr: Addr) -> (u64, u64) {
    let word = image.word(addr);
    (word & 0xffff_ffff, word >> 32)
}

/// A word from its low and high halves.
pub(crate) fn pair(low: u64, high: u64) -> u64 {
    low | high << 32
}
