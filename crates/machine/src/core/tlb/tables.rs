//! Where page tables lie.

use strandline_isa::{Addr, Line, PM_BASE};

/// The bits of a page's number that index the table of one level: 512 entries of 8 bytes.
const INDEX_BITS: u32 = 9;

/// The first address of the page tables: DRAM beyond the programs'.
const BASE: u64 = PM_BASE / 2;

/// The bytes set aside for the tables of a level: enough for those of all pages that caches can tell apart.
const LEVEL_BYTES: u64 = 1 << 36;

/// By how much the tables of each level are shifted against those of the level below. Programs lie at round addresses,
/// unlike real mappings; unshifted, the entries of all levels would share one set of every cache.
const SHIFT: u64 = 17 * 64;

/// The line with a page's entry of the tables of `level`; level 0 has the translations. The tables of a level
/// lie one behind the other, in the order of the pages.
pub fn line(page: u64, level: u32) -> Line {
    let level_base = BASE + u64::from(level) * (LEVEL_BYTES + SHIFT);
    Addr(level_base + 8 * index(page, level)).line()
}

/// The number of a page's entry among all of a level.
pub fn index(page: u64, level: u32) -> u64 {
    page >> (INDEX_BITS * level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_neighbouring_pages_share_the_line_of_their_entries_and_512_that_of_the_level_above() {
        let first = PM_BASE / 4096;
        assert_eq!(line(first, 0), line(first + 7, 0));
        assert_ne!(line(first, 0), line(first + 8, 0));
        assert_eq!(index(first, 1), index(first + 511, 1));
        assert_eq!(index(first, 1) + 1, index(first + 512, 1));
    }

    #[test]
    fn tables_of_all_levels_lie_in_dram_apart_from_each_other() {
        // The caches' tags hold 43 bits of an address.
        let last = (1 << 43) / 4096 - 1;
        for level in 0..5 {
            assert!(!line(last, level).is_persistent());
            assert!(line(last, level) < line(0, level + 1));
        }
    }
}
