//! Where the words of the allocator are.

/// Offsets and bits of a chunk.
pub mod chunk {
    /// Bytes of the chunk before, if that is free.
    pub const BEFORE: u64 = 0;
    /// Its own bytes, and three bits.
    pub const SIZE: u64 = 8;
    /// The next chunk of its list.
    pub const NEXT: u64 = 16;
    /// The previous chunk of its list.
    pub const PREVIOUS: u64 = 24;

    /// The chunk before is in use.
    pub const BEFORE_IS_USED: u64 = 1;
    pub const MAPPED: u64 = 2;
    pub const OTHER_ARENA: u64 = 4;
    pub const BITS: u64 = 7;

    /// Bytes of the least chunk, of the largest in a fast bin, and of the least in a large bin.
    pub const LEAST: u64 = 0x20;
    pub const MOST_FAST: u64 = 0x80;
    pub const LEAST_LARGE: u64 = 0x400;
}

/// Offsets in an arena.
pub mod arena {
    use strandline_isa::LINE_BYTES;

    pub const HAS_FAST: u64 = 0x8;
    pub const TOP: u64 = 0x60;
    pub const LAST_REMAINDER: u64 = 0x68;
    pub const MAP: u64 = 0x860;
    pub const SYSTEM: u64 = 0x888;
    pub const BYTES: u64 = 35 * LINE_BYTES;

    /// Bins: the list of unsorted chunks, small ones, large ones.
    pub const BINS: u64 = 127;
    pub const UNSORTED: u64 = 1;

    /// The chunk that stands for the ends of a bin's list.
    pub const fn head(bin: u64) -> u64 {
        0x50 + 16 * bin
    }
}

/// Offsets in a thread's cache. Other bins than that of the table's rows are never used.
pub mod cache {
    use strandline_isa::LINE_BYTES;

    pub const COUNT: u64 = 0;
    pub const FIRST: u64 = LINE_BYTES;
    pub const BYTES: u64 = 2 * LINE_BYTES;
    /// Sizes that are cached.
    pub const SIZES: u64 = 64;
    /// What marks a chunk that is in a cache.
    pub const KEY: u64 = 0x7a3d_11c5_90e6_2b4f;
}

/// Offsets of the library's variables.
pub mod global {
    pub const INITIALIZED: u64 = 0;
    pub const CACHED_SIZES: u64 = 8;
    pub const MOST_CACHED: u64 = 16;
    pub const MOST_FAST: u64 = 24;
    pub const KEY: u64 = 32;
    pub const PERTURB: u64 = 40;
    /// The table of offsets of thread-local variables.
    pub const OFFSETS: u64 = 48;
}

/// Offsets in a thread's memory.
pub mod thread_local {
    use strandline_isa::LINE_BYTES;

    pub const CACHE: u64 = LINE_BYTES + 16;
    pub const ARENA: u64 = LINE_BYTES + 24;
    pub const ERROR: u64 = LINE_BYTES + 32;
}
