//! The invariant of the cache.

use super::{cache, class, item, Memcached, CLASSES, CLASS_SHIFT, LEAST_BYTES, LINE_WORDS, MOST_BYTES, TIME_SHIFT};
use crate::maps::is_value_of;
use std::collections::{BTreeMap, BTreeSet};
use strandline_isa::{Addr, Image, LINE_BYTES};

/// An item as it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundItem {
    pub key: u64,
    pub class: u64,
    pub words: u64,
    /// The first word of its value.
    pub value: u64,
    time: u64,
    unique: u64,
}

/// What a walk has seen.
#[derive(Default)]
pub(super) struct Seen {
    /// Items by address.
    items: BTreeMap<u64, FoundItem>,
    /// Free chunks.
    free: BTreeSet<u64>,
}

/// Bytes of a chunk of class `class`.
fn chunk_bytes(class: u64) -> u64 {
    (class + 2) * LINE_BYTES
}

/// The address of word `word` of an item's value.
fn value_at(item: u64, word: u64) -> Addr {
    Addr(item + (1 + word / LINE_WORDS) * LINE_BYTES + word % LINE_WORDS * 8)
}

impl Memcached {
    fn cache_word(&self, image: &dyn Image, offset: u64) -> u64 {
        image.word(Addr(self.cache.addr(0).0 + offset))
    }

    fn class_word(&self, image: &dyn Image, class: u64, offset: u64) -> u64 {
        image.word(Addr(self.classes.addr(class).0 + offset))
    }

    /// The class of the chunk at this address, if there is one that was ever used.
    fn class_of(&self, image: &dyn Image, chunk: u64) -> Option<u64> {
        let pages = self.pages.range();
        let (page, offset) = (
            chunk.checked_sub(pages.start)? / self.page,
            (chunk - pages.start) % self.page,
        );
        let owner = (page < self.pages.rows()).then(|| image.word(self.owners.addr(page)))?;
        let class = owner.checked_sub(1).filter(|class| *class < CLASSES)?;
        let whole = offset % chunk_bytes(class) == 0 && offset + chunk_bytes(class) <= self.page;
        (whole && !self.is_unused(image, class, chunk)).then_some(class)
    }

    /// Whether a chunk of a class belongs to those of its newest page that were never used.
    fn is_unused(&self, image: &dyn Image, class: u64, chunk: u64) -> bool {
        let unused = self.class_word(image, class, class::UNUSED);
        (unused..self.class_word(image, class, class::PAGE_END)).contains(&chunk)
    }

    /// Reads the item at this address.
    fn found(&self, image: &dyn Image, at: u64) -> Result<FoundItem, String> {
        let class = self
            .class_of(image, at)
            .ok_or_else(|| format!("{} is linked and no chunk", Addr(at)))?;
        let word = |offset| image.word(Addr(at + offset));
        let (key, meta) = (word(item::KEY), word(item::META));
        let words = (meta & 0xff) / 8;
        let fits = (LEAST_BYTES / 8..=MOST_BYTES / 8).contains(&words) && (words - 1) / LINE_WORDS == class;
        if !fits || meta & 7 != 0 || meta >> CLASS_SHIFT & 0xff != class {
            return Err(format!(
                "the item at {} has the meta word {meta:#x} in class {class}",
                Addr(at)
            ));
        }
        if word(item::KEY + 8) != !key {
            return Err(format!("the item at {} has half of the key {key:#x}", Addr(at)));
        }
        let value = image.word(value_at(at, 0));
        let whole = (1..words).all(|i| image.word(value_at(at, i)) == value.wrapping_add(i));
        if !is_value_of(key, value) || !whole {
            return Err(format!(
                "key {key:#x} has {value:#x} and what follows, which is no value of it"
            ));
        }
        Ok(FoundItem {
            key,
            class,
            words,
            value,
            time: meta >> TIME_SHIFT,
            unique: word(item::UNIQUE),
        })
    }

    /// Walks a chain.
    fn see_chain(&self, image: &dyn Image, chain: u64, seen: &mut Seen) -> Result<(), String> {
        let mut at = image.word(self.buckets.addr(chain));
        while at != 0 {
            let found = self.found(image, at)?;
            if self.chain_of(found.key) != chain {
                return Err(format!("key {:#x} is in chain {chain}, not in its own", found.key));
            }
            if seen.items.insert(at, found).is_some() {
                return Err(format!("the item at {} is linked twice", Addr(at)));
            }
            at = image.word(Addr(at + item::CHAIN));
        }
        Ok(())
    }

    /// The items of a class, the most recently used first.
    pub(super) fn used(&self, image: &dyn Image, class: u64, seen: &Seen) -> Result<Vec<FoundItem>, String> {
        let (mut at, mut newer) = (self.class_word(image, class, class::FRONT), 0);
        let mut used: Vec<FoundItem> = Vec::new();
        while at != 0 {
            let known = seen
                .items
                .get(&at)
                .filter(|found| found.class == class && used.len() < seen.items.len());
            let Some(found) = known else {
                return Err(format!(
                    "the list of class {class} has {}, which is no item of it, or a circle",
                    Addr(at)
                ));
            };
            if image.word(Addr(at + item::NEWER)) != newer {
                return Err(format!(
                    "the item at {} does not link back to {}",
                    Addr(at),
                    Addr(newer)
                ));
            }
            if used.last().is_some_and(|before| before.time < found.time) {
                return Err(format!("key {:#x} was used after the item before it", found.key));
            }
            used.push(*found);
            (newer, at) = (at, image.word(Addr(at + item::OLDER)));
        }
        let (end, items) = (
            self.class_word(image, class, class::END),
            self.class_word(image, class, class::ITEMS),
        );
        let linked = seen.items.values().filter(|found| found.class == class).count();
        if end != newer || items != used.len() as u64 || linked != used.len() {
            let listed = used.len();
            return Err(format!(
                "class {class}: {listed} items are listed, {linked} chained, {items} counted; its end is {}",
                Addr(end)
            ));
        }
        Ok(used)
    }

    /// Walks the free chunks of a class.
    fn see_free(&self, image: &dyn Image, class: u64, seen: &mut Seen) -> Result<(), String> {
        let mut at = self.class_word(image, class, class::FREE);
        while at != 0 {
            if self.class_of(image, at) != Some(class) || image.word(Addr(at + item::META)) != 0 {
                return Err(format!(
                    "class {class} has {} as free, which is none of its free chunks",
                    Addr(at)
                ));
            }
            if seen.items.contains_key(&at) || !seen.free.insert(at) {
                return Err(format!("the chunk at {} is free and used, or free twice", Addr(at)));
            }
            at = image.word(Addr(at + item::CHAIN));
        }
        Ok(())
    }

    /// The pages belong to classes, and each chunk that was ever used is an item or free.
    fn check_pages(&self, image: &dyn Image, seen: &Seen) -> Result<(), String> {
        let pages = self.cache_word(image, cache::PAGES);
        let owner = |page| image.word(self.owners.addr(page));
        if pages > self.pages.rows() {
            return Err(format!("{pages} pages are in use, of {}", self.pages.rows()));
        }
        let wrong = (0..self.pages.rows()).find(|page| (1..=CLASSES).contains(&owner(*page)) != (*page < pages));
        if let Some(page) = wrong {
            return Err(format!(
                "page {page} has the owner {}, and {pages} pages are in use",
                owner(page)
            ));
        }
        for page in 0..pages {
            let (start, bytes) = (self.pages.addr(page).0, chunk_bytes(owner(page) - 1));
            for chunk in (0..self.page / bytes).map(|chunk| start + chunk * bytes) {
                let known = seen.items.contains_key(&chunk) || seen.free.contains(&chunk);
                if !known && !self.is_unused(image, owner(page) - 1, chunk) {
                    return Err(format!(
                        "the chunk at {} is lost: neither an item nor free",
                        Addr(chunk)
                    ));
                }
            }
        }
        Ok(())
    }

    /// All items, if chains are sound and no key is there twice.
    pub(super) fn chained(&self, image: &dyn Image) -> Result<Seen, String> {
        let mut seen = Seen::default();
        (0..self.buckets.rows()).try_for_each(|chain| self.see_chain(image, chain, &mut seen))?;
        let sets = self.cache_word(image, cache::SETS);
        let (mut keys, mut uniques) = (BTreeSet::new(), BTreeSet::new());
        for found in seen.items.values() {
            if !keys.insert(found.key) {
                return Err(format!("key {:#x} is there twice", found.key));
            }
            if !(found.unique..=sets).contains(&found.time) || found.unique == 0 || !uniques.insert(found.unique) {
                let FoundItem { key, unique, time, .. } = found;
                return Err(format!(
                    "key {key:#x} is of set {unique}, used at {time}, of {sets} sets"
                ));
            }
        }
        Ok(seen)
    }

    pub(super) fn check_cache(&self, image: &dyn Image) -> Result<(), String> {
        let mut seen = self.chained(image)?;
        for class in 0..CLASSES {
            self.used(image, class, &seen)?;
            self.see_free(image, class, &mut seen)?;
        }
        self.check_pages(image, &seen)
    }
}
