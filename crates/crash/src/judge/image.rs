//! A crash image that recovery can write to. The writes are undone afterwards.

use std::cell::{Cell, RefCell};
use strandline_isa::{Addr, Image, Memory};

/// A view of memory that saves overwritten words and restores them when it is dropped.
///
/// After an order violation, recovery may follow a wild pointer. A wild read yields zero, a wild write does nothing,
/// and the first one is recorded.
pub struct Rewind<'m> {
    memory: &'m Memory,
    replaced: RefCell<Vec<(Addr, u64)>>,
    stray: Cell<Option<Addr>>,
    accesses: Cell<u64>,
    was_dirty: bool,
}

impl<'m> Rewind<'m> {
    /// A view of `memory`, which has no other writer during its lifetime; whether the shutdown before was a dirty one.
    pub fn new(memory: &'m Memory, was_dirty: bool) -> Rewind<'m> {
        Rewind {
            was_dirty,
            memory,
            replaced: RefCell::default(),
            stray: Cell::new(None),
            accesses: Cell::new(0),
        }
    }

    /// The number of words read and written so far.
    pub fn accesses(&self) -> u64 {
        self.accesses.get()
    }

    /// The first accessed address that is outside memory or not a multiple of 8.
    pub fn stray(&self) -> Option<Addr> {
        self.stray.get()
    }

    #[inline(always)]
    fn find(&self, addr: Addr) -> Option<&Cell<u64>> {
        self.accesses.set(self.accesses.get() + 1);
        match self.memory.find_touched(addr) {
            Some(word) => Some(word),
            None => self.find_anywhere(addr),
        }
    }

    #[cold]
    #[inline(never)]
    fn find_anywhere(&self, addr: Addr) -> Option<&Cell<u64>> {
        let found = self.memory.find(addr);
        if found.is_none() {
            self.stray.set(self.stray.get().or(Some(addr)));
        }
        found
    }
}

impl Image for Rewind<'_> {
    fn word(&self, addr: Addr) -> u64 {
        self.find(addr).map_or(0, Cell::get)
    }

    fn set_word(&self, addr: Addr, value: u64) {
        if let Some(word) = self.find(addr) {
            self.replaced.borrow_mut().push((addr, word.replace(value)));
        }
    }

    fn was_dirty(&self) -> bool {
        self.was_dirty
    }
}

impl Drop for Rewind<'_> {
    fn drop(&mut self) {
        for (addr, old) in self.replaced.take().into_iter().rev() {
            self.memory.set_word(addr, old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strandline_isa::PM_BASE;

    const WORDS: u64 = 24;

    fn place(index: u64) -> Addr {
        match index < WORDS {
            true => Addr(index * 8),
            false => Addr(PM_BASE + (index - WORDS) * 8),
        }
    }

    fn words(memory: &Memory) -> Vec<u64> {
        (0..2 * WORDS).map(|i| memory.word(place(i))).collect()
    }

    proptest! {
        #[test]
        fn writes_are_seen_and_then_taken_back(writes in prop::collection::vec((0..2 * WORDS, any::<u64>()), 0..80)) {
            let memory = Memory::new(WORDS * 8, WORDS * 8);
            (0..2 * WORDS).for_each(|i| memory.set_word(place(i), i + 1000));
            let before = words(&memory);
            let mut model = before.clone();
            {
                let view = Rewind::new(&memory, false);
                for (index, value) in writes {
                    view.set_word(place(index), value);
                    model[index as usize] = value;
                }
                let seen: Vec<u64> = (0..2 * WORDS).map(|i| view.word(place(i))).collect();
                prop_assert_eq!(seen, model);
                prop_assert_eq!(view.stray(), None);
            }
            prop_assert_eq!(words(&memory), before);
        }
    }

    #[test]
    fn the_first_stray_address_is_kept_and_harms_nothing() {
        let memory = Memory::new(64, 64);
        let view = Rewind::new(&memory, false);
        assert_eq!(view.word(Addr(PM_BASE + 64)), 0);
        view.set_word(Addr(64), 7);
        view.set_word(Addr(4), 7);
        assert_eq!(view.stray(), Some(Addr(PM_BASE + 64)));
        drop(view);
        assert_eq!(memory.word(Addr(0)), 0);
    }
}
