//! The block look-up table: the lines that a core's speculative loads and stores have touched
//! (Speculative Persistence, section 4.2.2).

use crate::speculative::rules::Rule;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use strandline_design::Access;
use strandline_isa::Line;
use strandline_kernel::NumberHasher;
use strandline_rules::broken;

/// The table of one core.
#[derive(Clone, Debug)]
pub struct Table {
    room: usize,
    by_epoch: bool,
    lines: HashMap<Line, Touched, BuildHasherDefault<NumberHasher>>,
    /// The latest access that was entered: the next one is often the same.
    latest: Option<(Line, u64, Access)>,
}

/// The epochs that have touched a line.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    loaded: Option<Span>,
    stored: Option<Span>,
}

/// The first and the last of them, by number. Those in between count, too, which rolls back more than necessary, but
/// never less.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    last: u64,
}

impl Span {
    /// What is left of it between these epochs, both included.
    fn within(self, first: u64, last: u64) -> Option<Span> {
        let (first, last) = (self.first.max(first), self.last.min(last));
        (first <= last).then_some(Span { first, last })
    }
}

impl Touched {
    /// The oldest epoch whose access conflicts with a request of another core. A copy to read takes
    /// nothing from loads.
    fn by(&self, access: Access) -> Option<u64> {
        let loaded = self.loaded.filter(|_| access == Access::Own);
        [loaded, self.stored].into_iter().flatten().map(|span| span.first).min()
    }
}

impl Table {
    pub fn new(room: usize, by_epoch: bool) -> Table {
        Table {
            room,
            by_epoch,
            lines: HashMap::default(),
            latest: None,
        }
    }

    /// Enters an access of an epoch; false if there is no room for the line.
    pub fn touch(&mut self, line: Line, epoch: u64, access: Access) -> bool {
        if broken(Rule::SpTableHoldsLoads) && access == Access::Read {
            return true;
        }
        if self.latest == Some((line, epoch, access)) {
            return true;
        }
        if !self.has_room_for(line) {
            return false;
        }
        self.latest = Some((line, epoch, access));
        let touched = self.lines.entry(line).or_default();
        let span = match access {
            Access::Read => &mut touched.loaded,
            Access::Own => &mut touched.stored,
        };
        span.get_or_insert(Span {
            first: epoch,
            last: epoch,
        })
        .last = epoch;
        true
    }

    /// Whether it holds the line or has room for it.
    pub fn has_room_for(&self, line: Line) -> bool {
        self.lines.len() < self.room || self.holds(line)
    }

    /// The epoch with which another core's request conflicts, if any: without distinction of epochs
    /// the number only says that there is a conflict.
    pub fn conflict(&self, line: Line, access: Access) -> Option<u64> {
        self.lines.get(&line).and_then(|touched| touched.by(access))
    }

    /// Whether it holds the line.
    pub fn holds(&self, line: Line) -> bool {
        self.lines.contains_key(&line)
    }

    /// An epoch has committed: a table that distinguishes epochs forgets it.
    pub fn commit(&mut self, epoch: u64) {
        if self.by_epoch {
            self.keep_within(epoch + 1, u64::MAX);
        }
    }

    /// Epochs from this one on are void.
    pub fn cut(&mut self, epoch: u64) {
        self.keep_within(0, epoch - 1);
    }

    /// Speculation is over.
    pub fn clear(&mut self) {
        self.latest = None;
        self.lines.clear();
    }

    fn keep_within(&mut self, first: u64, last: u64) {
        self.latest = None;
        self.lines.retain(|_, touched| {
            touched.loaded = touched.loaded.and_then(|span| span.within(first, last));
            touched.stored = touched.stored.and_then(|span| span.within(first, last));
            touched.loaded.is_some() || touched.stored.is_some()
        });
    }
}
