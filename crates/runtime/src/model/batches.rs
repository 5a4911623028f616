//! Logs that commit in batches, and wait for other lanes on which these depend.

use super::ledger::Ledger;
use super::ring::Ring;
use strandline_isa::Cpu;

/// A lane's log whose regions are committed some time after their end.
pub(crate) trait Batches<'c, C: Cpu + 'c> {
    /// The back end, the entries, and the regions' dependences.
    fn parts(&self) -> (&'c C, &Ring<'c, C>, &Ledger<'c, C>);

    /// Commits the sections that may be committed; whether there were any.
    fn commit(&mut self) -> bool;

    /// Whether too much of the log, or of its ledger, is in use.
    fn is_scarce(&self) -> bool {
        let (_, ring, ledger) = self.parts();
        ring.is_scarce() || ledger.is_scarce()
    }

    /// Whether every region that has ended is committed.
    fn is_settled(&self) -> bool {
        self.parts().2.is_settled()
    }

    /// Yields to others, which may have to commit first.
    fn give_way(&self) {
        let (cpu, ..) = self.parts();
        cpu.give_way();
        cpu.spins();
    }

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
