//! Counts of lines that spare most searches for a line.

use strandline_isa::Line;

/// How many entries of a list have lines of each hash; most have none.
#[derive(Clone)]
pub struct LineCounts<const HASHES: usize>([u32; HASHES]);

impl<const HASHES: usize> LineCounts<HASHES> {
    /// Of an empty list.
    pub fn new() -> Self {
        LineCounts([0; HASHES])
    }

    #[inline(always)]
    fn hash(line: Line) -> usize {
        line.0 as usize % HASHES
    }

    /// An entry with this line joins the list.
    #[inline(always)]
    pub fn add(&mut self, line: Line) {
        self.0[Self::hash(line)] += 1;
    }

    /// An entry with this line leaves the list.
    #[inline(always)]
    pub fn remove(&mut self, line: Line) {
        self.0[Self::hash(line)] -= 1;
    }

    /// The most entries with this line that the list may have.
    #[inline(always)]
    pub fn most(&self, line: Line) -> u32 {
        self.0[Self::hash(line)]
    }
}
