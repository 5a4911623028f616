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
    pub async fn begin(cpu: &'c C, malloc: &'m Malloc, thread: u64) -> Self {
        let own = cpu.word(malloc.own(thread).0);
        Call {
            cpu,
            stack: Stack::called(cpu, own).await,
            malloc,
            thread,
        }
    }

    /// A variable of the library.
    pub async fn global(&self, offset: u64) -> W<'c, C> {
        self.cpu.word(self.malloc.globals.0).at(offset).load().await
    }

    /// A variable of the thread, whose offset is in a table.
    pub async fn own(&self, offset: u64) -> W<'c, C> {
        let base = self.global(global::OFFSETS).await;
        self.at_own(base, offset).load().await
    }

    /// Sets a variable of the thread, whose offset is known.
    pub async fn set_own(&self, offset: u64, value: W<'c, C>) {
        self.at_own(self.cpu.word(0), offset).store(value).await;
    }

    fn at_own(&self, base: W<'c, C>, offset: u64) -> W<'c, C> {
        base.at(self.malloc.own(self.thread).0 + offset)
    }

    /// The address of the arena.
    pub fn main_arena(&self) -> Addr {
        self.malloc.arena()
    }

    pub async fn lock(&self, arena: W<'c, C>, is_free: Site) {
        futex::lock(self.cpu, arena, self.stack.own(), is_free, self.malloc.annotated).await;
    }

    pub async fn unlock(&self, arena: W<'c, C>, nobody_waits: Site) {
        futex::leave(self.cpu, arena, self.stack.own(), nobody_waits, self.malloc.annotated).await;
    }

    /// Whether the program annotates its synchronisation.
    pub fn is_annotated(&self) -> bool {
        self.malloc.annotated
    }

    /// The first place of the thread's cache, if there is one.
    pub async fn cached(&self, index: W<'c, C>) -> Option<W<'c, C>> {
        let cache = self.own(thread_local::CACHE).await;
        if cache.is(0).branch(HAS_NO_CACHE)
            || !index
                .less(self.global(global::CACHED_SIZES).await)
                .branch(SIZE_IS_CACHED)
        {
            return None;
        }
        let count = cache.at(cache::COUNT).load_sized(2).await;
        if count.is(0).branch(CACHE_IS_EMPTY) {
            return None;
        }
        Some(self.pop_cached(cache, count, index).await)
    }

    pub async fn pop_cached(&self, cache: W<'c, C>, count: W<'c, C>, index: W<'c, C>) -> W<'c, C> {
        let _entry = index + HEADER;
        let place = cache.at(cache::FIRST).load().await;
        (place & 0xf).is(0).branch(CACHED_IS_ALIGNED);
        let next = (place >> 12) ^ place.load().await;
        cache.at(cache::FIRST).store(next).await;
        cache.at(cache::COUNT).store_sized(count - 1, 2).await;
        place.at(8).store(self.cpu.word(0)).await;
        place
    }

    /// Puts a chunk into a cache of `count`, and returns how many there are then.
    pub async fn cache(&self, cache: W<'c, C>, count: W<'c, C>, freed: W<'c, C>, key: W<'c, C>) -> W<'c, C> {
        let place = freed + HEADER;
        let count = count + 1;
        freed.at(chunk::PREVIOUS).store(key).await;
        let next = (place >> 12) ^ cache.at(cache::FIRST).load().await;
        freed.at(chunk::NEXT).store(next).await;
        cache.at(cache::FIRST).store(place).await;
        cache.at(cache::COUNT).store_sized(count, 2).await;
        count
    }
}
