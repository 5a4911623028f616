//! Lines whose stores the design watches.

use super::Core;
use std::cell::{Cell, RefCell};
use strandline_isa::Line;

/// Lines whose stores the design watches, once for each request.
#[derive(Default)]
pub struct Watches {
    lines: RefCell<Vec<Line>>,
    /// Whether there are any.
    any: Cell<bool>,
}

impl Core {
    /// Whether the design watches stores to this line.
    #[inline(always)]
    pub fn is_watched(&self, line: Line) -> bool {
        self.watches.any.get() && self.looks_watched(line)
    }

    #[cold]
    #[inline(never)]
    fn looks_watched(&self, line: Line) -> bool {
        self.watches.lines.borrow().contains(&line)
    }

    /// The design watches stores to this line, once more.
    pub fn watch(&self, line: Line) {
        self.watches.lines.borrow_mut().push(line);
        self.watches.any.set(true);
    }

    /// The design gives up one of its watches of stores to this line.
    pub fn unwatch(&self, line: Line) {
        let mut lines = self.watches.lines.borrow_mut();
        if let Some(index) = lines.iter().position(|watched| *watched == line) {
            lines.swap_remove(index);
        }
        self.watches.any.set(!lines.is_empty());
    }
}
