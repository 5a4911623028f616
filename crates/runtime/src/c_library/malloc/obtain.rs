//! A chunk for a request: from a fast bin, a small bin, the unsorted chunks, larger bins, or the top.

use super::call::Call;
use super::cells::{arena, cache, chunk, global, thread_local};
use super::HEADER;
use strandline_isa::{sites, Cpu, Intent, W};

sites! {
    REQUEST_IS_NEGATIVE = 0x12d6_138e;
    REQUEST_IS_LEAST = 0x06a1_333f;
    ARENA_IS_NOTHING = 0xef65_28e8;
    MALLOC_PERTURBS = 0xd0f3_2091;
    REQUEST_IS_ABOVE_FAST = 0xcc30_d3dd;
    REQUEST_IS_SMALL = 0xdf6c_0405;
    LARGE_CONSOLIDATES = 0x799b_a406;
    FAST_IS_EMPTY = 0xe4bd_cf4f;
    FAST_IS_ALIGNED = 0x375a_7498;
    FAST_HAS_ONE_THREAD = 0x9784_8947;
    FAST_HAS_SIZE = 0x043f_4c65;
    FAST_IS_LAST = 0xb6df_5419;
    FAST_LINK_IS_ALIGNED = 0x0437_2e07;
    FAST_POP_NEEDS_NO_LOCK = 0x044a_52ec;
    FAST_IS_POPPED = 0x4d9d_a4ed;
    FAST_HAS_EMPTIED = 0xe587_457f;
    FAST_HAS_NO_CACHE = 0x9dca_905d;
    FAST_SIZE_IS_CACHED = 0x96fe_1a9b;
    CACHE_TAKES_FAST = 0x795d_c019;
    NO_MORE_FAST = 0xaf0c_d9d2;
    SMALL_IS_EMPTY = 0x1db4_5300;
    SMALL_IS_LINKED = 0xb26e_330f;
    SMALL_IS_OF_MAIN_ARENA = 0xa4ad_1358;
    SMALL_HAS_NO_CACHE = 0xafcc_aa6e;
    SMALL_SIZE_IS_CACHED = 0xf1c1_a5fb;
    CACHE_TAKES_SMALL = 0xc13d_5958;
    NO_MORE_SMALL = 0xf4dc_a827;
    TOP_IS_TOO_LARGE = 0xd15d_8251;
    TOP_IS_TOO_SMALL = 0x8d93_9086;
    TOP_CONSOLIDATES = 0x6a4a_14d0;
}

impl<'c, C: Cpu> Call<'_, 'c, C> {
    /// The place of a chunk for a request, with the arena locked; nothing if the heap is full.
    pub fn obtain(&mut self, arena: W<'c, C>, request: W<'c, C>) -> Option<W<'c, C>> {
        // With the return address.
        self.stack.push(7);
        request.is(0).branch(REQUEST_IS_NEGATIVE);
        let padded = request + 0x17;
        self.stack.grow();
        padded.below(chunk::LEAST).branch(REQUEST_IS_LEAST);
        let bytes = padded & !0xf;
        arena.is(0).branch(ARENA_IS_NOTHING);
        let found = self.search(arena, bytes);
        if found.is_some() {
            self.global(global::PERTURB).is(0).branch(MALLOC_PERTURBS);
        }
        self.stack.shrink();
        self.stack.pop(7);
        found
    }

    fn search(&mut self, arena: W<'c, C>, bytes: W<'c, C>) -> Option<W<'c, C>> {
        if !self.global(global::MOST_FAST).less(bytes).branch(REQUEST_IS_ABOVE_FAST) {
            if let Some(found) = self.search_fast(arena, bytes) {
                return Some(found + HEADER);
            }
        }
        let index = if bytes.below(chunk::LEAST_LARGE).branch(REQUEST_IS_SMALL) {
            let index = bytes >> 4;
            if let Some(found) = self.search_small(arena, index, bytes) {
                return Some(found + HEADER);
            }
            index
        } else {
            // Rows of this size are never in a fast bin.
            arena.at(arena::HAS_FAST).load_sized(4).is(0).branch(LARGE_CONSOLIDATES);
            self.large_index(bytes)
        };
        if let Some(place) = self.search_unsorted(arena, bytes) {
            return Some(place);
        }
        match self.search_larger(arena, index, bytes) {
            Some((found, size)) => {
                self.split(arena, found, [size, bytes]);
                Some(found + HEADER)
            }
            None => self.cut_top(arena, bytes),
        }
    }

    fn search_fast(&mut self, arena: W<'c, C>, bytes: W<'c, C>) -> Option<W<'c, C>> {
        let index = bytes >> 4;
        let bin = arena + (index << 3);
        let first = bin.load();
        if first.is(0).branch(FAST_IS_EMPTY) {
            return None;
        }
        (first & 0xf).is(0).branch(FAST_IS_ALIGNED);
        self.stack.single().is(1).branch(FAST_HAS_ONE_THREAD);
        let found = self.pop_fast(bin, first)?;
        (found.at(chunk::SIZE).load_sized(4) >> 4)
            .equals(index)
            .branch(FAST_HAS_SIZE);
        self.cache_fast(bin, bytes);
        Some(found)
    }

    /// Others push to a fast bin without the lock.
    fn pop_fast(&self, bin: W<'c, C>, mut first: W<'c, C>) -> Option<W<'c, C>> {
        loop {
            let shifted = (first + HEADER) >> 12;
            let link = first.at(chunk::NEXT).load();
            let next = shifted ^ link;
            if !shifted.equals(link).branch(FAST_IS_LAST) {
                (next & 0xf).is(0).branch(FAST_LINK_IS_ALIGNED);
            }
            self.stack.single().is(1).branch(FAST_POP_NEEDS_NO_LOCK);
            let seen = bin.compare_swap(first, next);
            if seen.equals(first).branch(FAST_IS_POPPED) {
                if self.is_annotated() {
                    self.cpu.intent(Intent::Acquire);
                }
                return Some(first);
            }
            if seen.is(0).branch(FAST_HAS_EMPTIED) {
                return None;
            }
            first = seen;
        }
    }

    /// Moves what else is in the bin to the thread's cache, as long as it has room.
    fn cache_fast(&self, bin: W<'c, C>, bytes: W<'c, C>) {
        let index = (bytes - 0x11) >> 4;
        let cache = self.own(thread_local::CACHE);
        if cache.is(0).branch(FAST_HAS_NO_CACHE)
            || !index
                .less(self.global(global::CACHED_SIZES))
                .branch(FAST_SIZE_IS_CACHED)
        {
            return;
        }
        let mut count = cache.at(cache::COUNT).load_sized(2);
        while count.less(self.global(global::MOST_CACHED)).branch(CACHE_TAKES_FAST) {
            let first = bin.load();
            if first.is(0).branch(NO_MORE_FAST) {
                return;
            }
            let Some(other) = self.pop_fast(bin, first) else {
                return;
            };
            let key = self.global(global::KEY);
            count = cache.at(cache::COUNT).load_sized(2);
            count = self.cache(cache, count, other, key);
        }
    }

    fn search_small(&mut self, arena: W<'c, C>, index: W<'c, C>, bytes: W<'c, C>) -> Option<W<'c, C>> {
        let head = self.head_of(arena, index);
        let last = head.at(chunk::PREVIOUS).load();
        if head.equals(last).branch(SMALL_IS_EMPTY) {
            return None;
        }
        let before = last.at(chunk::PREVIOUS).load();
        before.at(chunk::NEXT).load().equals(last).branch(SMALL_IS_LINKED);
        self.take_last(head, last, [before, bytes]);
        arena.is(self.main_arena().0).branch(SMALL_IS_OF_MAIN_ARENA);
        self.cache_small(head, bytes);
        Some(last)
    }

    /// Removes the last chunk of a bin, which is in use from here on.
    fn take_last(&self, head: W<'c, C>, last: W<'c, C>, [before, bytes]: [W<'c, C>; 2]) {
        let after = (last + bytes).at(chunk::SIZE);
        after.store(after.load() | chunk::BEFORE_IS_USED);
        head.at(chunk::PREVIOUS).store(before);
        before.at(chunk::NEXT).store(head);
    }

    fn cache_small(&self, head: W<'c, C>, bytes: W<'c, C>) {
        let cache = self.own(thread_local::CACHE);
        if cache.is(0).branch(SMALL_HAS_NO_CACHE) {
            return;
        }
        let index = (bytes - 0x11) >> 4;
        if !index
            .less(self.global(global::CACHED_SIZES))
            .branch(SMALL_SIZE_IS_CACHED)
        {
            return;
        }
        let most = self.global(global::MOST_CACHED);
        let mut count = cache.at(cache::COUNT).load_sized(2);
        while count.less(most).branch(CACHE_TAKES_SMALL) {
            let last = head.at(chunk::PREVIOUS).load();
            if head.equals(last).branch(NO_MORE_SMALL) {
                return;
            }
            let before = last.at(chunk::PREVIOUS).load();
            self.take_last(head, last, [before, bytes]);
            let key = self.global(global::KEY);
            count = self.cache(cache, count, last, key);
        }
    }

    fn cut_top(&mut self, arena: W<'c, C>, bytes: W<'c, C>) -> Option<W<'c, C>> {
        let top = arena.at(arena::TOP).load();
        let size = top.at(chunk::SIZE).load() & !chunk::BITS;
        let system = arena.at(arena::SYSTEM).load();
        system.less(size).branch(TOP_IS_TOO_LARGE);
        if size.less(bytes + chunk::LEAST).branch(TOP_IS_TOO_SMALL) {
            // Fast bins have just been found empty.
            arena.at(arena::HAS_FAST).load_sized(4).is(0).branch(TOP_CONSOLIDATES);
            return None;
        }
        let rest = top + bytes;
        let left = size - bytes;
        arena.at(arena::TOP).store(rest);
        top.at(chunk::SIZE).store(bytes | chunk::BEFORE_IS_USED);
        rest.at(chunk::SIZE).store(left | chunk::BEFORE_IS_USED);
        Some(top + HEADER)
    }
}
