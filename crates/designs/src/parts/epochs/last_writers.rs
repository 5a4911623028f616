//! The last writer of each line.

use super::EpochId;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use strandline_isa::{CoreId, Line};
use strandline_kernel::NumberHasher;

/// An epoch of each line.
type Epochs = HashMap<Line, EpochId, BuildHasherDefault<NumberHasher>>;

/// The last writer of each line that was written in an epoch that is not durable.
///
/// In hardware this is the directory's owner of the line, remembered after the owner's caches have
/// evicted the line (the "sticky" state of HOPS); it replies as long as it has writes in its
/// buffer.
#[derive(Clone, Debug, Default)]
pub struct LastWriters {
    writes: Epochs,
    /// The last release of each line, likewise.
    releases: Epochs,
    /// By core, the lines of each epoch; epochs in order.
    lines: Vec<VecDeque<(u64, Vec<Line>)>>,
    /// Lists of lines that are empty, for their memory.
    spare: Vec<Vec<Line>>,
    /// The write recorded last: the next one is often the same.
    latest: Option<(Line, EpochId)>,
}

impl LastWriters {
    /// Records a store to a line in this epoch.
    #[inline]
    pub fn record_write(&mut self, line: Line, epoch: EpochId) {
        if self.latest != Some((line, epoch)) {
            self.record_new_write(line, epoch);
        }
    }

    fn record_new_write(&mut self, line: Line, epoch: EpochId) {
        self.latest = Some((line, epoch));
        if self.writes.insert(line, epoch) != Some(epoch) {
            self.list(line, epoch);
        }
    }

    /// The epoch in which the line was written last, if it is not durable.
    #[inline]
    #[must_use]
    pub fn of(&self, line: Line) -> Option<EpochId> {
        match self.latest {
            Some((latest, epoch)) if latest == line => Some(epoch),
            _ => self.writes.get(&line).copied(),
        }
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
            self.list(line, epoch);
        }
    }

    /// Lists a line of a core's newest epoch.
    fn list(&mut self, line: Line, epoch: EpochId) {
        let core = epoch.core.index();
        if self.lines.len() <= core {
            self.lines.resize_with(core + 1, VecDeque::new);
        }
        let epochs = &mut self.lines[core];
        match epochs.back_mut() {
            Some((number, lines)) if *number == epoch.number => lines.push(line),
            _ => {
                let mut lines = self.spare.pop().unwrap_or_default();
                lines.push(line);
                epochs.push_back((epoch.number, lines));
            }
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
        self.latest = self.latest.filter(|(_, latest)| *latest != epoch);
        let Some(epochs) = self.lines.get_mut(epoch.core.index()) else {
            return;
        };
        let Ok(index) = epochs.binary_search_by_key(&epoch.number, |(number, _)| *number) else {
            return;
        };
        let mut lines = epochs.remove(index).map(|(_, lines)| lines).unwrap_or_default();
        for line in lines.drain(..) {
            for of in [&mut self.writes, &mut self.releases] {
                if of.get(&line) == Some(&epoch) {
                    of.remove(&line);
                }
            }
        }
        self.spare.push(lines);
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
