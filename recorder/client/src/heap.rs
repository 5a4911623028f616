//! The arena of the heap library (`recorder/heap`), which stands for persistent memory.

use std::ops::Range;

/// The name of its file.
pub const NAME: &str = "heap";

/// The library knows these, too.
const ARENA: Range<u64> = 0x2000_0000_0000..0x2000_0000_0000 + (1 << 36);

/// The offset of this mapping in the arena, if it is a part of it.
#[must_use]
pub fn offset(range: &Range<u64>) -> Option<u64> {
    (ARENA.contains(&range.start) && range.end <= ARENA.end).then(|| range.start - ARENA.start)
}
