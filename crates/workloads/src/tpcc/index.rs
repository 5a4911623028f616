//! A hash index in volatile memory: from the number of a row to its address.
//!
//! New-order looks rows up by equal keys only, so a hash table serves. Slots of key and address are probed one after
//! the other (Knuth, volume 3, section 6.4, algorithm L), from the multiplicative hash of the key on; at most half of
//! them are used.

use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, W};
use strandline_runtime::Heap;

sites! {
    KEY_MATCHES = 0x85c1_12a9;
}

/// 2^64 divided by the golden ratio (Knuth, section 6.4).
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes of a slot: the key plus one, and the row's address.
const SLOT_BYTES: u64 = 16;

/// An index of rows by number.
#[derive(Clone, Copy, Debug)]
pub struct Index {
    slots: Addr,
    /// The number of slots is two to this power.
    bits: u32,
}

impl Index {
    /// Allocates an index of `rows` rows.
    pub fn allocate(heap: &mut Heap, rows: u64) -> Index {
        let bits = (2 * rows).next_power_of_two().trailing_zeros();
        Index {
            slots: heap.dram(SLOT_BYTES << bits),
            bits,
        }
    }

    /// Enters rows, numbered from 0, into the zeroed index.
    pub fn fill(&self, image: &dyn Image, rows: impl Iterator<Item = Addr>) {
        for (key, row) in rows.enumerate() {
            let mut offset = (key as u64).wrapping_mul(FACTOR) >> self.shift() & self.mask();
            while image.word(Addr(self.slots.0 + offset)) != 0 {
                offset = (offset + SLOT_BYTES) & self.mask();
            }
            image.set_word(Addr(self.slots.0 + offset), key as u64 + 1);
            image.set_word(Addr(self.slots.0 + offset + 8), row.0);
        }
    }

    /// The address of row `key`, which is there.
    pub fn find<'c, C: Cpu>(&self, key: W<'c, C>) -> W<'c, C> {
        let _call = key.call(2);
        let wanted = key + 1;
        let mut offset = ((key * FACTOR) >> self.shift()) & self.mask();
        while !offset.at(self.slots.0).load().equals(wanted).branch(KEY_MATCHES) {
            offset = (offset + SLOT_BYTES) & self.mask();
        }
        offset.at(self.slots.0 + 8).load()
    }

    /// The shift that leaves a hash as an offset.
    fn shift(&self) -> u64 {
        u64::from(u64::BITS - self.bits - SLOT_BYTES.trailing_zeros())
    }

    /// The bits of an offset.
    fn mask(&self) -> u64 {
        (SLOT_BYTES << self.bits) - SLOT_BYTES
    }

    /// The addresses of all slots.
    pub fn range(&self) -> Range<u64> {
        self.slots.0..self.slots.0 + (SLOT_BYTES << self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::{CoreId, Lowering};
    use strandline_runtime::{finish, Plain};

    #[test]
    fn every_row_is_found_whatever_the_size() {
        for rows in [1, 2, 3, 20, 1000] {
            let mut heap = Heap::default();
            let index = Index::allocate(&mut heap, rows);
            let memory = heap.memory();
            index.fill(&memory, (0..rows).map(|row| Addr(64 * row)));
            let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
            for row in 0..rows {
                let found = finish(|| index.find(cpu.word(row))).unwrap();
                assert_eq!(found.bits(), 64 * row, "row {row} of {rows}");
            }
        }
    }
}
