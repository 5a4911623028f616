//! Stores that wait for their line, or have lost it.

use super::{Core, Lost};
use strandline_isa::Line;

impl Core {
    /// Whether a store in the queue has requested ownership of this line.
    pub fn awaits_own(&self, line: Line) -> bool {
        self.queue
            .borrow()
            .iter()
            .any(|entry| entry.owned != 0 && entry.line() == line)
    }

    /// When a store that the design keeps writes this line, of which it has requested ownership.
    pub fn performs(&self, line: Line) -> Option<u64> {
        let kept = self.kept.borrow();
        let mut due = kept.iter().filter(|entry| entry.owned != 0 && entry.line() == line);
        due.next().map(|entry| entry.owned)
    }

    /// A store that has requested this line again after losing it, if it waits for nothing else.
    pub fn lost(&self, line: Line) -> Option<Lost> {
        let due = self.drain.next.get();
        let queue = self.queue.borrow();
        let mut queued = queue.iter().filter(|entry| entry.lost && entry.line() == line);
        let first = queued.next().filter(|_| due != u64::MAX);
        first
            .map(|entry| Lost::of(entry, due))
            .or_else(|| self.lost_kept(|kept| kept == line))
    }

    /// A store that the design has kept, to one of these lines, that has requested its line again after losing it.
    pub fn lost_kept(&self, is_of: impl Fn(Line) -> bool) -> Option<Lost> {
        let kept = self.kept.borrow();
        let mut lost = kept.iter().filter(|entry| entry.lost && entry.owned != 0);
        let found = lost.find(|entry| is_of(entry.line()));
        found.map(|entry| Lost::of(entry, entry.owned))
    }

    /// How often the program has waited for its line, or a store has waited for this one or lost it.
    pub fn waits(&self, line: Line) -> u32 {
        let (queue, kept) = (self.queue.borrow(), self.kept.borrow());
        let stores = queue.iter().chain(kept.iter()).filter(|entry| entry.line() == line);
        let most = stores.map(|entry| u32::from(entry.waited)).max();
        self.waited.get().max(most.unwrap_or(0))
    }

    /// Whether the oldest store has requested its line again.
    pub fn has_lost_store(&self) -> bool {
        self.queue.borrow().front().is_some_and(|head| head.lost)
    }
}
