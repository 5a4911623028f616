//! Addresses, cache lines and cores.

use std::fmt;

/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 64;

/// The first address of persistent memory; volatile memory (DRAM) lies below.
pub const PM_BASE: u64 = 1 << 40;

/// A byte address of the simulated machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u64);

/// A cache line: an address divided by [`LINE_BYTES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(pub u64);

/// The bytes of a cache line, as eight little-endian words.
pub type LineData = [u64; 8];

/// A core of the simulated machine, and the hardware thread on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoreId(pub u16);

impl Addr {
    /// The line that holds this byte.
    #[inline(always)]
    #[must_use]
    pub fn line(self) -> Line {
        Line(self.0 / LINE_BYTES)
    }

    /// Whether the address lies in persistent memory.
    #[inline(always)]
    #[must_use]
    pub fn is_persistent(self) -> bool {
        self.0 >= PM_BASE
    }
}

impl Line {
    /// The line's first byte.
    #[inline(always)]
    #[must_use]
    pub fn addr(self) -> Addr {
        Addr(self.0 * LINE_BYTES)
    }

    /// Whether the line lies in persistent memory.
    #[inline(always)]
    #[must_use]
    pub fn is_persistent(self) -> bool {
        self.0 >= PM_BASE / LINE_BYTES
    }
}

impl CoreId {
    /// The core's index in tables with one entry per core.
    #[inline(always)]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_persistent() {
            write!(f, "pm+{:#x}", self.0 - PM_BASE)
        } else {
            write!(f, "dram+{:#x}", self.0)
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr().fmt(f)
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "core {}", self.0)
    }
}
