//! The number of a core's strand buffers, and of their entries.

use super::ENTRY_BYTES;
use strandline_kernel::{Param, Params};

/// `--set design.buffers=N`.
pub const BUFFERS: Param = Param {
    name: "buffers",
    default: 4,
    min: 1,
    max: 64,
    help: "strand buffers of a core",
    source: "StrandWeaver VI-A",
    words: &[],
};

/// `--set design.entries=N`.
pub const ENTRIES: Param = Param {
    name: "entries",
    default: 4,
    min: 1,
    max: 256,
    help: "entries of a strand buffer",
    source: "StrandWeaver VI-A",
    words: &[],
};

/// The number of a core's strand buffers, and of their entries.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Strand buffers.
    pub buffers: usize,
    /// Entries of each.
    pub entries: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            buffers: BUFFERS.default as usize,
            entries: ENTRIES.default as usize,
        }
    }
}

impl Shape {
    /// The shape that the user has set.
    #[must_use]
    pub fn of(params: &Params) -> Shape {
        Shape {
            buffers: params.get(BUFFERS.name) as usize,
            entries: params.get(ENTRIES.name) as usize,
        }
    }

    /// Bytes of the entries: 144 for four buffers of four (section VI-A).
    #[must_use]
    pub fn storage_bytes(self) -> u64 {
        (self.buffers * self.entries) as u64 * ENTRY_BYTES
    }

    /// Bits that an entry of a write-back or snoop buffer needs to hold a tail index of every strand buffer.
    #[must_use]
    pub fn tail_bits(self) -> u64 {
        self.buffers as u64 * u64::from(self.entries.next_power_of_two().ilog2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_that_of_section_vi_a() {
        // StrandWeaver VI-A: 144 bytes for four buffers of four entries, 8 bits of tail indices.
        assert_eq!(
            (Shape::default().storage_bytes(), Shape::default().tail_bits()),
            (144, 8)
        );
    }
}
