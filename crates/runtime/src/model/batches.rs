//! Logs that commit in batches, and wait for other lanes where these come first.

/// A lane's log whose regions are committed some time after they have ended.
pub(crate) trait Batches {
    /// Whether too much of the log, or of what is known of its regions, is in use.
    fn is_scarce(&self) -> bool;

    /// Whether every region that has ended is committed.
    fn is_settled(&self) -> bool;

    /// Commits what may be committed, if there is something: whether there was.
    async fn commit(&mut self) -> bool;

    /// Lets others go on, who may have to commit first.
    async fn give_way(&self);

    /// Commits, or waits until others have, before too much of the log is used. No lock is held, so they can.
    async fn make_room(&mut self) {
        while self.is_scarce() {
            if !self.commit().await {
                self.give_way().await;
            }
        }
    }

    /// Commits everything, waiting for others where it depends on them. They never wait for this lane while it holds locks, as it
    /// holds none here.
    async fn close(&mut self) {
        while !self.is_settled() {
            if !self.commit().await {
                self.give_way().await;
            }
        }
    }
}
