//! ASAP's additions to the memory controllers: recovery tables, and filters of refused lines.

use super::frontiers::Frontiers;
use super::recovery_table::{Handling, RecoveryTable};
use super::Gate;
use crate::epochs::rules::Rule;
use crate::parts::bloom::CountingBloom;
use crate::parts::epochs::{EpochId, Numbers};
use crate::parts::persist_buffer::Flush;
use strandline_design::ControllerId;
use strandline_isa::{Line, LineData};
use strandline_rules::kept;

/// The controllers (ASAP IV-D, IV-F, V-A to V-F).
#[derive(Clone, Debug)]
pub struct Controllers {
    entries: usize,
    numbers: Numbers,
    /// By number; grown on demand.
    all: Vec<Controller>,
    /// Counts of events so far.
    pub counts: Counts,
}

/// Counts of events so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Undo records.
    pub undo: u64,
    /// Delay records.
    pub delay: u64,
    /// Writes refused (NACKs).
    pub refused: u64,
    /// The most records in a table.
    pub most: usize,
}

/// One controller.
#[derive(Clone, Debug)]
pub struct Controller {
    /// Its undo and delay records.
    pub table: RecoveryTable,
    /// What it knows of the cores' proved epochs (`asap-frontier`).
    pub frontiers: Frontiers,
    /// The epochs whose records are to be freed, in this order (`asap-frontier`).
    pub proved: Vec<EpochId>,
    refused: CountingBloom,
}

/// A write as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// Its epoch.
    pub owner: EpochId,
    /// How it was flushed.
    pub flush: Flush,
    /// Whether it was refused before.
    pub was_refused: bool,
    /// Its line.
    pub line: Line,
    /// Its bytes.
    pub data: LineData,
}

impl Controllers {
    /// Controllers with empty tables of `entries` records, which know epochs by these numbers.
    #[must_use]
    pub fn new(entries: usize, numbers: Numbers) -> Controllers {
        Controllers {
            entries,
            numbers,
            all: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Records of a table.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// How they know epochs.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// All controllers that have had to do with early writes or commits, by number.
    #[must_use]
    pub fn all(&self) -> &[Controller] {
        &self.all
    }

    /// As [`Controllers::all`].
    pub fn all_mut(&mut self) -> &mut [Controller] {
        &mut self.all
    }

    /// A controller.
    pub fn controller(&mut self, controller: ControllerId) -> &mut Controller {
        let index = usize::from(controller.0);
        if self.all.len() <= index {
            let empty = Controller {
                table: RecoveryTable::new(self.entries),
                frontiers: Frontiers::new(self.numbers),
                proved: Vec::new(),
                refused: CountingBloom::default(),
            };
            self.all.resize(index + 1, empty);
        }
        &mut self.all[index]
    }

    fn known(&self, controller: ControllerId) -> Option<&Controller> {
        self.all.get(usize::from(controller.0))
    }

    /// The table of a controller.
    pub fn table(&mut self, controller: ControllerId) -> &mut RecoveryTable {
        &mut self.controller(controller).table
    }

    /// Whether the media may be written: see [`RecoveryTable::may_write`].
    #[must_use]
    pub fn may_write(&self, controller: ControllerId, line: Line) -> bool {
        self.known(controller)
            .is_none_or(|c| c.table.may_write(line, |owner| c.frontiers.has(owner)))
    }

    /// Handles a write that arrives where memory holds `old` (Table I). A refused line enters the
    /// filter, and leaves it when its write is repeated and accepted. Meanwhile early writes of the
    /// line are refused, so that none overtakes an older one.
    pub fn handle(&mut self, id: ControllerId, write: Arriving, old: LineData) -> Handling {
        let Arriving { owner, line, data, .. } = write;
        let Controller { table, refused, .. } = self.controller(id);
        let before = table.occupied();
        let is_behind = kept(Rule::RefusedInOrder, refused.look_up(line), || false);
        let handling = match write.flush {
            Flush::Early if is_behind => Handling::Refuse,
            Flush::Early => table.early(owner, line, data, old),
            Flush::Safe => table.safe(owner, line, data),
        };
        if handling == Handling::Refuse {
            refused.add(line);
        } else if write.was_refused {
            refused.remove(line);
        }
        let (occupied, is_new) = (table.occupied(), table.occupied() > before);
        self.counts.add(handling, is_new, occupied);
        handling
    }

    /// What the eviction of a line waits for while a refused write of it may have to be repeated
    /// (V-F).
    pub fn await_refused(&mut self, id: ControllerId, line: Line) -> Option<Gate> {
        let may_wait = self.controller(id).refused.look_up(line);
        may_wait.then_some(Gate::Accepted(id))
    }

    /// Whether the table may hold a value of the line that is newer than memory's.
    #[must_use]
    pub fn delays(&self, id: ControllerId, line: Line) -> bool {
        self.known(id).is_some_and(|c| c.table.delays(line))
    }

    /// The lines that power failure writes to memory.
    pub fn undone(&self) -> impl Iterator<Item = (Line, LineData)> + '_ {
        self.all.iter().flat_map(|c| c.table.undone())
    }

    /// Look-ups in the filters, and how many were false positives.
    #[must_use]
    pub fn filter_counts(&self) -> (u64, u64) {
        let counts = self.all.iter().map(|c| c.refused.counts());
        counts.fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    }
}

impl Counts {
    /// Counts a write by its handling (a new record or none), and the table's new size.
    fn add(&mut self, handling: Handling, is_new: bool, occupied: usize) {
        self.most = self.most.max(occupied);
        match handling {
            Handling::Speculate => self.undo += 1,
            Handling::Record if is_new => self.delay += 1,
            Handling::Refuse => self.refused += 1,
            Handling::Record | Handling::Write => {}
        }
    }
}
