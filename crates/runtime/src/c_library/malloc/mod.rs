//! `malloc` and `free` for the rows of a table: a cache for each thread, fast bins, the unsorted list, small and large
//! bins, and the top of the heap.
//!
//! A row of persistent memory is aligned to lines, each of which ends in a trailer, and what its free lines hold is
//! recovery's. So headers and links lie in DRAM: each row's chunk is as far from the next as the rows are, and the header
//! stands before the place that stands for the row. A crash loses all of it; free rows are found again from the reachable
//! ones.
//!
//! Simplified: one arena for all threads, and one for each table, so that a cache's other bins stay empty; large bins
//! without their second list; a heap that the kernel does not let grow. A thread's cache holds at most seven rows, as by
//! default, but not so many that half of the free rows could be in caches (`glibc.malloc.tcache_count`).

mod bins;
mod call;
mod cells;
mod give;
mod obtain;

use super::frame;
use crate::{Heap, Rows};
use call::Call;
use cells::{arena, cache, chunk, global, thread_local};
use std::ops::Range;
use strandline_isa::{sites, Addr, Cpu, Image, LINE_BYTES, W};

sites! {
    MALLOC_IS_INITIALIZED = 0x71c1_1893;
    SIZE_IS_NEGATIVE = 0xcac7_0a90;
    SIZE_IS_LEAST = 0x3e5e_a613;
    MALLOC_HAS_ONE_THREAD = 0x1f54_3856;
    THREAD_HAS_NO_ARENA = 0xfc6c_9e5d;
    ARENA_IS_FREE = 0x337d_b4a3;
    MALLOC_HAS_FAILED = 0xc5b7_c0c4;
    NOBODY_WAITS_FOR_ARENA = 0x7a9e_98a0;
    CHUNK_IS_NOT_MAPPED = 0x201b_45a3;
    CHUNK_IS_OF_MAIN_ARENA = 0x6ad5_0988;
    ARENA_IS_THAT_OF_CHUNK = 0x0eaf_0fd9;
    FREED_IS_NOTHING = 0xac6a_d182;
    FREED_IS_NOT_MAPPED = 0xa4ae_06c2;
    FREE_HAS_NO_CACHE = 0x8dc4_d937;
    FREED_IS_OF_MAIN_ARENA = 0x105c_7018;
}

/// Bytes of a chunk's header before the row.
const HEADER: u64 = 16;

/// The default of `glibc.malloc.tcache_count`.
const MOST_CACHED: u64 = 7;

/// Bytes of a thread's stack, variables and cache.
const THREAD_BYTES: u64 = frame::BYTES + cache::BYTES;

/// An allocator of the rows of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Malloc {
    /// The library's variables, then the arena.
    globals: Addr,
    /// Each thread's stack, variables and cache.
    threads: Addr,
    count: u64,
    rows: Rows,
    /// The place that stands for the first row.
    first: Addr,
    /// Bytes of a chunk.
    chunk: u64,
    annotated: bool,
}

impl Malloc {
    /// Allocates the memory of an allocator. All rows are allocated until [`Malloc::rebuild`].
    pub fn allocate(heap: &mut Heap, rows: Rows, threads: usize, annotated: bool) -> Malloc {
        let chunk = rows.stride();
        let globals = heap.dram(LINE_BYTES + arena::BYTES);
        let threads_at = heap.dram(threads as u64 * THREAD_BYTES);
        // A header before the first row, and room for the last chunk of the heap.
        let chunks = heap.dram_of_which(
            rows.rows() * chunk + 2 * LINE_BYTES,
            rows.rows() * chunk.min(strandline_isa::Memory::BLOCK_BYTES),
        );
        Malloc {
            globals,
            threads: threads_at,
            count: threads as u64,
            rows,
            first: Addr(chunks.0 + LINE_BYTES),
            chunk,
            annotated,
        }
    }

    /// The addresses of its variables, without headers.
    pub fn range(&self) -> Range<u64> {
        self.globals.0..self.threads.0 + self.count * THREAD_BYTES
    }

    fn arena(&self) -> Addr {
        Addr(self.globals.0 + LINE_BYTES)
    }

    fn own(&self, thread: u64) -> Addr {
        debug_assert!(thread < self.count, "thread {thread} of {}", self.count);
        Addr(self.threads.0 + thread * THREAD_BYTES)
    }

    /// The distance from a row to the place that stands for it.
    fn distance(&self) -> u64 {
        self.first.0.wrapping_sub(self.rows.range().start)
    }

    /// The place that stands for a row. In the program, they are one.
    fn place<'c, C: Cpu>(&self, row: W<'c, C>) -> W<'c, C> {
        row.at(self.distance())
    }

    /// A word beside a row's links, of a free row or of one that its owner has not written yet.
    pub fn beside<'c, C: Cpu>(&self, row: W<'c, C>) -> W<'c, C> {
        self.place(row).at(HEADER)
    }

    /// `malloc`: a row, or nothing if none is free.
    pub fn malloc<'c, C: Cpu>(&self, cpu: &'c C, thread: usize) -> Option<W<'c, C>> {
        let _library = cpu.library();
        let mut call = Call::begin(cpu, self, thread as u64);
        call.stack.push(3);
        call.stack.grow();
        call.global(global::INITIALIZED).is(1).branch(MALLOC_IS_INITIALIZED);
        let request = cpu.word(self.chunk - 8);
        request.is(0).branch(SIZE_IS_NEGATIVE);
        let padded = request + 0x17;
        padded.below(chunk::LEAST).branch(SIZE_IS_LEAST);
        let index = ((padded & !0xf) - 0x11) >> 4;
        let place = match call.cached(index) {
            Some(place) => Some(place),
            None => self.malloc_from_arena(&mut call, request),
        };
        call.stack.shrink();
        call.stack.pop(3);
        call.stack.ret();
        place.map(|place| place.at(self.distance().wrapping_neg()))
    }

    fn malloc_from_arena<'c, C: Cpu>(&self, call: &mut Call<'_, 'c, C>, request: W<'c, C>) -> Option<W<'c, C>> {
        let cpu = call.cpu;
        call.stack.single().is(1).branch(MALLOC_HAS_ONE_THREAD);
        let arena = call.own(thread_local::ARENA);
        arena.is(0).branch(THREAD_HAS_NO_ARENA);
        call.lock(arena, ARENA_IS_FREE);
        let place = call.obtain(arena, request);
        let failed = place.unwrap_or(cpu.word(0)).is(0).branch(MALLOC_HAS_FAILED);
        call.unlock(arena, NOBODY_WAITS_FOR_ARENA);
        if failed {
            return None;
        }
        let size = place?.at(chunk::SIZE.wrapping_sub(HEADER)).load();
        (size & chunk::MAPPED).is(0).branch(CHUNK_IS_NOT_MAPPED);
        (size & chunk::OTHER_ARENA).is(0).branch(CHUNK_IS_OF_MAIN_ARENA);
        arena.is(self.arena().0).branch(ARENA_IS_THAT_OF_CHUNK);
        place
    }

    /// `free` of a row.
    pub fn free<'c, C: Cpu>(&self, cpu: &'c C, thread: usize, row: W<'c, C>) {
        let _library = cpu.library();
        let mut call = Call::begin(cpu, self, thread as u64);
        let place = self.place(row);
        place.is(0).branch(FREED_IS_NOTHING);
        call.stack.push(2);
        let freed = place - HEADER;
        call.stack.grow();
        let error = call.own(thread_local::ERROR);
        let size = freed.at(chunk::SIZE).load();
        (size & chunk::MAPPED).is(0).branch(FREED_IS_NOT_MAPPED);
        call.own(thread_local::CACHE).is(0).branch(FREE_HAS_NO_CACHE);
        (size & chunk::OTHER_ARENA).is(0).branch(FREED_IS_OF_MAIN_ARENA);
        // The address of the main arena takes an instruction.
        let arena = cpu.word(self.arena().0) + 0;
        call.stack.push(1);
        call.give(arena, freed);
        call.stack.ret();
        call.set_own(thread_local::ERROR, error);
        call.stack.shrink();
        call.stack.pop(2);
        call.stack.ret();
    }

    /// Lays out the heap as if the `reachable` rows (by number) had been allocated in order, and those between them freed:
    /// the rest is its top.
    pub fn rebuild(&self, image: &dyn Image, reachable: impl Fn(u64) -> bool) {
        for word in self.range().step_by(8) {
            image.set_word(Addr(word), 0);
        }
        let rows = self.rows.rows();
        let used = (0..rows).rev().find(|row| reachable(*row)).map_or(0, |row| row + 1);
        let free = rows - (0..used).filter(|row| reachable(*row)).count() as u64;
        self.write_variables(image, free);
        let mut unsorted = Vec::new();
        let (mut row, mut before) = (0, chunk::BEFORE_IS_USED);
        while row < used {
            let at = self.chunk_of(row);
            if reachable(row) {
                image.set_word(Addr(at + chunk::SIZE), self.chunk | before);
                (row, before) = (row + 1, chunk::BEFORE_IS_USED);
                continue;
            }
            let end = (row..used).find(|row| reachable(*row)).unwrap_or(used);
            let bytes = (end - row) * self.chunk;
            image.set_word(Addr(at + chunk::SIZE), bytes | chunk::BEFORE_IS_USED);
            image.set_word(Addr(at + bytes), bytes);
            unsorted.push(at);
            (row, before) = (end, 0);
        }
        let top = self.chunk_of(used);
        let bytes = (rows - used) * self.chunk + LINE_BYTES;
        image.set_word(Addr(top + chunk::SIZE), bytes | chunk::BEFORE_IS_USED);
        image.set_word(Addr(self.arena().0 + arena::TOP), top);
        self.link_unsorted(image, &unsorted);
    }

    fn chunk_of(&self, row: u64) -> u64 {
        self.first.0 + row * self.chunk - HEADER
    }

    fn write_variables(&self, image: &dyn Image, free: u64) {
        let arena = self.arena().0;
        let most = MOST_CACHED.min(free / (2 * self.count));
        for (offset, value) in [
            (global::INITIALIZED, 1),
            (global::CACHED_SIZES, cache::SIZES),
            (global::MOST_CACHED, most),
            (global::MOST_FAST, chunk::MOST_FAST),
            (global::KEY, cache::KEY),
        ] {
            image.set_word(Addr(self.globals.0 + offset), value);
        }
        for bin in 1..arena::BINS {
            let head = arena + arena::head(bin);
            image.set_word(Addr(head + chunk::NEXT), head);
            image.set_word(Addr(head + chunk::PREVIOUS), head);
        }
        image.set_word(
            Addr(arena + arena::SYSTEM),
            (self.rows.rows() + 1) * self.chunk + LINE_BYTES,
        );
        for thread in 0..self.count {
            let own = self.own(thread).0;
            image.set_word(Addr(own + thread_local::ARENA), arena);
            image.set_word(Addr(own + thread_local::CACHE), own + frame::BYTES);
        }
    }

    /// Links these chunks, so that the first is searched first.
    fn link_unsorted(&self, image: &dyn Image, chunks: &[u64]) {
        let head = self.arena().0 + arena::head(arena::UNSORTED);
        let ring: Vec<u64> = std::iter::once(head).chain(chunks.iter().copied()).collect();
        for (i, at) in ring.iter().enumerate() {
            let later = ring[(i + 1) % ring.len()];
            image.set_word(Addr(at + chunk::PREVIOUS), later);
            image.set_word(Addr(later + chunk::NEXT), *at);
        }
    }
}
