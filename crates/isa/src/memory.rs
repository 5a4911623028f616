//! The bytes of the simulated machine: visible to its cores, or left by a crash.

use crate::{Addr, Line, LineData, PM_BASE};
use std::cell::Cell;

/// Bytes that recovery code reads and repairs: simulated memory, a crash image, a mapped pool.
pub trait Image {
    /// The 64-bit little-endian word at `addr`, a multiple of 8.
    fn word(&self, addr: Addr) -> u64;
    /// Replaces the word at `addr`, a multiple of 8.
    fn set_word(&self, addr: Addr, value: u64);
}

/// Volatile and persistent memory as arrays of 64-bit words.
///
/// An address outside both is a bug of the simulated program and panics.
pub struct Memory {
    dram: Box<[Cell<u64>]>,
    pm: Box<[Cell<u64>]>,
}

fn words(bytes: u64) -> Box<[Cell<u64>]> {
    let lines = bytes.div_ceil(64).max(1);
    (0..lines * 8).map(|_| Cell::new(0)).collect()
}

/// The compiler copies these cells in blocks, and those of `[Cell<u64>]::clone` one by one. Crash tests copy the whole
/// memory at every crash.
fn copied(words: &[Cell<u64>]) -> Box<[Cell<u64>]> {
    words.iter().map(|word| Cell::new(word.get())).collect()
}

impl Clone for Memory {
    fn clone(&self) -> Memory {
        Memory {
            dram: copied(&self.dram),
            pm: copied(&self.pm),
        }
    }
}

impl Memory {
    /// Zeroed memory of so many bytes, rounded up to lines.
    #[must_use]
    pub fn new(dram_bytes: u64, pm_bytes: u64) -> Memory {
        Memory {
            dram: words(dram_bytes),
            pm: words(pm_bytes),
        }
    }

    #[inline(always)]
    fn cell(&self, addr: Addr) -> &Cell<u64> {
        debug_assert_eq!(addr.0 % 8, 0, "{addr} is not a multiple of 8");
        if addr.0 >= PM_BASE {
            &self.pm[((addr.0 - PM_BASE) / 8) as usize]
        } else {
            &self.dram[(addr.0 / 8) as usize]
        }
    }

    /// Reads `size` (1, 2, 4 or 8) bytes at `addr`, a multiple of `size`.
    #[inline(always)]
    #[must_use]
    pub fn read(&self, addr: Addr, size: u8) -> u64 {
        let word = self.cell(Addr(addr.0 & !7)).get();
        if size == 8 {
            return word;
        }
        (word >> ((addr.0 & 7) * 8)) & ((1 << (u32::from(size) * 8)) - 1)
    }

    /// Writes the low `size` (1, 2, 4 or 8) bytes of `value` at `addr`, a multiple of `size`.
    #[inline(always)]
    pub fn write(&self, addr: Addr, size: u8, value: u64) {
        let cell = self.cell(Addr(addr.0 & !7));
        if size == 8 {
            return cell.set(value);
        }
        let shift = (addr.0 & 7) * 8;
        let mask = ((1u64 << (u32::from(size) * 8)) - 1) << shift;
        cell.set((cell.get() & !mask) | ((value << shift) & mask));
    }

    /// The words of `line`.
    #[inline(always)]
    fn cells(&self, line: Line) -> &[Cell<u64>; 8] {
        let base = line.addr().0;
        let (words, from) = if base >= PM_BASE {
            (&self.pm, base - PM_BASE)
        } else {
            (&self.dram, base)
        };
        words[(from / 8) as usize..].first_chunk().expect("a whole line")
    }

    /// The bytes of `line`.
    #[inline]
    #[must_use]
    pub fn line(&self, line: Line) -> LineData {
        self.cells(line).each_ref().map(Cell::get)
    }

    /// Replaces the bytes of `line`.
    #[inline]
    pub fn set_line(&self, line: Line, data: &LineData) {
        for (cell, word) in self.cells(line).iter().zip(data) {
            cell.set(*word);
        }
    }

    /// The words of persistent memory, from [`PM_BASE`] on.
    #[must_use]
    pub fn pm_words(&self) -> &[Cell<u64>] {
        &self.pm
    }

    /// The memory after a power failure if all persistent writes are durable: persistent memory is kept, volatile
    /// memory is zeroed.
    #[must_use]
    pub fn persistent_half(&self) -> Memory {
        Memory {
            dram: words(self.dram.len() as u64 * 8),
            pm: copied(&self.pm),
        }
    }

    /// Bytes of volatile memory.
    #[must_use]
    pub fn dram_bytes(&self) -> u64 {
        self.dram.len() as u64 * 8
    }

    /// Bytes of persistent memory.
    #[must_use]
    pub fn pm_bytes(&self) -> u64 {
        self.pm.len() as u64 * 8
    }
}

impl Image for Memory {
    fn word(&self, addr: Addr) -> u64 {
        self.read(addr, 8)
    }

    fn set_word(&self, addr: Addr, value: u64) {
        self.write(addr, 8, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_writes_leave_their_neighbours() {
        let m = Memory::new(64, 64);
        let a = Addr(PM_BASE + 8);
        m.write(a, 8, 0x1111_2222_3333_4444);
        m.write(Addr(a.0 + 4), 4, 0xaaaa_bbbb);
        m.write(Addr(a.0 + 1), 1, 0xcc);
        assert_eq!(m.read(a, 8), 0xaaaa_bbbb_3333_cc44);
        assert_eq!(m.read(Addr(a.0 + 4), 2), 0xbbbb);
    }

    #[test]
    fn a_line_is_eight_words_from_its_base() {
        let m = Memory::new(0, 128);
        m.set_word(Addr(PM_BASE + 64 + 16), 7);
        assert_eq!(m.line(Addr(PM_BASE + 70).line()), [0, 0, 7, 0, 0, 0, 0, 0]);
    }
}
