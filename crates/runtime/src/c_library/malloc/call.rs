//! A call of the allocator by a thread, and the thread's cache.

use super::cells::{cache, chunk, global, thread_local};
use super::{Malloc, HEADER};
use crate::c_library::frame::Stack;
use crate::lock::futex;
use strandline_isa::{sites, Addr, Cpu, Site, W};

sites! {
    HAS_NO_CACHE = 0xeac1_c983;
    SIZE_IS_CACHED = 0x06f9_c594;
    CACHE_IS_EMPTY = 0xcf0b_c7e1;
    CACHED_IS_ALIGNED = 0x9b1b_54fc;
}

/// A call by a thread.
pub struct Call<'m, 'c, C: Cpu> {
    pub cpu: &'c C,
    pub stack: Stack<'c, C>,
    malloc: &'m Malloc,
    thread: u64,
}

impl<'m, 'c, C: Cpu> Call<'m, 'c, C> {
    pub fn begin(cpu: &'c C, malloc: &'m Malloc, thread: u64) -> Self {
        let own = cpu.word(malloc.own(thread).0);
        Call {
            cpu,
            stack: Stack::called(cpu, own),
            malloc,
            thread,
        }
    }

    /// A variable of the library.
    pub fn global(&self, offset: u64) -> W<'c, C> {
        self.cpu.word(self.malloc.globals.0).at(offset).load()
    }

    /// A variable of the thread, whose offset is in a table.
    pub fn own(&self, offset: u64) -> W<'c, C> {
        let base = self.global(global::OFFSETS);
        self.at_own(base, offset).load()
    }

    /// Sets a variable of the thread, whose offset is known.
    pub fn set_own(&self, offset: u64, value: W<'c, C>) {
        self.at_own(self.cpu.word(0), offset).store(value);
    }

    fn at_own(&self, base: W<'c, C>, offset: u64) -> W<'c, C> {
        base.at(self.malloc.own(self.thread).0 + offset)
    }

    /// The address of the arena.
    pub fn main_arena(&self) -> Addr {
        self.malloc.arena()
    }

    pub fn lock(&self, arena: W<'c, C>, is_free: Site) {
        futex::lock(self.cpu, arena, self.stack.own(), is_free, self.malloc.annotated);
    }

    pub fn unlock(&self, arena: W<'c, C>, nobody_waits: Site) {
        futex::leave(self.cpu, arena, self.stack.own(), nobody_waits, self.malloc.annotated);
    }

    /// Whether the program annotates its synchronisation.
    pub fn is_annotated(&self) -> bool {
        self.malloc.annotated
    }

    /// The first place of the thread's cache, if there is one.
    pub fn cached(&self, index: W<'c, C>) -> Option<W<'c, C>> {
        let cache = self.own(thread_local::CACHE);
        if cache.is(0).branch(HAS_NO_CACHE) || !index.less(self.global(global::CACHED_SIZES)).branch(SIZE_IS_CACHED) {
            return None;
        }
        let count = cache.at(cache::COUNT).load_sized(2);
        if count.is(0).branch(CACHE_IS_EMPTY) {
            return None;
        }
        Some(self.pop_cached(cache, count, index))
    }

    pub fn pop_cached(&self, cache: W<'c, C>, count: W<'c, C>, index: W<'c, C>) -> W<'c, C> {
        let _entry = index + HEADER;
        let place = cache.at(cache::FIRST).load();
        (place & 0xf).is(0).branch(CACHED_IS_ALIGNED);
        let next = (place >> 12) ^ place.load();
        cache.at(cache::FIRST).store(next);
        cache.at(cache::COUNT).store_sized(count - 1, 2);
        place.at(8).store(self.cpu.word(0));
        place
    }

    /// Puts a chunk into a cache of `count`, and returns how many there are then.
    pub fn cache(&self, cache: W<'c, C>, count: W<'c, C>, freed: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let place = freed + HEADER;
        let count = count + 1;
        freed.at(chunk::PREVIOUS).store(key);
        let next = (place >> 12) ^ cache.at(cache::FIRST).load();
        freed.at(chunk::NEXT).store(next);
        cache.at(cache::FIRST).store(place);
        cache.at(cache::COUNT).store_sized(count, 2);
        count
    }
}
