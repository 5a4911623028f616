//! The speculation buffer of a controller.

use super::paths::Stamp;
use strandline_isa::{CoreId, Line};

/// A recently written line.
#[derive(Clone, Debug)]
struct Written {
    line: Line,
    /// The newest store of those that have arrived.
    newest: Stamp,
}

/// A line that the LLC has recently dropped.
#[derive(Clone, Debug)]
struct Dropped {
    line: Line,
    /// When it was dropped.
    since: Stamp,
    /// The cores that have fetched it since.
    fetched: Vec<CoreId>,
}

/// The speculation buffer.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    written: Vec<Written>,
    dropped: Vec<Dropped>,
}

impl Buffer {
    /// Entries in use.
    pub fn len(&self) -> usize {
        self.written.len() + self.dropped.len()
    }

    /// Removes expired entries.
    pub fn forget(&mut self, is_over: impl Fn(Stamp) -> bool) {
        self.written.retain(|entry| !is_over(entry.newest));
        self.dropped.retain(|entry| !is_over(entry.since));
    }

    /// The oldest moment of an entry.
    pub fn oldest(&self) -> Option<Stamp> {
        let written = self.written.iter().map(|entry| entry.newest);
        let dropped = self.dropped.iter().map(|entry| entry.since);
        written.chain(dropped).min_by_key(|stamp| stamp.at)
    }

    /// Whether it has an entry for stores to a line.
    pub fn holds_written(&self, line: Line) -> bool {
        self.written.iter().any(|entry| entry.line == line)
    }

    /// When a line was dropped, if it has an entry for the drop.
    pub fn dropped_since(&self, line: Line) -> Option<Stamp> {
        let entry = self.dropped.iter().find(|entry| entry.line == line);
        entry.map(|entry| entry.since)
    }

    /// Whether a younger store to the line of the store of this number has arrived.
    pub fn is_late(&self, line: Line, order: u64) -> bool {
        let mut of_line = self.written.iter().filter(|entry| entry.line == line);
        of_line.any(|entry| entry.newest.order > order)
    }

    /// Records that a store to a line has arrived.
    pub fn write(&mut self, line: Line, stamp: Stamp) {
        match self.written.iter_mut().find(|entry| entry.line == line) {
            Some(entry) if entry.newest.order > stamp.order => {}
            Some(entry) => entry.newest = stamp,
            None => self.written.push(Written { line, newest: stamp }),
        }
    }

    /// Records that a line is dropped. Cores that have fetched it after an earlier drop may still
    /// have read stale bytes.
    pub fn drop_line(&mut self, line: Line, since: Stamp) {
        match self.dropped.iter_mut().find(|entry| entry.line == line) {
            Some(entry) => entry.since = since,
            None => self.dropped.push(Dropped {
                line,
                since,
                fetched: Vec::new(),
            }),
        }
    }

    /// Records that a core fetches a line.
    pub fn fetch(&mut self, line: Line, core: CoreId) {
        if let Some(entry) = self.dropped.iter_mut().find(|entry| entry.line == line) {
            entry.fetched.push(core);
        }
    }

    /// Whether a core's fetches may still prove stale, and since when that counts.
    pub fn speculates(&self, core: CoreId) -> Option<Stamp> {
        let mut fetched = self.dropped.iter().filter(|entry| entry.fetched.contains(&core));
        fetched.next().map(|entry| entry.since)
    }

    /// A store arrives: whether its line was fetched without it. Each such load is found once.
    pub fn finds_stale(&mut self, line: Line, order: u64) -> bool {
        let entry = self.dropped.iter_mut().find(|entry| entry.line == line);
        let Some(entry) = entry.filter(|entry| order <= entry.since.order) else {
            return false;
        };
        !std::mem::take(&mut entry.fetched).is_empty()
    }
}
