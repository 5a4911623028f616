//! What eager flushing adds to the controllers: recovery tables, and filters of refused lines.

use super::recovery_table::{Handling, RecoveryTable};
use super::{EpochId, Flush};
use crate::parts::bloom::CountingBloom;
use std::collections::BTreeMap;
use strandline_design::ControllerId;
use strandline_isa::{Line, LineData};
use strandline_rules::{broken, Rule};

/// The tags of writes that recovery tables make begin here; buffers never number so many.
const DELAYED: u64 = 1 << 39;

/// The controllers' side of eager flushing (ASAP IV-D, IV-F, V-A to V-F).
#[derive(Clone, Debug)]
pub struct Speculation {
    entries: usize,
    /// By controller; grown as controllers are heard of.
    controllers: Vec<Side>,
    /// Values of delay records on their way into write queues: whose they are, by tag.
    delayed: BTreeMap<u64, EpochId>,
    next: u64,
    /// Flushes sent early, undo records, delay records, refusals, the most records in a table.
    pub counts: Counts,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Flushes sent before their epochs were safe.
    pub early: u64,
    /// Undo records.
    pub undo: u64,
    /// Delay records.
    pub delay: u64,
    /// Flushes refused.
    pub refused: u64,
    /// The most records in a table.
    pub most: usize,
}

#[derive(Clone, Debug)]
struct Side {
    table: RecoveryTable,
    refused: CountingBloom,
}

/// A flush as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// Its epoch.
    pub owner: EpochId,
    /// How it was sent.
    pub flush: Flush,
    /// Its line.
    pub line: Line,
    /// Its bytes.
    pub data: LineData,
}

impl Speculation {
    pub(crate) fn new(entries: usize) -> Speculation {
        Speculation {
            entries,
            controllers: Vec::new(),
            delayed: BTreeMap::new(),
            next: DELAYED,
            counts: Counts::default(),
        }
    }

    /// Records of a table.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.entries
    }

    fn side(&mut self, controller: ControllerId) -> &mut Side {
        let index = usize::from(controller.0);
        if self.controllers.len() <= index {
            let side = Side {
                table: RecoveryTable::new(self.entries),
                refused: CountingBloom::default(),
            };
            self.controllers.resize(index + 1, side);
        }
        &mut self.controllers[index]
    }

    /// The table of a controller.
    pub fn table(&mut self, controller: ControllerId) -> &mut RecoveryTable {
        &mut self.side(controller).table
    }

    /// Whether the media may be written: see [`RecoveryTable::may_write`].
    #[must_use]
    pub fn may_issue(&self, controller: ControllerId, line: Line) -> bool {
        let side = self.controllers.get(usize::from(controller.0));
        side.is_none_or(|side| side.table.may_write(line))
    }

    /// Handles a flush that arrives where memory holds `old` (Table I). A refused line enters the filter, and leaves it when its
    /// flush comes again and is taken; meanwhile early flushes of the line are refused, so that none overtakes an older one.
    pub fn arrives(&mut self, controller: ControllerId, arriving: Arriving, old: LineData) -> Handling {
        let Arriving {
            owner,
            flush,
            line,
            data,
        } = arriving;
        let (early, refused) = match flush {
            Flush::Sent { early, refused } => (early, refused),
            Flush::Waits { .. } => (false, false),
        };
        let side = self.side(controller);
        let before = side.table.occupied();
        let is_behind = side.refused.may_hold(line) && !broken(Rule::RefusedInOrder);
        let handling = match early {
            true if is_behind => Handling::Refuse,
            true => side.table.early(owner, line, data, old),
            false => side.table.safe(owner, line, data),
        };
        let more = side.table.occupied() > before;
        let occupied = side.table.occupied();
        if handling == Handling::Refuse {
            side.refused.add(line);
        } else if refused {
            side.refused.remove(line);
        }
        let counts = &mut self.counts;
        counts.most = counts.most.max(occupied);
        match handling {
            Handling::Speculate => counts.undo += 1,
            Handling::Record if more => counts.delay += 1,
            Handling::Refuse => counts.refused += 1,
            Handling::Record | Handling::Write => {}
        }
        handling
    }

    /// Whether a flush of the line may have been refused and wait to be sent again (V-F).
    pub fn may_have_refused(&mut self, controller: ControllerId, line: Line) -> bool {
        self.side(controller).refused.may_hold(line)
    }

    /// An epoch commits at a controller: the values of its delay records, each with the tag of the write that puts it into the write queue.
    pub fn commit(&mut self, controller: ControllerId, owner: EpochId) -> Vec<(Line, LineData, u64)> {
        let delayed = self.table(controller).commit(owner);
        let tagged = delayed.into_iter().map(|(line, data)| {
            self.next += 1;
            self.delayed.insert(self.next, owner);
            (line, data, self.next)
        });
        tagged.collect()
    }

    /// Whose delay record the write of this tag carries, if it is one.
    #[must_use]
    pub fn delayed(&self, tag: u64) -> Option<EpochId> {
        self.delayed.get(&tag).copied()
    }

    /// The write of this tag is accepted: as [`Speculation::delayed`], for the last time.
    pub fn delivered(&mut self, tag: u64) -> Option<EpochId> {
        self.delayed.remove(&tag)
    }

    /// Whether a value of the line may be in the table that is newer than memory's.
    #[must_use]
    pub fn delays(&self, controller: ControllerId, line: Line) -> bool {
        let side = self.controllers.get(usize::from(controller.0));
        side.is_some_and(|side| side.table.delays(line))
    }

    /// What power failure writes to memory.
    pub fn undone(&self) -> impl Iterator<Item = (Line, LineData)> + '_ {
        self.controllers.iter().flat_map(|side| side.table.undone())
    }

    /// Look-ups in the filters, and how many said wrongly that the line was refused.
    #[must_use]
    pub fn filter_counts(&self) -> (u64, u64) {
        let counts = self.controllers.iter().map(|side| side.refused.counts());
        counts.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    }
}
