//! Lines that take host memory when they are first touched.

use crate::{Line, LineData};
use std::array::from_fn;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The initial bytes of a line.
pub type Filler = Arc<dyn Fn(Line) -> LineData + Send + Sync>;

/// The words of a line.
pub type Cells = [Cell<u64>; 8];

/// Lines that are kept together. Tasks touch single lines, so larger blocks would hold many untouched ones.
pub const BLOCK: usize = 8;

type Block = Box<[Cells; BLOCK]>;

/// An array of lines. The host has only the touched blocks.
#[derive(Clone)]
pub struct Sparse {
    blocks: Box<[OnceCell<Block>]>,
    /// The first line.
    base: Line,
    lines: usize,
    fillers: RefCell<Vec<(Range<u64>, Filler)>>,
    /// What untouched blocks hold before `fillers` fill them; zeros if there is none.
    under: Option<Arc<Mutex<Sparse>>>,
}

impl Sparse {
    /// So many zeroed lines from `base` on.
    pub fn new(base: Line, lines: usize) -> Sparse {
        Sparse {
            blocks: (0..lines.div_ceil(BLOCK)).map(|_| OnceCell::new()).collect(),
            base,
            lines,
            fillers: RefCell::default(),
            under: None,
        }
    }

    /// The lines of `under`, each of whose blocks is copied when it is touched.
    pub fn over(under: &Arc<Mutex<Sparse>>) -> Sparse {
        let (base, lines) = with(under, |under| (under.base, under.lines));
        Sparse {
            under: Some(under.clone()),
            ..Sparse::new(base, lines)
        }
    }

    /// Zeroed lines, as many as these.
    pub fn zeroed(&self) -> Sparse {
        Sparse::new(self.base, self.lines)
    }

    /// Adds zeroed lines at the end.
    pub fn extend(&mut self, lines: usize) {
        self.lines += lines;
        let mut blocks = std::mem::take(&mut self.blocks).into_vec();
        blocks.resize_with(self.lines.div_ceil(BLOCK), OnceCell::new);
        self.blocks = blocks.into_boxed_slice();
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.lines
    }

    /// Number of lines in touched blocks, without those of lines that it lies over.
    pub fn touched(&self) -> usize {
        BLOCK * self.blocks.iter().filter(|block| block.get().is_some()).count()
    }

    /// Bytes of the host for the places of its blocks, touched or not.
    pub fn places_bytes(&self) -> u64 {
        size_of_val(&*self.blocks) as u64
    }

    /// Whether any line with one of these indices is in a touched block, or will be filled when it is touched.
    pub fn has_data(&self, indices: Range<usize>) -> bool {
        let first = self.base.0 + indices.start as u64;
        let bytes = Line(first).addr().0..Line(first + indices.len() as u64).addr().0;
        let fills = |(range, _): &(Range<u64>, Filler)| range.start < bytes.end && bytes.start < range.end;
        let blocks = indices.start / BLOCK..indices.end.div_ceil(BLOCK).min(self.blocks.len());
        let of_under = |under: &Sparse| {
            let known = indices.start.min(under.lines)..indices.end.min(under.lines);
            under.has_data(known)
        };
        self.fillers.borrow().iter().any(fills)
            || self.blocks[blocks].iter().any(|block| block.get().is_some())
            || self.under.as_ref().is_some_and(|under| with(under, of_under))
    }

    /// The words of the line with this index, if there is one in a touched block.
    #[inline(always)]
    pub fn find_touched(&self, index: usize) -> Option<&Cells> {
        let block = self.blocks.get(index / BLOCK)?.get()?;
        (index < self.lines).then(|| &block[index % BLOCK])
    }

    /// The words of the line with this index, which is below [`Sparse::len`].
    #[inline(always)]
    pub fn line(&self, index: usize) -> &Cells {
        debug_assert!(index < self.lines, "line {index} of {}", self.lines);
        let block = match self.blocks[index / BLOCK].get() {
            Some(block) => block,
            None => self.touch(index / BLOCK),
        };
        &block[index % BLOCK]
    }

    /// Takes host memory for a block.
    #[cold]
    #[inline(never)]
    fn touch(&self, block: usize) -> &Block {
        self.blocks[block].get_or_init(|| self.untouched(block))
    }

    /// What an untouched block holds.
    fn untouched(&self, block: usize) -> Block {
        let lines = match &self.under {
            Some(under) => with(under, |under| under.copied(block)),
            None => Box::new(from_fn(|_| from_fn(|_| Cell::new(0)))),
        };
        for (range, filler) in &*self.fillers.borrow() {
            self.fill_block(block, &lines, range, filler);
        }
        lines
    }

    /// What a block holds, which may lie behind the end.
    fn copied(&self, block: usize) -> Block {
        match self.blocks.get(block).and_then(OnceCell::get) {
            Some(lines) => lines.clone(),
            None => self.untouched(block),
        }
    }

    /// Fills the lines in `range` of a block.
    fn fill_block(&self, block: usize, lines: &Block, range: &Range<u64>, filler: &Filler) {
        for (index, cells) in lines.iter().enumerate() {
            let line = Line(self.base.0 + (block * BLOCK + index) as u64);
            if range.contains(&line.addr().0) {
                cells.iter().zip(filler(line)).for_each(|(cell, word)| cell.set(word));
            }
        }
    }

    /// Replaces the lines in `range`, at once or when they are first touched.
    pub fn fill(&self, range: Range<u64>, filler: Filler) {
        for (number, block) in self.blocks.iter().enumerate() {
            if let Some(lines) = block.get() {
                self.fill_block(number, lines, &range, &filler);
            }
        }
        self.fillers.borrow_mut().push((range, filler));
    }
}

/// Looks at lines that others lie over. No thread panics meanwhile and leaves something half done: nothing is changed.
fn with<T>(under: &Mutex<Sparse>, look: impl FnOnce(&Sparse) -> T) -> T {
    look(&under.lock().unwrap_or_else(PoisonError::into_inner))
}
