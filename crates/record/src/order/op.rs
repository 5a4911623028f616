//! The operations of a program on persistent memory.

use crate::{At, Marker};

/// A location in persistent memory: the file's number in the upper 16 bits, the offset in the file below.
pub type PmPlace = u64;

/// Bits of a [`PmPlace`] that are the offset.
pub const OFFSET_BITS: u32 = 48;

/// Bytes of a cache line.
pub const LINE: u64 = 64;

/// One operation, in the global order of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PmOp {
    /// The thread.
    pub thread: u32,
    /// The instruction.
    pub at: At,
    /// It is another part of the previous store.
    pub rest: bool,
    /// What it is.
    pub what: What,
}

/// Kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A store, or a part of one, in an aligned word of 8 bytes.
    Store(Piece),
    /// A non-temporal store, or a part of one, in an aligned word of 8 bytes.
    StoreNt(Piece),
    /// A load of bytes in an aligned word of 8 bytes, by an instruction that is not locked. Only in recordings of several
    /// threads, and on demand ([`super::Detail`]).
    Load {
        /// The aligned word.
        word: PmPlace,
        /// Its bytes that are loaded: bit 0 is the first.
        mask: u8,
    },
    /// A store whose bytes are not recorded (more than 64 at once).
    Unknown,
    /// A flush of the line at this location; `None` if it is not persistent.
    Flush(Flush, Option<PmPlace>),
    /// An instruction that orders flushes.
    Fence(Fence),
    /// The operating system made everything in this range durable.
    Sync {
        /// The first byte.
        start: PmPlace,
        /// Bytes.
        bytes: u64,
    },
    /// The program said something.
    Marker(Marker),
    /// The program's end begins in this thread: `main` has returned, or `exit` was called.
    Exit,
}

impl What {
    /// What it stores.
    #[must_use]
    pub fn piece(self) -> Option<Piece> {
        match self {
            What::Store(piece) | What::StoreNt(piece) => Some(piece),
            _ => None,
        }
    }
}

/// Bytes that a store left in an aligned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The aligned word.
    pub word: PmPlace,
    /// Its bytes; those outside the mask are zero.
    pub bytes: [u8; 8],
    /// Which of them were stored: bit 0 is the first.
    pub mask: u8,
}

impl Fence {
    /// What the instruction is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Fence::Sfence => "sfence",
            Fence::Mfence => "mfence",
            Fence::Locked => "locked instruction",
        }
    }
}

impl Flush {
    /// What the instruction is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Flush::Clwb => "clwb",
            Flush::ClflushOpt => "clflushopt",
            Flush::Clflush => "clflush",
        }
    }
}

/// Kinds of flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flush {
    /// `clwb`.
    Clwb,
    /// `clflushopt`.
    ClflushOpt,
    /// `clflush`.
    Clflush,
}

/// Instructions that order flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fence {
    /// `sfence`.
    Sfence,
    /// `mfence`.
    Mfence,
    /// A locked instruction: emitted both before and after its own store.
    Locked,
}

impl Piece {
    /// The line.
    #[must_use]
    pub fn line(&self) -> PmPlace {
        self.word & !(LINE - 1)
    }

    /// What a word holds after this store, if it held these bytes.
    #[must_use]
    pub fn over(&self, mut bytes: [u8; 8]) -> [u8; 8] {
        for byte in (0..8).filter(|byte| self.mask >> byte & 1 == 1) {
            bytes[byte] = self.bytes[byte];
        }
        bytes
    }

    /// The bytes that a mask selects, whose lowest bit is of the byte at a location; `None` if there are none.
    #[must_use]
    pub fn only(mut self, first: PmPlace, mask: u64) -> Option<Piece> {
        for byte in 0..8 {
            let offset = (self.word + byte).wrapping_sub(first);
            if offset < 64 && mask >> offset & 1 == 0 {
                self.mask &= !(1 << byte);
            }
        }
        (self.mask != 0).then_some(self)
    }

    /// The pieces of a store at a location, sorted by address.
    pub fn of(at: PmPlace, bytes: &[u8]) -> impl Iterator<Item = Piece> + '_ {
        let first = at & !7;
        let words = (at + bytes.len() as u64).div_ceil(8) - at / 8;
        (0..words).map(move |index| {
            let word = first + 8 * index;
            let mut piece = Piece {
                word,
                bytes: [0; 8],
                mask: 0,
            };
            for byte in 0..8u64 {
                let stored = (word + byte).checked_sub(at).and_then(|i| bytes.get(i as usize));
                if let Some(stored) = stored {
                    piece.bytes[byte as usize] = *stored;
                    piece.mask |= 1 << byte;
                }
            }
            piece
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_keeps_its_bytes_of_each_piece() {
        // Twelve bytes from the fourth on; the mask has the first, the second and the last.
        let mask = 0b1000_0000_0011;
        let kept = Piece::of(4, &[9; 12]).filter_map(|piece| piece.only(4, mask));
        let masks: Vec<(PmPlace, u8)> = kept.map(|piece| (piece.word, piece.mask)).collect();
        assert_eq!(masks, [(0, 0b0011_0000), (8, 0b1000_0000)]);
        assert_eq!(Piece::of(4, &[9; 4]).find_map(|piece| piece.only(4, 0b1_0000)), None);
    }

    #[test]
    fn a_store_is_cut_at_words() {
        let pieces: Vec<Piece> = Piece::of(6, &[1, 2, 3]).collect();
        let expected = [
            (0, [0, 0, 0, 0, 0, 0, 1, 2], 0b1100_0000),
            (8, [3, 0, 0, 0, 0, 0, 0, 0], 1),
        ];
        assert_eq!(pieces, expected.map(|(word, bytes, mask)| Piece { word, bytes, mask }));
    }
}
