//! The last writer of each line.

use super::EpochId;
use std::collections::BTreeMap;
use strandline_isa::{CoreId, Line};

/// The last writer of each line that was written in an epoch that is not durable.
///
/// In hardware this is the directory's owner of the line, remembered after the owner's caches have
/// evicted the line (the "sticky" state of HOPS); it replies as long as it has writes in its
/// buffer.
#[derive(Clone, Debug, Default)]
pub struct LastWriters {
    writes: BTreeMap<Line, EpochId>,
    /// The last release of each line, likewise.
    releases: BTreeMap<Line, EpochId>,
    /// The lines of each epoch.
    lines: BTreeMap<EpochId, Vec<Line>>,
}

impl LastWriters {
    /// Records a store to a line in this epoch.
    pub fn record_write(&mut self, line: Line, epoch: EpochId) {
        if self.writes.insert(line, epoch) != Some(epoch) {
            self.lines.entry(epoch).or_default().push(line);
        }
    }

    /// The epoch in which the line was written last, if it is not durable.
    #[must_use]
    pub fn of(&self, line: Line) -> Option<EpochId> {
        self.writes.get(&line).copied()
    }

    /// The epoch in which `core` wrote the line, if no core has written it since and the epoch is not durable.
    #[must_use]
    pub fn write_of(&self, core: CoreId, line: Line) -> Option<u64> {
        let last = self.writes.get(&line).filter(|last| last.core == core)?;
        Some(last.number)
    }

    /// Records a release in this epoch that wrote the line.
    pub fn record_release(&mut self, line: Line, epoch: EpochId) {
        if self.releases.insert(line, epoch) != Some(epoch) {
            self.lines.entry(epoch).or_default().push(line);
        }
    }

    /// The epoch of `core`'s release of the line, if no other core has released it since and the
    /// epoch is not durable. Later stores there by others may be to another word.
    #[must_use]
    pub fn release_of(&self, core: CoreId, line: Line) -> Option<u64> {
        let last = self.releases.get(&line).filter(|last| last.core == core)?;
        Some(last.number)
    }

    /// Removes an epoch that is durable.
    pub fn forget(&mut self, epoch: EpochId) {
        for line in self.lines.remove(&epoch).unwrap_or_default() {
            for lines in [&mut self.writes, &mut self.releases] {
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
    fn the_last_writer_is_known_until_its_epoch_is_durable() {
        let mut writers = LastWriters::default();
        let line = Line(7);
        writers.record_write(line, epoch(0, 1));
        writers.record_write(line, epoch(0, 2));
        writers.forget(epoch(0, 1));
        assert_eq!(writers.write_of(CoreId(0), line), Some(2));
        writers.record_write(line, epoch(1, 0));
        assert_eq!(
            writers.write_of(CoreId(0), line),
            None,
            "another core has written it since"
        );
        writers.forget(epoch(1, 0));
        assert_eq!(writers.write_of(CoreId(1), line), None);
    }

    #[test]
    fn a_release_is_known_until_its_epoch_is_durable_or_another_core_releases() {
        let mut writers = LastWriters::default();
        let line = Line(7);
        writers.record_release(line, epoch(0, 1));
        writers.record_write(line, epoch(1, 1));
        assert_eq!(writers.release_of(CoreId(0), line), Some(1));
        writers.record_release(line, epoch(1, 2));
        assert_eq!(writers.release_of(CoreId(0), line), None);
        writers.forget(epoch(1, 2));
        assert_eq!(writers.release_of(CoreId(1), line), None);
    }
}
