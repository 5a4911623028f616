//! Freeing a chunk: to the thread's cache, to a fast bin, or merged with its free neighbours.

use super::call::Call;
use super::cells::{arena, cache, chunk, global, thread_local};
use super::HEADER;
use crate::lock::before_release;
use strandline_isa::{sites, Cpu, W};

sites! {
    FREED_WRAPS = 0xe51e_67a9;
    FREED_IS_ALIGNED = 0x0d9a_8e21;
    FREED_IS_TOO_SMALL = 0x4f72_416b;
    FREED_SIZE_IS_ALIGNED = 0x42bf_3609;
    FREED_HAS_NO_CACHE = 0xb10b_b1ed;
    FREED_SIZE_IS_CACHED = 0xa708_4c09;
    FREED_IS_MARKED = 0x548a_ec19;
    CACHE_HAS_ROOM = 0x66f5_910f;
    FREED_IS_ABOVE_FAST = 0x90d5_9017;
    FREE_IS_GUARDED = 0x38a6_785e;
    AFTER_FAST_IS_TOO_SMALL = 0x88b4_d351;
    AFTER_FAST_FITS = 0x121b_0bbc;
    FREE_OF_FAST_PERTURBS = 0x31e0_f94a;
    FREE_OF_FAST_HAS_ONE_THREAD = 0x1adc_26c8;
    FREED_TWICE = 0xb3ed_ff93;
    FAST_PUSH_NEEDS_NO_LOCK = 0xcd76_0de2;
    FAST_IS_PUSHED = 0x136d_30c2;
    FAST_WAS_EMPTY = 0x45ba_0a3c;
    MERGED_IS_NOT_MAPPED = 0x031e_873e;
    MERGE_HAS_ONE_THREAD = 0x8ab8_c6f8;
    MERGE_FINDS_ARENA_FREE = 0x6cad_c0f6;
    FREED_IS_TOP = 0xdf21_68d9;
    AFTER_FREED_IS_TOO_SMALL = 0xd830_5231;
    AFTER_FREED_FITS = 0x0273_7032;
    FREED_WAS_FREE = 0x9d6a_d36f;
    MERGE_PERTURBS = 0x0aa3_1884;
    BEFORE_IS_FREE = 0x9beb_e467;
    BEFORE_HAS_SIZE = 0x24e1_7a1d;
    AFTER_IS_TOP = 0x4228_a96d;
    AFTER_IS_FREE = 0xa4d8_2fce;
    UNSORTED_LIST_IS_LINKED = 0x6ab1_1a63;
    MERGED_IS_SMALL = 0xed90_3d61;
    MERGED_IS_SHORT = 0xe2e0_0381;
    NOBODY_WAITS_FOR_MERGED = 0x3c3f_4394;
}

/// Bytes of a merged chunk from which the top may be returned to the kernel, which is not simulated.
const LONG: u64 = 0x1_0000;

impl<'c, C: Cpu> Call<'_, 'c, C> {
    /// Frees a chunk.
    pub fn give(&mut self, arena: W<'c, C>, freed: W<'c, C>) {
        let cpu = self.cpu;
        self.stack.push(6);
        self.stack.grow();
        let word = freed.at(chunk::SIZE).load();
        self.stack.guard();
        let size = word & !chunk::BITS;
        (cpu.word(0) - size).less(freed).branch(FREED_WRAPS);
        (freed & 0xf).is(0).branch(FREED_IS_ALIGNED);
        size.below(chunk::LEAST).branch(FREED_IS_TOO_SMALL);
        (word & 8).is(0).branch(FREED_SIZE_IS_ALIGNED);
        if !self.give_to_cache(freed, size) {
            if self.global(global::MOST_FAST).less(size).branch(FREED_IS_ABOVE_FAST) {
                self.merge(arena, freed, [word, size]);
            } else {
                self.give_to_fast(arena, freed, size);
            }
        }
        self.stack.guarded().is(0).branch(FREE_IS_GUARDED);
        self.stack.shrink();
        self.stack.pop(6);
    }

    fn give_to_cache(&self, freed: W<'c, C>, size: W<'c, C>) -> bool {
        let cache = self.own(thread_local::CACHE);
        if cache.is(0).branch(FREED_HAS_NO_CACHE) {
            return false;
        }
        let index = (size - 0x11) >> 4;
        if !index
            .less(self.global(global::CACHED_SIZES))
            .branch(FREED_SIZE_IS_CACHED)
        {
            return false;
        }
        let key = self.global(global::KEY);
        let most = self.global(global::MOST_CACHED);
        freed.at(chunk::PREVIOUS).load().equals(key).branch(FREED_IS_MARKED);
        let count = cache.at(cache::COUNT).load_sized(2);
        if !count.less(most).branch(CACHE_HAS_ROOM) {
            return false;
        }
        self.cache(cache, count, freed, key);
        true
    }

    /// Pushes to a fast bin, without the lock.
    fn give_to_fast(&self, arena: W<'c, C>, freed: W<'c, C>, size: W<'c, C>) {
        let after = (freed + size).at(chunk::SIZE).load();
        after.below(0x11).branch(AFTER_FAST_IS_TOO_SMALL);
        (after & !chunk::BITS)
            .less(arena.at(arena::SYSTEM).load())
            .branch(AFTER_FAST_FITS);
        self.global(global::PERTURB).is(0).branch(FREE_OF_FAST_PERTURBS);
        arena.at(arena::HAS_FAST).store_sized(self.cpu.word(1), 4);
        let bin = arena + (size >> 4 << 3);
        self.stack.single().is(1).branch(FREE_OF_FAST_HAS_ONE_THREAD);
        let shifted = (freed + HEADER) >> 12;
        let mut first = bin.load();
        loop {
            first.equals(freed).branch(FREED_TWICE);
            freed.at(chunk::NEXT).store(shifted ^ first);
            self.stack.single().is(1).branch(FAST_PUSH_NEEDS_NO_LOCK);
            before_release(self.cpu, self.is_annotated());
            let seen = bin.compare_swap(first, freed);
            if seen.equals(first).branch(FAST_IS_PUSHED) {
                break;
            }
            first = seen;
        }
        first.is(0).branch(FAST_WAS_EMPTY);
    }

    /// Merges a chunk with its free neighbours, and makes it unsorted or part of the top.
    fn merge(&self, arena: W<'c, C>, mut freed: W<'c, C>, [word, mut size]: [W<'c, C>; 2]) {
        (word & chunk::MAPPED).is(0).branch(MERGED_IS_NOT_MAPPED);
        self.stack.single().is(1).branch(MERGE_HAS_ONE_THREAD);
        self.lock(arena, MERGE_FINDS_ARENA_FREE);
        let after = freed + size;
        let (after_word, after_bytes) = self.check_merged(arena, freed, after);
        let is_used = freed.at(chunk::SIZE).load() & chunk::BEFORE_IS_USED;
        if is_used.is(0).branch(BEFORE_IS_FREE) {
            let before = freed.at(chunk::BEFORE).load();
            freed = freed - before;
            size = size + before;
            (freed.at(chunk::SIZE).load() & !chunk::BITS)
                .equals(before)
                .branch(BEFORE_HAS_SIZE);
            self.unlink(freed, before);
        }
        if arena.at(arena::TOP).load().equals(after).branch(AFTER_IS_TOP) {
            size = size + after_bytes;
            freed.at(chunk::SIZE).store(size | chunk::BEFORE_IS_USED);
            arena.at(arena::TOP).store(freed);
        } else {
            let is_used = (after + after_bytes).at(chunk::SIZE).load() & chunk::BEFORE_IS_USED;
            if is_used.is(0).branch(AFTER_IS_FREE) {
                size = size + after_bytes;
                self.unlink(after, after_bytes);
            } else {
                after.at(chunk::SIZE).store(after_word & !chunk::BEFORE_IS_USED);
            }
            self.link_unsorted(arena, freed, size);
        }
        size.below(LONG).branch(MERGED_IS_SHORT);
        self.unlock(arena, NOBODY_WAITS_FOR_MERGED);
    }

    /// What glibc checks of a chunk that it merges; the size word and the bytes of the chunk behind it.
    fn check_merged(&self, arena: W<'c, C>, freed: W<'c, C>, after: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        arena.at(arena::TOP).load().equals(freed).branch(FREED_IS_TOP);
        let word = after.at(chunk::SIZE).load();
        (word & chunk::BEFORE_IS_USED).is(0).branch(FREED_WAS_FREE);
        let bytes = word & !chunk::BITS;
        word.below(0x11).branch(AFTER_FREED_IS_TOO_SMALL);
        bytes.less(arena.at(arena::SYSTEM).load()).branch(AFTER_FREED_FITS);
        self.global(global::PERTURB).is(0).branch(MERGE_PERTURBS);
        (word, bytes)
    }

    fn link_unsorted(&self, arena: W<'c, C>, freed: W<'c, C>, size: W<'c, C>) {
        let head = arena + arena::head(arena::UNSORTED);
        let first = head.at(chunk::NEXT).load();
        first
            .at(chunk::PREVIOUS)
            .load()
            .equals(head)
            .branch(UNSORTED_LIST_IS_LINKED);
        freed.at(chunk::NEXT).store(first);
        freed.at(chunk::PREVIOUS).store(head);
        size.below(chunk::LEAST_LARGE).branch(MERGED_IS_SMALL);
        head.at(chunk::NEXT).store(freed);
        first.at(chunk::PREVIOUS).store(freed);
        freed.at(chunk::SIZE).store(size | chunk::BEFORE_IS_USED);
        (freed + size).at(chunk::BEFORE).store(size);
    }
}
