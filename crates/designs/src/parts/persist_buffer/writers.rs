//! Who wrote a line last.

use super::EpochId;
use std::collections::BTreeMap;
use strandline_isa::{CoreId, Line};

/// The last writer of each line that was written in an epoch that is not complete.
///
/// In hardware this is the directory's owner of the line, which it remembers when the owner's caches have evicted the line (the
/// "sticky" state of HOPS); it answers as long as it has writes in its buffer.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    last: BTreeMap<Line, EpochId>,
    /// The last release of each line, likewise.
    released: BTreeMap<Line, EpochId>,
    /// The lines of each epoch.
    lines: BTreeMap<EpochId, Vec<Line>>,
}

impl Writers {
    /// A line was written in this epoch.
    pub fn wrote(&mut self, line: Line, epoch: EpochId) {
        if self.last.insert(line, epoch) != Some(epoch) {
            self.lines.entry(epoch).or_default().push(line);
        }
    }

    /// The epoch in which the line was written last, if it is not complete.
    #[must_use]
    pub fn last(&self, line: Line) -> Option<EpochId> {
        self.last.get(&line).copied()
    }

    /// The epoch in which `core` wrote the line, if nobody has written it since and the epoch is not complete.
    #[must_use]
    pub fn wrote_last(&self, core: CoreId, line: Line) -> Option<u64> {
        let last = self.last.get(&line).filter(|last| last.core == core)?;
        Some(last.number)
    }

    /// A release in this epoch has written the line.
    pub fn released(&mut self, line: Line, epoch: EpochId) {
        if self.released.insert(line, epoch) != Some(epoch) {
            self.lines.entry(epoch).or_default().push(line);
        }
    }

    /// The epoch of `core`'s release of the line, if no other core has released it since and the epoch is not complete. What
    /// others have stored there since may be to another word.
    #[must_use]
    pub fn released_last(&self, core: CoreId, line: Line) -> Option<u64> {
        let last = self.released.get(&line).filter(|last| last.core == core)?;
        Some(last.number)
    }

    /// An epoch is complete.
    pub fn forget(&mut self, epoch: EpochId) {
        for line in self.lines.remove(&epoch).unwrap_or_default() {
            for lines in [&mut self.last, &mut self.released] {
                if lines.get(&line) == Some(&epoch) {
                    lines.remove(&line);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(core: u16, number: u64) -> EpochId {
        let core = CoreId(core);
        EpochId { core, number }
    }

    #[test]
    fn the_last_writer_is_known_until_its_epoch_is_complete() {
        let mut writers = Writers::default();
        let line = Line(7);
        writers.wrote(line, epoch(0, 1));
        writers.wrote(line, epoch(0, 2));
        writers.forget(epoch(0, 1));
        assert_eq!(writers.wrote_last(CoreId(0), line), Some(2));
        writers.wrote(line, epoch(1, 0));
        assert_eq!(
            writers.wrote_last(CoreId(0), line),
            None,
            "another core has written it since"
        );
        writers.forget(epoch(1, 0));
        assert_eq!(writers.wrote_last(CoreId(1), line), None);
    }

    #[test]
    fn a_release_is_known_until_its_epoch_is_complete_or_another_core_releases() {
        let mut writers = Writers::default();
        let line = Line(7);
        writers.released(line, epoch(0, 1));
        writers.wrote(line, epoch(1, 1));
        assert_eq!(writers.released_last(CoreId(0), line), Some(1));
        writers.released(line, epoch(1, 2));
        assert_eq!(writers.released_last(CoreId(0), line), None);
        writers.forget(epoch(1, 2));
        assert_eq!(writers.released_last(CoreId(1), line), None);
    }
}
