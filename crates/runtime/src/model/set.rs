//! A set of lines or words with data for each, in the program's own volatile memory.

use crate::TooLarge;
use std::panic::resume_unwind;
use strandline_isa::{sites, Addr, Cpu, LINE_BYTES, W};

sites! {
    CHAIN_GOES_ON = 0x2ddd_4aa3;
    KEY_MATCHES = 0x983f_9af7;
    SLOT_MATCHES = 0x5c07_7618;
    SLOT_IS_USED = 0xa066_ef3c;
}

/// The most items.
pub(crate) const MOST_ITEMS: u64 = 512;

/// Bytes of an item: key, two words of data, and the item of the same slot before it.
pub(crate) const LINE_ITEM: u64 = 32;

const SLOTS: u64 = 256;

/// Bytes of a set.
pub(crate) const SET_BYTES: u64 = MOST_ITEMS * LINE_ITEM + SLOTS * 8;
const _: () = assert!(SET_BYTES % LINE_BYTES == 0);

const DATA: u64 = 8;
const EXTRA: u64 = 16;
const BEFORE: u64 = 24;

/// A list in the order of insertion, found by hashing. A slot names its newest item; the item
/// itself shows whether it belongs to this filling of the set. So the set is emptied by a reset of
/// its length (Briggs and Torczon, LOPLAS 1993). Zeroed memory suffices.
pub(crate) struct Set<'c, C: Cpu> {
    cpu: &'c C,
    items: Addr,
    /// Bits of a key that are always zero.
    shift: u64,
    /// The kind of its keys.
    what: &'static str,
    /// The offset behind the last item.
    pub end: W<'c, C>,
}

/// The address of an item.
pub(crate) struct Item<'c, C: Cpu>(W<'c, C>);

impl<'c, C: Cpu> Set<'c, C> {
    /// The empty set of lines at this address.
    pub fn of_lines(cpu: &'c C, at: Addr) -> Self {
        Set::new(cpu, at, LINE_BYTES.trailing_zeros(), "lines")
    }

    /// The empty set of words at this address.
    pub fn of_words(cpu: &'c C, at: Addr) -> Self {
        Set::new(cpu, at, 3, "words")
    }

    fn new(cpu: &'c C, at: Addr, shift: u32, what: &'static str) -> Self {
        Set {
            cpu,
            items: at,
            shift: u64::from(shift),
            what,
            end: cpu.word(0),
        }
    }

    fn slot(&self, key: W<'c, C>) -> W<'c, C> {
        (((key >> self.shift) & (SLOTS - 1)) << 3).at(self.items.0 + MOST_ITEMS * LINE_ITEM)
    }

    /// The item at this offset.
    pub fn item(&self, offset: W<'c, C>) -> Item<'c, C> {
        Item(offset.at(self.items.0))
    }

    /// The item with this key, if there is one.
    pub fn find(&self, key: W<'c, C>) -> Option<Item<'c, C>> {
        let _call = key.call(2);
        let slot = self.slot(key);
        let mut offset = slot.load();
        while offset.less(self.end).branch(CHAIN_GOES_ON) {
            let item = self.item(offset);
            let found = item.key();
            if found.equals(key).branch(KEY_MATCHES) {
                return Some(item);
            }
            // An item of another slot: the slot was written in an earlier filling.
            if !self.slot(found).equals(slot).branch(SLOT_MATCHES) {
                return None;
            }
            offset = item.0.at(BEFORE).load();
        }
        None
    }

    /// Adds an item with a key that is not there.
    ///
    /// If there are [`MOST_ITEMS`] already, it unwinds with a [`TooLarge`], which the runner of the
    /// program catches.
    pub fn insert(&mut self, key: W<'c, C>, data: W<'c, C>, extra: W<'c, C>) {
        let _call = key.call(4);
        if self.end.bits() >= MOST_ITEMS * LINE_ITEM {
            too_many(self.what);
        }
        let slot = self.slot(key);
        let before = slot.load();
        // A slot's item from an earlier filling ends the chain: it is behind the newest item as
        // well.
        let before = match before.less(self.end).branch(SLOT_IS_USED) {
            true => before,
            false => self.cpu.word(MOST_ITEMS * LINE_ITEM),
        };
        let at = self.end.at(self.items.0);
        at.store(key);
        at.at(DATA).store(data);
        at.at(EXTRA).store(extra);
        at.at(BEFORE).store(before);
        slot.store(self.end);
        self.end = self.end + LINE_ITEM;
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.end = self.cpu.word(0);
    }
}

impl<'c, C: Cpu> Item<'c, C> {
    /// Its key.
    pub fn key(&self) -> W<'c, C> {
        self.0.load()
    }

    /// Its first word of data.
    pub fn data(&self) -> W<'c, C> {
        self.0.at(DATA).load()
    }

    /// Its second word of data.
    pub fn extra(&self) -> W<'c, C> {
        self.0.at(EXTRA).load()
    }

    /// Replaces its data.
    pub fn set_data(&self, data: W<'c, C>) {
        self.0.at(DATA).store(data);
    }
}

#[cold]
#[inline(never)]
fn too_many(what: &'static str) -> ! {
    resume_unwind(Box::new(TooLarge { what, needed: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{finish, Plain};
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use strandline_isa::{CoreId, Lowering, Memory};

    proptest! {
        #[test]
        fn what_was_put_in_is_found_and_nothing_else_after_any_number_of_fillings(
            fillings in prop::collection::vec(prop::collection::vec(0u64..2000, 0..120), 1..6),
        ) {
            let memory = Memory::new(SET_BYTES + 64, 0);
            let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
            let held = finish(|| {
                let mut set = Set::of_words(&cpu, Addr(64));
                for filling in &fillings {
                    let mut model = BTreeMap::new();
                    for key in filling {
                        let word = cpu.word(key * 8);
                        match set.find(word) {
                            Some(item) => item.set_data(item.data() + 1),
                            None => set.insert(word, cpu.word(0), word),
                        }
                        model.entry(*key).and_modify(|times: &mut u64| *times += 1).or_insert(0);
                    }
                    for key in 0..2000 {
                        let found = set.find(cpu.word(key * 8)).map(|item| item.data().bits());
                        if found != model.get(&key).copied() {
                            return false;
                        }
                    }
                    set.clear();
                }
                true
            });
            prop_assert_eq!(held, Ok(true));
        }
    }
}
