//! The bytes of the simulated machine: visible to its cores, or left by a crash.

use crate::sparse::{Cells, Sparse, BLOCK};
use crate::{Addr, Line, LineData, LINE_BYTES, PM_BASE};
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Bytes that recovery code reads and repairs: simulated memory, a crash image, a mapped pool.
pub trait Image {
    /// The 64-bit little-endian word at `addr`, a multiple of 8.
    fn word(&self, addr: Addr) -> u64;
    /// Replaces the word at `addr`, a multiple of 8.
    fn set_word(&self, addr: Addr, value: u64);
    /// The dirty-shutdown bit: reserve power did not last until all that was to be saved was on the media (CXL, Global Persistent
    /// Flush, whose count software reads as it starts).
    fn was_dirty(&self) -> bool {
        false
    }
}

/// Volatile and persistent memory as arrays of lines. Host memory is taken for what is touched.
///
/// An address outside both is a bug of the simulated program and panics.
#[derive(Clone)]
pub struct Memory {
    dram: Sparse,
    pm: Sparse,
}

/// Memory with which several others begin. Each of them takes host memory for what it touches alone.
#[derive(Clone)]
pub struct SharedMemory {
    dram: Arc<Mutex<Sparse>>,
    pm: Arc<Mutex<Sparse>>,
}

impl SharedMemory {
    /// Memory that begins with these bytes.
    #[must_use]
    pub fn memory(&self) -> Memory {
        Memory {
            dram: Sparse::over(&self.dram),
            pm: Sparse::over(&self.pm),
        }
    }
}

/// The number of lines that hold `bytes` bytes, at least one.
fn lines(bytes: u64) -> usize {
    bytes.div_ceil(LINE_BYTES).max(1) as usize
}

impl Memory {
    /// Bytes of host memory that the first access to a line takes.
    pub const BLOCK_BYTES: u64 = BLOCK as u64 * LINE_BYTES;

    /// Zeroed memory of `dram_bytes` and `pm_bytes` bytes, rounded up to lines.
    #[must_use]
    pub fn new(dram_bytes: u64, pm_bytes: u64) -> Memory {
        Memory {
            dram: Sparse::new(Line(0), lines(dram_bytes)),
            pm: Sparse::new(Addr(PM_BASE).line(), lines(pm_bytes)),
        }
    }

    /// Replaces the lines of persistent memory at the addresses `range`. Those that nothing has touched yet take no host
    /// memory, and `filler` is asked for them when they are touched.
    pub fn fill(&self, range: Range<u64>, filler: impl Fn(Line) -> LineData + Send + Sync + 'static) {
        self.pm.fill(range, Arc::new(filler));
    }

    /// The words of `line`.
    #[inline(always)]
    fn cells(&self, line: Line) -> &Cells {
        if line.is_persistent() {
            self.pm.line((line.0 - Addr(PM_BASE).line().0) as usize)
        } else {
            self.dram.line(line.0 as usize)
        }
    }

    /// The word at `addr`, if that is a multiple of 8 in memory.
    #[must_use]
    pub fn find(&self, addr: Addr) -> Option<&Cell<u64>> {
        let is_inside = match addr.is_persistent() {
            true => addr.0 - PM_BASE < self.pm_bytes(),
            false => addr.0 < self.dram_bytes(),
        };
        (is_inside && addr.0 % 8 == 0).then(|| self.cell(addr))
    }

    /// As [`Memory::find`], if the word's line has been touched before.
    #[inline(always)]
    #[must_use]
    pub fn find_touched(&self, addr: Addr) -> Option<&Cell<u64>> {
        let word = (addr.0 / 8 % 8) as usize;
        if addr.0 % 8 != 0 {
            None
        } else if addr.is_persistent() {
            let index = addr.line().0 - Addr(PM_BASE).line().0;
            Some(&self.pm.find_touched(index as usize)?[word])
        } else {
            Some(&self.dram.find_touched(addr.line().0 as usize)?[word])
        }
    }

    /// Whether any of the bytes `range` of one memory has been touched, or given by [`Memory::fill`]; to the nearest
    /// [`Memory::BLOCK_BYTES`].
    #[must_use]
    pub fn has_data(&self, range: Range<u64>) -> bool {
        let half = if range.start >= PM_BASE { &self.pm } else { &self.dram };
        let base = if range.start >= PM_BASE { PM_BASE } else { 0 };
        let index = |addr: u64| ((addr - base) / LINE_BYTES) as usize;
        half.has_data(index(range.start)..index(range.end))
    }

    #[inline(always)]
    fn cell(&self, addr: Addr) -> &Cell<u64> {
        debug_assert_eq!(addr.0 % 8, 0, "{addr} is not a multiple of 8");
        &self.cells(addr.line())[(addr.0 / 8 % 8) as usize]
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

    /// A copy of the words of persistent memory, from [`PM_BASE`] on.
    #[must_use]
    pub fn pm_words(&self) -> Vec<Cell<u64>> {
        let memory = self.pm.clone();
        (0..memory.len()).flat_map(|line| memory.line(line).clone()).collect()
    }

    /// Makes it what several others begin with.
    #[must_use]
    pub fn shared(self) -> SharedMemory {
        SharedMemory {
            dram: Arc::new(Mutex::new(self.dram)),
            pm: Arc::new(Mutex::new(self.pm)),
        }
    }

    /// Bytes of volatile and persistent memory that take host memory, without what it shares with others.
    #[must_use]
    pub fn touched_bytes(&self) -> u64 {
        (self.dram.touched() + self.pm.touched()) as u64 * LINE_BYTES
    }

    /// Bytes of the host that it takes, without what it shares with others.
    #[must_use]
    pub fn host_bytes(&self) -> u64 {
        self.touched_bytes() + self.dram.places_bytes() + self.pm.places_bytes()
    }

    /// The memory after a power failure if all persistent writes are durable: persistent memory is kept, volatile
    /// memory is zeroed.
    #[must_use]
    pub fn persistent_half(&self) -> Memory {
        Memory {
            dram: self.dram.zeroed(),
            pm: self.pm.clone(),
        }
    }

    /// Adds `bytes` bytes of zeroed volatile memory, rounded up to lines: their first address.
    pub fn extend_dram(&mut self, bytes: u64) -> Addr {
        let first = self.dram_bytes();
        self.dram.extend(lines(bytes));
        Addr(first)
    }

    /// Bytes of volatile memory.
    #[must_use]
    pub fn dram_bytes(&self) -> u64 {
        self.dram.len() as u64 * LINE_BYTES
    }

    /// Bytes of persistent memory.
    #[must_use]
    pub fn pm_bytes(&self) -> u64 {
        self.pm.len() as u64 * LINE_BYTES
    }
}

impl Image for Memory {
    #[inline]
    fn word(&self, addr: Addr) -> u64 {
        self.read(addr, 8)
    }

    #[inline]
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
    fn data_is_what_was_touched_or_will_be_filled() {
        let m = Memory::new(1 << 16, 1 << 16);
        assert!(!m.has_data(0..4096) && !m.has_data(PM_BASE..PM_BASE + (1 << 16)));
        m.set_word(Addr(PM_BASE + 4096), 0);
        assert!(m.has_data(PM_BASE + 4096..PM_BASE + 8192));
        assert!(!m.has_data(PM_BASE..PM_BASE + 4096) && !m.has_data(4096..8192));
        m.fill(PM_BASE + 12288..PM_BASE + 12352, |_| [0; 8]);
        assert!(m.has_data(PM_BASE + 12288..PM_BASE + 16384));
        assert!(!m.has_data(PM_BASE + 8192..PM_BASE + 12288));
    }

    /// Twenty lines from the second on hold their number; the first and the last two blocks lie outside.
    fn filled() -> Memory {
        let memory = Memory::new(0, 33 * 64);
        memory.set_word(Addr(PM_BASE + 128), 9);
        memory.set_word(Addr(PM_BASE), 5);
        memory.fill(PM_BASE + 64..PM_BASE + 21 * 64, |line| {
            [line.0 - PM_BASE / 64, 0, 0, 0, 0, 0, 0, 1]
        });
        memory
    }

    #[test]
    fn lines_are_filled_whether_touched_before_or_after() {
        let memory = filled();
        for i in 0..33 {
            let expected = match i {
                0 => [5, 0, 0, 0, 0, 0, 0, 0],
                1..21 => [i, 0, 0, 0, 0, 0, 0, 1],
                _ => [0; 8],
            };
            assert_eq!(memory.line(Line(PM_BASE / 64 + i)), expected, "line {i}");
        }
    }

    #[test]
    fn host_memory_is_taken_for_touched_blocks_alone() {
        let memory = filled();
        assert_eq!(memory.touched_bytes(), 8 * 64);
        assert_eq!(memory.word(Addr(PM_BASE + 16 * 64)), 16);
        assert_eq!(memory.touched_bytes(), 16 * 64);
        assert_eq!(memory.clone().touched_bytes(), 16 * 64);
    }

    #[test]
    fn a_copy_has_the_same_bytes_and_its_own_later_ones() {
        let memory = filled();
        memory.set_word(Addr(PM_BASE + 32 * 64), 3);
        let (copy, half) = (memory.clone(), memory.persistent_half());
        memory.set_word(Addr(PM_BASE + 64), 8);
        memory.set_word(Addr(PM_BASE + 12 * 64), 8);
        for other in [copy, half] {
            let words = [64, 12 * 64, 32 * 64].map(|at| other.word(Addr(PM_BASE + at)));
            assert_eq!(words, [1, 12, 3]);
        }
    }

    #[test]
    fn memory_over_another_has_its_bytes_and_takes_what_it_touches() {
        let below = filled();
        below.set_word(Addr(PM_BASE + 32 * 64), 3);
        let below = below.shared().memory();
        below.set_word(Addr(PM_BASE + 2 * 64), 4);
        let shared = below.shared();
        let (first, mut second, third) = (shared.memory(), shared.memory(), shared.memory());
        assert_eq!(first.touched_bytes(), 0);
        let expected = |i: u64| match i {
            0 => 5,
            2 => 4,
            1..21 => i,
            32 => 3,
            _ => 0,
        };
        for i in 0..33 {
            let at = Addr(PM_BASE + i * 64);
            assert_eq!(third.has_data(at.0..at.0 + 64), i < 21 || i == 32, "line {i}");
            first.set_word(at, 100 + i);
            assert_eq!(second.word(at), expected(i), "line {i}");
            assert_eq!((first.word(at), shared.memory().word(at)), (100 + i, expected(i)));
        }
        second.fill(PM_BASE + 64..PM_BASE + 128, |_| [7; 8]);
        let copies = [second.clone(), second.persistent_half(), shared.memory()];
        let words = copies.map(|copy| [64, 128].map(|at| copy.word(Addr(PM_BASE + at))));
        assert_eq!(words, [[7, 4], [7, 4], [1, 4]]);
        let more = second.extend_dram(64 * 64);
        assert!(!second.has_data(more.0..more.0 + 64 * 64));
        assert_eq!(second.word(Addr(more.0 + 63 * 64)), 0);
    }

    #[test]
    fn more_volatile_memory_is_zeroed_and_leaves_the_rest() {
        let mut memory = Memory::new(9 * 64, 64);
        memory.set_word(Addr(64), 7);
        let first = memory.extend_dram(130);
        assert_eq!((first, memory.dram_bytes()), (Addr(9 * 64), 12 * 64));
        let words = [64, 9 * 64, 12 * 64 - 8].map(|at| memory.word(Addr(at)));
        assert_eq!(words, [7, 0, 0]);
    }

    #[test]
    #[should_panic]
    fn past_the_end_is_nothing() {
        let _ = Memory::new(0, 64 * 64).word(Addr(PM_BASE + 64 * 64));
    }

    #[test]
    fn a_line_is_eight_words_from_its_base() {
        let m = Memory::new(0, 128);
        m.set_word(Addr(PM_BASE + 64 + 16), 7);
        assert_eq!(m.line(Addr(PM_BASE + 70).line()), [0, 0, 7, 0, 0, 0, 0, 0]);
    }
}
