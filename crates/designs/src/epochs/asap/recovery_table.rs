//! A controller's recovery table: it undoes values that arrived early, and keeps those that arrived
//! out of order.

use crate::epochs::rules::Rule;
use crate::parts::epochs::EpochId;
use strandline_isa::{Line, LineData};
use strandline_rules::broken;

/// Undo and delay records (ASAP, HPCA 2022, sections IV-D, IV-F, V-A to V-E and Table I).
///
/// An undo record holds the value that its line has if power fails, while memory already holds a
/// later one. A delay record holds a value that reaches memory, or the undo record, when its epoch
/// commits.
#[derive(Clone, Debug)]
pub struct RecoveryTable {
    capacity: usize,
    pub(super) records: Vec<Record>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) kind: RecordKind,
    pub(super) line: Line,
    pub(super) owner: EpochId,
    pub(super) data: LineData,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// `unread`: its value is not yet read from the media. `wrote` is what memory holds meanwhile.
    Undo {
        unread: bool,
        wrote: LineData,
    },
    Delay,
    /// A delay record whose epoch is committed, and which is on its way to the write queue (`asap-frontier`).
    Due,
}

impl RecordKind {
    pub(super) fn is_undo(self) -> bool {
        matches!(self, RecordKind::Undo { .. })
    }

    /// An undo record whose value need not be read.
    pub(super) fn read(self) -> RecordKind {
        match self {
            RecordKind::Undo { wrote, .. } => RecordKind::Undo { unread: false, wrote },
            RecordKind::Delay | RecordKind::Due => self,
        }
    }
}

/// How a write that has arrived is handled (Table I).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// It is written to memory.
    Write,
    /// It is written to memory; an undo record holds the old value.
    Speculate,
    /// A record absorbs its value.
    Record,
    /// There is no room for a record.
    Refuse,
}

impl RecoveryTable {
    /// An empty table of `capacity` records.
    #[must_use]
    pub fn new(capacity: usize) -> RecoveryTable {
        RecoveryTable {
            capacity,
            records: Vec::new(),
        }
    }

    /// Handles a safe flush that arrives, or the value of a delay record whose epoch commits.
    pub fn safe(&mut self, owner: EpochId, line: Line, data: LineData) -> Handling {
        // In the paper memory holds a later epoch's value wherever there is an undo record. The
        // value may also be this epoch's own, from before it was safe. Then this write is newer,
        // and a safe epoch needs no undo.
        if !broken(Rule::SafeReplacesOwnRecords) {
            self.records.retain(|r| r.owner != owner || r.line != line);
        }
        match self.undo_of(line) {
            Some(undo) if !broken(Rule::SafeUpdatesUndo) => {
                undo.data = data;
                undo.kind = undo.kind.read();
                Handling::Record
            }
            _ => {
                self.supersede(line);
                Handling::Write
            }
        }
    }

    /// Handles an early flush that arrives where memory holds `old`.
    pub fn early(&mut self, owner: EpochId, line: Line, data: LineData, old: LineData) -> Handling {
        // It stays behind a delay record of its own epoch, even if the undo record is gone that
        // caused the delay. Otherwise the commit of the epoch would write the older value last.
        let mut delays = self.records.iter_mut().filter(|r| r.kind == RecordKind::Delay);
        if let Some(own) = delays.find(|r| r.owner == owner && r.line == line) {
            if !broken(Rule::EpochsDelaysCoalesce) {
                own.data = data;
                return Handling::Record;
            }
        }
        let undo = RecordKind::Undo {
            unread: false,
            wrote: data,
        };
        let kind = match self.undo_of(line).is_some() {
            true if broken(Rule::CollisionDelays) => return Handling::Record,
            true => RecordKind::Delay,
            false => undo,
        };
        if let Some(due) = self.due(line).filter(|_| !broken(Rule::DueIsWhatLineHolds)) {
            (due.kind, due.owner) = (undo, owner);
            return Handling::Write;
        }
        if self.records.len() >= self.capacity {
            return Handling::Refuse;
        }
        let data = if kind == RecordKind::Delay { data } else { old };
        self.records.push(Record {
            kind,
            line,
            owner,
            data,
        });
        match kind.is_undo() {
            true => Handling::Speculate,
            false => Handling::Record,
        }
    }

    /// Commits an epoch: frees its records. Returns the values of its delay records, oldest first,
    /// to be handled as safe flushes that arrive now (V-C).
    pub fn commit(&mut self, owner: EpochId) -> Vec<(Line, LineData)> {
        let kept = broken(Rule::CommitForgetsUndo);
        let mut delayed = Vec::new();
        self.records.retain(|record| match record.kind {
            _ if record.owner != owner => true,
            RecordKind::Undo { .. } => kept,
            RecordKind::Delay | RecordKind::Due => {
                delayed.push((record.line, record.data));
                false
            }
        });
        delayed
    }

    pub(super) fn undo_of(&mut self, line: Line) -> Option<&mut Record> {
        let mut records = self.records.iter_mut();
        records.find(|r| r.line == line && r.kind.is_undo())
    }

    /// Notes that the value of the line's undo record is being read from the media.
    pub fn reads(&mut self, line: Line) {
        if let Some(undo) = self.undo_of(line) {
            if let RecordKind::Undo { unread, .. } = &mut undo.kind {
                *unread = true;
            }
        }
    }

    /// Notes that it has been read.
    pub fn has_read(&mut self, line: Line) {
        if let Some(undo) = self.undo_of(line) {
            undo.kind = undo.kind.read();
        }
    }

    /// Whether the line may be written to the media: its old value is not still to be read there, for an epoch that is not
    /// known to be proved.
    #[must_use]
    pub fn may_write(&self, line: Line, is_proved: impl Fn(EpochId) -> bool) -> bool {
        let mut of_line = self.records.iter().filter(|r| r.line == line);
        !of_line.any(|r| matches!(r.kind, RecordKind::Undo { unread: true, .. }) && !is_proved(r.owner))
    }

    /// Whether a record holds a value of the line, newer than memory's or not.
    #[must_use]
    pub fn delays(&self, line: Line) -> bool {
        self.records.iter().any(|r| r.line == line && !r.kind.is_undo())
    }

    /// The lines written to memory when power fails (V-E).
    pub fn undone(&self) -> impl Iterator<Item = (Line, LineData)> + '_ {
        let undo = self.records.iter().filter(|r| r.kind.is_undo());
        undo.map(|r| (r.line, r.data))
    }

    /// Records in use.
    #[must_use]
    pub fn occupied(&self) -> usize {
        self.records.len()
    }
}

#[cfg(test)]
#[path = "recovery_table_tests.rs"]
mod tests;
