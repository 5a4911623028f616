//! The design's tags of lines in the caches.

use std::collections::HashMap;
use strandline_design::LineTag;
use strandline_isa::Line;

/// The tag of the newest copy of each line that has one. There is one newest copy of a line, so that its place in the
/// hierarchy need not be kept: the tag goes with it.
#[derive(Default)]
pub struct LineTags(HashMap<Line, LineTag>);

impl LineTags {
    /// The tag of a line.
    #[inline]
    pub fn get(&self, line: Line) -> Option<LineTag> {
        match self.0.is_empty() {
            true => None,
            false => self.0.get(&line).copied(),
        }
    }

    /// Writes the tag of a line.
    pub fn set(&mut self, line: Line, tag: LineTag) {
        self.0.insert(line, tag);
    }

    /// Clears the tag of a line.
    #[inline]
    pub fn remove(&mut self, line: Line) {
        if !self.0.is_empty() {
            self.0.remove(&line);
        }
    }
}
