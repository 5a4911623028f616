//! The lists of free chunks: the unsorted one, from which a request sorts them into bins, and the bins.

use super::call::Call;
use super::cells::{arena, cache, chunk, global, thread_local};
use super::HEADER;
use strandline_isa::{sites, Cpu, W};

sites! {
    IS_BELOW_3136 = 0x0b95_004a;
    IS_BELOW_10752 = 0x609f_cb1b;
    IS_BELOW_45056 = 0x2ba7_9906;
    IS_BELOW_163840 = 0xc56a_e3a4;
    UNSORTED_HAVE_NO_CACHE = 0x100c_5529;
    UNSORTED_ARE_CACHED = 0xddad_1552;
    ALL_ARE_SORTED = 0x6056_6e2a;
    UNSORTED_IS_TOO_SMALL = 0x9565_6982;
    UNSORTED_IS_TOO_LARGE = 0x0c07_2503;
    AFTER_UNSORTED_IS_TOO_LARGE = 0x0a21_2d23;
    AFTER_UNSORTED_IS_TOO_SMALL = 0xe13b_ec47;
    UNSORTED_HAS_SIZE = 0xe2b1_4196;
    UNSORTED_IS_LINKED = 0xeab2_aa39;
    UNSORTED_ENDS_LIST = 0x183a_aaf2;
    UNSORTED_IS_FREE = 0xa906_5fb9;
    UNSORTED_IS_ONLY_ONE = 0x431e_186a;
    REMAINDER_SERVES_SMALL = 0xdb29_295d;
    IS_LAST_REMAINDER = 0x4ed1_c615;
    REMAINDER_IS_LARGE_ENOUGH = 0xdcb0_851e;
    UNSORTED_FITS = 0xcdd3_275c;
    UNSORTED_IS_OF_MAIN_ARENA = 0xf103_16a3;
    CACHE_TAKES_UNSORTED = 0xb102_8f21;
    NONE_WAS_CACHED = 0x1af0_5005;
    NONE_OF_SORTED_WAS_CACHED = 0xca32_5e6a;
    PLACED_IS_SMALL = 0x4be0_d77f;
    LARGE_BIN_IS_EMPTY = 0x3580_3e0b;
    ALL_ARE_LARGER = 0x0f06_ab62;
    NEXT_IS_LARGER = 0xd4be_717c;
    LARGER_SERVES_SMALL = 0xd947_8525;
    OWN_BIN_IS_EMPTY = 0x6358_24c5;
    LARGEST_IS_TOO_SMALL = 0x927e_3910;
    OWN_BIN_IS_TOO_SMALL = 0x63e8_cf1b;
    NO_BIN_IS_LEFT_IN_BLOCK = 0xa5d5_d92f;
    NO_BLOCK_IS_LEFT = 0x54c4_9491;
    BLOCK_IS_EMPTY = 0xfb7d_8dad;
    BIN_IS_UNMARKED = 0xac05_c6ee;
    MARKED_IS_EMPTY = 0x9b6f_0196;
    UNLINKED_HAS_SIZE = 0xa442_36e8;
    UNLINKED_IS_BEFORE_NEXT = 0x8c1d_c208;
    UNLINKED_IS_AFTER_PREVIOUS = 0xd6d0_43fa;
    UNLINKED_IS_SMALL = 0xaf59_e9a1;
    SPLIT_LEAVES_NOTHING = 0x5612_b05c;
    SPLIT_LIST_IS_LINKED = 0x1b3b_c2fb;
    SPLIT_SERVES_SMALL = 0xc516_2284;
}

/// Words of 32 bits of the map of bins.
const BLOCKS: u64 = 4;

impl<'c, C: Cpu> Call<'_, 'c, C> {
    /// The chunk that stands for the ends of the list of bin `index`.
    pub fn head_of(&self, arena: W<'c, C>, index: W<'c, C>) -> W<'c, C> {
        (arena + (index << 4)).at(arena::head(0))
    }

    /// The bin of large chunks of `bytes` bytes.
    pub fn large_index(&self, bytes: W<'c, C>) -> W<'c, C> {
        if bytes.below(0xc40).branch(IS_BELOW_3136) {
            (bytes >> 6) + 48
        } else if bytes.below(0x2a00).branch(IS_BELOW_10752) {
            (bytes >> 9) + 91
        } else if bytes.below(0xb000).branch(IS_BELOW_45056) {
            (bytes >> 12) + 110
        } else if bytes.below(0x28000).branch(IS_BELOW_163840) {
            (bytes >> 15) + 119
        } else {
            // The last bin holds all larger ones.
            let (quarters, most) = (bytes >> 18, self.cpu.word(2));
            quarters + most - quarters.max(most) + 124
        }
    }

    /// Sorts the unsorted chunks into their bins, until one fits; the place of that.
    pub fn search_unsorted(&mut self, arena: W<'c, C>, bytes: W<'c, C>) -> Option<W<'c, C>> {
        let cpu = self.cpu;
        let index = (bytes - 0x11) >> 4;
        let cache = self.own(thread_local::CACHE);
        cache.is(0).branch(UNSORTED_HAVE_NO_CACHE);
        let are_cached = index
            .less(self.global(global::CACHED_SIZES))
            .branch(UNSORTED_ARE_CACHED);
        let head = arena + arena::head(arena::UNSORTED);
        let mut cached = cpu.word(0);
        loop {
            let found = head.at(chunk::PREVIOUS).load();
            if found.equals(head).branch(ALL_ARE_SORTED) {
                break;
            }
            let size = found.at(chunk::SIZE).load() & !chunk::BITS;
            let after = found + size;
            let before = found.at(chunk::PREVIOUS).load();
            let after_size = self.check_unsorted(arena, head, [found, size, after, before]);
            if before.equals(head).branch(UNSORTED_IS_ONLY_ONE)
                && bytes.below(chunk::LEAST_LARGE).branch(REMAINDER_SERVES_SMALL)
                && arena
                    .at(arena::LAST_REMAINDER)
                    .load()
                    .equals(found)
                    .branch(IS_LAST_REMAINDER)
                && (bytes + chunk::LEAST).less(size).branch(REMAINDER_IS_LARGE_ENOUGH)
            {
                self.split_remainder(arena, found, [size, bytes]);
                return Some(found + HEADER);
            }
            head.at(chunk::PREVIOUS).store(before);
            before.at(chunk::NEXT).store(head);
            if !size.equals(bytes).branch(UNSORTED_FITS) {
                self.place_in_bin(arena, found, size);
                cached.is(0).branch(NONE_WAS_CACHED);
                continue;
            }
            after.at(chunk::SIZE).store(after_size | chunk::BEFORE_IS_USED);
            arena.is(self.main_arena().0).branch(UNSORTED_IS_OF_MAIN_ARENA);
            let count = cache.at(cache::COUNT).load_sized(2);
            if !are_cached
                || !count
                    .less(self.global(global::MOST_CACHED))
                    .branch(CACHE_TAKES_UNSORTED)
            {
                return Some(found + HEADER);
            }
            let key = self.global(global::KEY);
            self.cache(cache, count, found, key);
            cached = cpu.word(1);
        }
        if cached.is(0).branch(NONE_OF_SORTED_WAS_CACHED) {
            return None;
        }
        let count = cache.at(cache::COUNT).load_sized(2);
        Some(self.pop_cached(cache, count, index))
    }

    /// What glibc checks of an unsorted chunk; the size word of the chunk behind it.
    fn check_unsorted(&self, arena: W<'c, C>, head: W<'c, C>, [found, size, after, before]: [W<'c, C>; 4]) -> W<'c, C> {
        size.below(0x11).branch(UNSORTED_IS_TOO_SMALL);
        let system = arena.at(arena::SYSTEM).load();
        system.less(size).branch(UNSORTED_IS_TOO_LARGE);
        let after_size = after.at(chunk::SIZE).load();
        system.less(after_size).branch(AFTER_UNSORTED_IS_TOO_LARGE);
        after_size.below(0x10).branch(AFTER_UNSORTED_IS_TOO_SMALL);
        (after.at(chunk::BEFORE).load() & !chunk::BITS)
            .equals(size)
            .branch(UNSORTED_HAS_SIZE);
        before.at(chunk::NEXT).load().equals(found).branch(UNSORTED_IS_LINKED);
        found.at(chunk::NEXT).load().equals(head).branch(UNSORTED_ENDS_LIST);
        (after_size & chunk::BEFORE_IS_USED).is(0).branch(UNSORTED_IS_FREE);
        after_size
    }

    /// Splits the only unsorted chunk, which a small request has left.
    fn split_remainder(&self, arena: W<'c, C>, found: W<'c, C>, [size, bytes]: [W<'c, C>; 2]) {
        let head = arena + arena::head(arena::UNSORTED);
        let left = size - bytes;
        let rest = found + bytes;
        head.at(chunk::NEXT).store(rest);
        head.at(chunk::PREVIOUS).store(rest);
        arena.at(arena::LAST_REMAINDER).store(rest);
        rest.at(chunk::NEXT).store(head);
        rest.at(chunk::PREVIOUS).store(head);
        self.set_sizes(found, rest, [bytes, left]);
    }

    fn set_sizes(&self, found: W<'c, C>, rest: W<'c, C>, [bytes, left]: [W<'c, C>; 2]) {
        found.at(chunk::SIZE).store(bytes | chunk::BEFORE_IS_USED);
        rest.at(chunk::SIZE).store(left | chunk::BEFORE_IS_USED);
        (rest + left).at(chunk::BEFORE).store(left);
    }

    /// Puts a chunk into its bin. Large ones are sorted, the largest first.
    fn place_in_bin(&self, arena: W<'c, C>, freed: W<'c, C>, size: W<'c, C>) {
        let (index, next, previous);
        if size.below(chunk::LEAST_LARGE).branch(PLACED_IS_SMALL) {
            index = size >> 4;
            previous = self.head_of(arena, index);
            next = previous.at(chunk::NEXT).load();
        } else {
            index = self.large_index(size);
            let head = self.head_of(arena, index);
            (next, previous) = self.place_among_large(head, size);
        }
        let word = (arena + (index >> 5 << 2)).at(arena::MAP);
        let marked = word.load_sized(4) | (self.cpu.word(1) << (index & 31));
        word.store_sized(marked, 4);
        freed.at(chunk::PREVIOUS).store(previous);
        freed.at(chunk::NEXT).store(next);
        next.at(chunk::PREVIOUS).store(freed);
        previous.at(chunk::NEXT).store(freed);
    }

    fn place_among_large(&self, head: W<'c, C>, size: W<'c, C>) -> (W<'c, C>, W<'c, C>) {
        let mut next = head.at(chunk::NEXT).load();
        if next.equals(head).branch(LARGE_BIN_IS_EMPTY) {
            return (next, head);
        }
        let size = size | chunk::BEFORE_IS_USED;
        while !next.equals(head).branch(ALL_ARE_LARGER) {
            if !size.less(next.at(chunk::SIZE).load()).branch(NEXT_IS_LARGER) {
                break;
            }
            next = next.at(chunk::NEXT).load();
        }
        (next, next.at(chunk::PREVIOUS).load())
    }

    /// The smallest chunk that is large enough for `bytes` bytes, of bin `index` or those behind it, and its size.
    pub fn search_larger(&self, arena: W<'c, C>, index: W<'c, C>, bytes: W<'c, C>) -> Option<(W<'c, C>, W<'c, C>)> {
        if !bytes.below(chunk::LEAST_LARGE).branch(LARGER_SERVES_SMALL) {
            let found = self.search_own_bin(self.head_of(arena, index), bytes);
            if found.is_some() {
                return found;
            }
        }
        let index = index + 1;
        let mut head = self.head_of(arena, index);
        let mut block = index >> 5;
        let mut map = self.block(arena, block).load_sized(4);
        let mut bit = self.cpu.word(1) << (index & 31);
        loop {
            if map.less(bit).branch(NO_BIN_IS_LEFT_IN_BLOCK) {
                (block, map) = self.next_block(arena, block)?;
                head = self.head_of(arena, block << 5);
                bit = self.cpu.word(1);
            }
            while (map & bit).is(0).branch(BIN_IS_UNMARKED) {
                head = head + 16;
                bit = bit << 1;
            }
            let found = head.at(chunk::PREVIOUS).load();
            if !found.equals(head).branch(MARKED_IS_EMPTY) {
                let size = found.at(chunk::SIZE).load() & !chunk::BITS;
                self.unlink(found, size);
                return Some((found, size));
            }
            map = map ^ bit;
            self.block(arena, block).store_sized(map, 4);
            head = head + 16;
            bit = bit << 1;
        }
    }

    /// The address of a word of the map.
    fn block(&self, arena: W<'c, C>, block: W<'c, C>) -> W<'c, C> {
        (arena + (block << 2)).at(arena::MAP)
    }

    /// The next word of the map with marked bins.
    fn next_block(&self, arena: W<'c, C>, mut block: W<'c, C>) -> Option<(W<'c, C>, W<'c, C>)> {
        loop {
            block = block + 1;
            if block.is(BLOCKS).branch(NO_BLOCK_IS_LEFT) {
                return None;
            }
            let map = self.block(arena, block).load_sized(4);
            if !map.is(0).branch(BLOCK_IS_EMPTY) {
                return Some((block, map));
            }
        }
    }

    /// The smallest chunk of a large bin that is large enough.
    fn search_own_bin(&self, head: W<'c, C>, bytes: W<'c, C>) -> Option<(W<'c, C>, W<'c, C>)> {
        let largest = head.at(chunk::NEXT).load();
        if largest.equals(head).branch(OWN_BIN_IS_EMPTY)
            || largest.at(chunk::SIZE).load().less(bytes).branch(LARGEST_IS_TOO_SMALL)
        {
            return None;
        }
        let mut found = head;
        loop {
            found = found.at(chunk::PREVIOUS).load();
            let size = found.at(chunk::SIZE).load() & !chunk::BITS;
            if !size.less(bytes).branch(OWN_BIN_IS_TOO_SMALL) {
                self.unlink(found, size);
                return Some((found, size));
            }
        }
    }

    /// Removes a free chunk from its list.
    pub fn unlink(&self, freed: W<'c, C>, size: W<'c, C>) {
        (freed + size)
            .at(chunk::BEFORE)
            .load()
            .equals(size)
            .branch(UNLINKED_HAS_SIZE);
        let next = freed.at(chunk::NEXT).load();
        let previous = freed.at(chunk::PREVIOUS).load();
        next.at(chunk::PREVIOUS)
            .load()
            .equals(freed)
            .branch(UNLINKED_IS_BEFORE_NEXT);
        previous
            .at(chunk::NEXT)
            .load()
            .equals(freed)
            .branch(UNLINKED_IS_AFTER_PREVIOUS);
        next.at(chunk::PREVIOUS).store(previous);
        previous.at(chunk::NEXT).store(next);
        size.below(chunk::LEAST_LARGE).branch(UNLINKED_IS_SMALL);
    }

    /// Takes `bytes` bytes of a chunk of `size`; what is left becomes unsorted.
    pub fn split(&self, arena: W<'c, C>, found: W<'c, C>, [size, bytes]: [W<'c, C>; 2]) {
        let left = size - bytes;
        if left.below(chunk::LEAST).branch(SPLIT_LEAVES_NOTHING) {
            let after = (found + size).at(chunk::SIZE);
            after.store(after.load() | chunk::BEFORE_IS_USED);
            return;
        }
        let rest = found + bytes;
        let head = arena + arena::head(arena::UNSORTED);
        let next = head.at(chunk::NEXT).load();
        next.at(chunk::PREVIOUS)
            .load()
            .equals(head)
            .branch(SPLIT_LIST_IS_LINKED);
        rest.at(chunk::PREVIOUS).store(head);
        rest.at(chunk::NEXT).store(next);
        head.at(chunk::NEXT).store(rest);
        next.at(chunk::PREVIOUS).store(rest);
        if bytes.below(chunk::LEAST_LARGE).branch(SPLIT_SERVES_SMALL) {
            arena.at(arena::LAST_REMAINDER).store(rest);
        }
        self.set_sizes(found, rest, [bytes, left]);
    }
}
