//! A list of the open step of a region, in the program's own volatile memory.

use strandline_isa::{Addr, Cpu, Line, W};

/// The most items of a list of usual size: records, or lines, of one step.
pub(crate) const MOST_ITEMS: u64 = 64;

/// Items of `WORDS` words each, and the bytes in use. Zeroed memory is an empty list.
/// It costs what a compiled loop over an array costs. An item's address needs no micro-op of its
/// own: the array's address and the offset in it are the two parts of an x86 address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<const WORDS: usize> {
    /// The word with the number of bytes in use.
    length: Addr,
    items: Addr,
    /// The bytes of the longest list.
    most: u64,
}

impl<const WORDS: usize> List<WORDS> {
    /// Bytes of an item.
    pub const ITEM: u64 = 8 * WORDS as u64;

    /// The list of at most `most` items whose length is the word at `length`, and whose items begin at `items`.
    pub fn new(length: Addr, items: Addr, most: u64) -> Self {
        List {
            length,
            items,
            most: Self::ITEM * most,
        }
    }

    /// The offset behind the last item, 0 if there is none: one load.
    #[inline(always)]
    pub fn end<'c, C: Cpu>(&self, cpu: &'c C) -> W<'c, C> {
        cpu.word(self.length.0).load()
    }

    /// Appends an item, at the offset that is the list's end: a store for each word, an addition, a store.
    ///
    /// # Panics
    /// If the list is full.
    #[inline(always)]
    pub fn push<'c, C: Cpu>(&self, cpu: &'c C, end: W<'c, C>, item: [W<'c, C>; WORDS]) {
        if end.bits() >= self.most {
            too_many(self.most / Self::ITEM);
        }
        for (i, word) in item.into_iter().enumerate() {
            self.word(end, i).store(word);
        }
        cpu.word(self.length.0).store(end + Self::ITEM);
    }

    /// The word `i` of the item at `offset`: one load.
    #[inline(always)]
    pub fn get<'c, C: Cpu>(&self, offset: W<'c, C>, i: usize) -> W<'c, C> {
        self.word(offset, i).load()
    }

    /// Removes all items: one store.
    #[inline(always)]
    pub fn clear<C: Cpu>(&self, cpu: &C) {
        cpu.word(self.length.0).store(cpu.word(0));
    }

    #[inline(always)]
    fn word<'c, C: Cpu>(&self, offset: W<'c, C>, i: usize) -> W<'c, C> {
        offset.at(self.items.0 + 8 * i as u64)
    }
}

/// The lines of the open step once more, for assertions only: empty without assertions.
#[derive(Default)]
pub(crate) struct KnownLines(Vec<Line>);

impl KnownLines {
    /// Adds the line at this address, which the step does not have yet.
    #[inline(always)]
    pub fn add(&mut self, line: u64) {
        if cfg!(debug_assertions) {
            let line = Addr(line).line();
            assert!(!self.0.contains(&line), "{} is logged twice in a step", line.addr());
            self.0.push(line);
        }
    }

    /// Asserts that the step has the line of this address.
    #[inline(always)]
    pub fn expect(&self, at: u64) {
        debug_assert!(self.0.contains(&Addr(at).line()), "{} was not logged", Addr(at));
    }

    /// Forgets them: the step has ended.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cold]
#[inline(never)]
fn too_many(most: u64) -> ! {
    panic!("a step of more than {most} undo-log records or lines: at most {most} fit");
}
