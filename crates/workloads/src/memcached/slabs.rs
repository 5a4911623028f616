//! Slab classes: where a new item gets its chunk.

use super::{cache, class, item, Memcached};
use crate::operations::View;
use strandline_isa::{sites, Cpu, LINE_BYTES, W};
use strandline_runtime::{Region, Step};

sites! {
    NO_CHUNK_IS_FREE = 0xe3e9_fec4;
    PAGE_IS_FULL = 0xedea_5efd;
    PAGE_IS_LEFT = 0xc84e_467d;
}

impl Memcached {
    /// A chunk of a class: a free one, or the next of its newest page. If there is none, the class gets another page, or
    /// evicts an item. A class has at least a page, so it has an item to evict.
    pub(super) fn allocate<'c, C: Cpu>(
        &self,
        cpu: &'c C,
        region: &mut Region<'_, 'c, C>,
        number: W<'c, C>,
        class: W<'c, C>,
    ) -> W<'c, C> {
        let _call = cpu.call(3);
        // A chunk of class c has c + 2 lines.
        let bytes = (number << u64::from(LINE_BYTES.trailing_zeros())) + 2 * LINE_BYTES;
        loop {
            let free = region.read(class.at(class::FREE), 8);
            if !free.is(0).branch(NO_CHUNK_IS_FREE) {
                let next = region.read(free.at(item::CHAIN), 8);
                region.log(class, class::FREE, 8);
                region.order(Step::More);
                region.update(class.at(class::FREE), next, 8);
                region.finish();
                return free;
            }
            let unused = region.read(class.at(class::UNUSED), 8);
            let next = unused + bytes;
            let end = region.read(class.at(class::PAGE_END), 8);
            if !end.less(next).branch(PAGE_IS_FULL) {
                region.log(class, class::UNUSED, 8);
                region.order(Step::More);
                region.update(class.at(class::UNUSED), next, 8);
                region.finish();
                return unused;
            }
            let cache = cpu.word(self.cache.addr(0).0);
            let page = region.read(cache.at(cache::PAGES), 8);
            if page.below(self.pages.rows()).branch(PAGE_IS_LEFT) {
                self.take_page(region, cache, page, number, class);
            } else {
                self.evict(cpu, region, class);
            }
        }
    }

    /// Gives a class the page of this number, the first that belongs to none.
    fn take_page<'c, C: Cpu>(
        &self,
        region: &mut Region<'_, 'c, C>,
        cache: W<'c, C>,
        page: W<'c, C>,
        number: W<'c, C>,
        class: W<'c, C>,
    ) {
        let _call = cache.call(5);
        let start = page * self.page + self.pages.range().start;
        let owner = self.owners.row(page);
        region.log(cache, cache::PAGES, 8);
        region.log(owner, 0, 8);
        region.log(class, class::UNUSED, 16);
        region.order(Step::More);
        region.update(cache.at(cache::PAGES), page + 1, 8);
        region.update(owner, number + 1, 8);
        region.update(class.at(class::UNUSED), start, 8);
        region.update(class.at(class::PAGE_END), start + self.page, 8);
        region.finish();
    }

    /// Frees the least recently used item of a class.
    fn evict<'c, C: Cpu>(&self, cpu: &'c C, region: &mut Region<'_, 'c, C>, class: W<'c, C>) {
        let _call = cpu.call(2);
        let last = region.read(class.at(class::END), 8);
        let first_half = region.read(last.at(item::KEY), 8);
        let second_half = region.read(last.at(item::KEY + 8), 8);
        let chain = self.chain(first_half);
        let place = self.find(&mut View(Some(region)), chain, [first_half, second_half]);
        self.remove(cpu, region, place, Step::More);
        let evicted = region.read(class.at(class::EVICTED), 8);
        region.log(class, class::EVICTED, 8);
        region.order(Step::More);
        region.update(class.at(class::EVICTED), evicted + 1, 8);
        region.finish();
    }
}
