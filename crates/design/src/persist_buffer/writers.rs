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

    /// The epoch in which `core` wrote the line, if nobody has written it since and the epoch is not complete.
    #[must_use]
    pub fn wrote_last(&self, core: CoreId, line: Line) -> Option<u64> {
        let last = self.last.get(&line).filter(|last| last.core == core)?;
        Some(last.number)
    }

    /// An epoch is complete.
    pub fn forget(&mut self, epoch: EpochId) {
        for line in self.lines.remove(&epoch).unwrap_or_default() {
            if self.last.get(&line) == Some(&epoch) {
                self.last.remove(&line);
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
}
