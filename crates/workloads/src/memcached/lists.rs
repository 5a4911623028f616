//! Chains and LRU lists: where items are linked and unlinked.

use super::task::{ItemPlace, Set};
use super::{cache, class, item, Memcached, Omits, CLASS_SHIFT, LINE_WORDS, TIME_SHIFT};
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Region, Step, PAYLOAD_BYTES};

sites! {
    LIST_IS_EMPTY = 0x9af8_6d02;
    MORE_LINES_TO_LOG = 0xcad0_f1d2;
    VALUE_ENDS = 0xfa14_2187;
    IS_FRONT = 0x6f73_ad59;
    IS_END = 0x29d9_2186;
    MOVED_IS_FRONT = 0xf88b_cbbd;
    MOVED_IS_END = 0xb6b5_1201;
}

impl Memcached {
    /// Fills a chunk with a new item, links it first in its chain and in its class's LRU list, and ends the region.
    pub(super) fn link<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        region: &mut Region<'_, 'c, C>,
        chunk: W<'c, C>,
        class: W<'c, C>,
        chain: W<'c, C>,
        set: &Set<'c, C>,
    ) {
        let _call = cpu.call(5);
        let cache = cpu.word(self.cache.addr(0).0);
        let first = region.read(chain, 8);
        let front = region.read(class.at(class::FRONT), 8);
        let items = region.read(class.at(class::ITEMS), 8);
        let unique = region.read(cache.at(cache::SETS), 8) + 1;
        let was_empty = front.is(0).branch(LIST_IS_EMPTY);

        self.log_item(region, chunk, set.class);
        region.log(chain, 0, 8);
        if !was_empty && self.omits != Omits::Link {
            region.log(front, item::NEWER, 8);
        }
        region.log(class, class::FRONT, 24);
        region.log(cache, cache::SETS, 8);
        region.order(Step::Last);

        let meta = (set.words << 3) | (set.class << CLASS_SHIFT) | (unique << TIME_SHIFT);
        region.update(chunk.at(item::CHAIN), first, 8);
        region.update(chunk.at(item::META), meta, 8);
        region.update(chunk.at(item::NEWER), cpu.word(0), 8);
        region.update(chunk.at(item::OLDER), front, 8);
        region.update(chunk.at(item::KEY), set.key[0], 8);
        region.update(chunk.at(item::KEY + 8), set.key[1], 8);
        region.update(chunk.at(item::UNIQUE), unique, 8);
        self.write_value(region, chunk, set);
        region.update(chain, chunk, 8);
        let back = if was_empty {
            class.at(class::END)
        } else {
            front.at(item::NEWER)
        };
        if was_empty || self.omits != Omits::Link {
            region.update(back, chunk, 8);
        } else {
            back.store(chunk);
            back.flush();
        }
        region.update(class.at(class::FRONT), chunk, 8);
        region.update(class.at(class::ITEMS), items + 1, 8);
        region.update(cache.at(cache::SETS), unique, 8);
        region.finish();
    }

    /// Logs the lines of a chunk. An evicted item's are reachable until the region has committed.
    fn log_item<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, chunk: W<'c, C>, class: W<'c, C>) {
        let _call = chunk.call(3);
        region.log(chunk, 0, PAYLOAD_BYTES);
        if self.omits == Omits::Value {
            return;
        }
        let (mut line, mut left) = (chunk, class + 1);
        while !left.is(0).branch(MORE_LINES_TO_LOG) {
            line = line + LINE_BYTES;
            region.log(line, 0, PAYLOAD_BYTES);
            left = left - 1;
        }
    }

    /// Copies the value from the connection's buffer.
    fn write_value<'c, C: Cpu>(&self, region: &mut Region<'_, 'c, C>, chunk: W<'c, C>, set: &Set<'c, C>) {
        let _call = chunk.call(3);
        let (mut from, mut line, mut left) = (set.value, chunk, set.words);
        loop {
            line = line + LINE_BYTES;
            for i in 0..LINE_WORDS {
                let word = from.load();
                if self.omits == Omits::Value {
                    line.at(8 * i).store(word);
                } else {
                    region.update(line.at(8 * i), word, 8);
                }
                (from, left) = (from + 8, left - 1);
                if left.is(0).branch(VALUE_ENDS) {
                    return;
                }
            }
        }
    }

    /// Unlinks an item from its chain and its LRU list, and frees its chunk.
    pub(super) fn remove<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        region: &mut Region<'_, 'c, C>,
        place: ItemPlace<'c, C>,
        step: Step,
    ) {
        let _call = cpu.call(3);
        let ItemPlace { link, item } = place;
        let next = region.read(item.at(item::CHAIN), 8);
        // A step of its own: the item before it in the chain may be its neighbour in the list.
        region.log(link, item::CHAIN, 8);
        region.order(Step::More);
        region.update(link, next, 8);
        region.finish();

        let meta = region.read(item.at(item::META), 8);
        let class = self.classes.row((meta >> CLASS_SHIFT) & 0xff);
        let newer = region.read(item.at(item::NEWER), 8);
        let older = region.read(item.at(item::OLDER), 8);
        let items = region.read(class.at(class::ITEMS), 8);
        let free = region.read(class.at(class::FREE), 8);
        let (is_front, is_end) = (newer.is(0).branch(IS_FRONT), older.is(0).branch(IS_END));
        if !is_front {
            region.log(newer, item::OLDER, 8);
        }
        if !is_end {
            region.log(older, item::NEWER, 8);
        }
        region.log(item, 0, 16);
        region.log(class, 0, class::FREE + 8);
        region.order(step);
        let before = if is_front {
            class.at(class::FRONT)
        } else {
            newer.at(item::OLDER)
        };
        let after = if is_end {
            class.at(class::END)
        } else {
            older.at(item::NEWER)
        };
        region.update(before, older, 8);
        region.update(after, newer, 8);
        region.update(item.at(item::CHAIN), free, 8);
        region.update(item.at(item::META), cpu.word(0), 8);
        region.update(class.at(class::ITEMS), items - 1, 8);
        region.update(class.at(class::FREE), item, 8);
        region.finish();
    }

    /// Moves an item to the front of its class's LRU list, with a new meta word, and ends the region.
    pub(super) fn move_to_front<'c, C: Cpu>(
        cpu: &'c C,
        region: &mut Region<'_, 'c, C>,
        item: W<'c, C>,
        class: W<'c, C>,
        meta: W<'c, C>,
    ) {
        let _call = cpu.call(4);
        let newer = region.read(item.at(item::NEWER), 8);
        if newer.is(0).branch(MOVED_IS_FRONT) {
            region.log(item, item::META, 8);
            region.order(Step::Last);
            region.update(item.at(item::META), meta, 8);
            return region.finish();
        }
        let older = region.read(item.at(item::OLDER), 8);
        let is_end = older.is(0).branch(MOVED_IS_END);
        region.log(newer, item::OLDER, 8);
        let after = if is_end { class } else { older };
        region.log(after, if is_end { class::END } else { item::NEWER }, 8);
        region.order(Step::More);
        region.update(newer.at(item::OLDER), older, 8);
        let back = if is_end {
            after.at(class::END)
        } else {
            after.at(item::NEWER)
        };
        region.update(back, newer, 8);
        region.finish();

        // A step of its own: the front of the list may be the neighbour.
        let front = region.read(class.at(class::FRONT), 8);
        region.log(item, item::META, 24);
        region.log(front, item::NEWER, 8);
        region.log(class, class::FRONT, 8);
        region.order(Step::Last);
        region.update(item.at(item::META), meta, 8);
        region.update(item.at(item::NEWER), cpu.word(0), 8);
        region.update(item.at(item::OLDER), front, 8);
        region.update(front.at(item::NEWER), item, 8);
        region.update(class.at(class::FRONT), item, 8);
        region.finish();
    }
}
