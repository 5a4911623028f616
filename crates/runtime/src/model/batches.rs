//! Logs that commit in batches, and wait for other lanes on which these depend.

/// A lane's log whose regions are committed some time after their end.
pub(crate) trait Batches {
    /// Whether too much of the log, or of its ledger, is in use.
    fn is_scarce(&self) -> bool;

    /// Whether every region that has ended is committed.
    fn is_settled(&self) -> bool;

    /// Commits the sections that may be committed; whether there were any.
    fn commit(&mut self) -> bool;

    /// Yields to others, which may have to commit first.
    fn give_way(&self);

    /// Commits, or waits until others have, before too much of the log is used. No lock is held, so
    /// others can commit.
    fn make_room(&mut self) {
        while self.is_scarce() {
            if !self.commit() {
                self.give_way();
            }
        }
    }

    /// Commits everything, and waits for others on which it depends. They never wait for this lane
    /// while it holds locks, as it holds none here.
    fn close(&mut self) {
        while !self.is_settled() {
            if !self.commit() {
                self.give_way();
            }
        }
    }
}
