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
    records: Vec<Record>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    kind: Kind,
    line: Line,
    owner: EpochId,
    data: LineData,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `unread`: its value is not yet read from the media.
    Undo {
        unread: bool,
    },
    Delay,
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
            Some(undo) => {
                undo.data = data;
                undo.kind = Kind::Undo { unread: false };
                Handling::Record
            }
            None => Handling::Write,
        }
    }

    /// Handles an early flush that arrives where memory holds `old`.
    pub fn early(&mut self, owner: EpochId, line: Line, data: LineData, old: LineData) -> Handling {
        // It stays behind a delay record of its own epoch, even if the undo record is gone that
        // caused the delay. Otherwise the commit of the epoch would write the older value last.
        let mut delays = self.records.iter_mut().filter(|r| r.kind == Kind::Delay);
        if let Some(own) = delays.find(|r| r.owner == owner && r.line == line) {
            if !broken(Rule::EpochsDelaysCoalesce) {
                own.data = data;
                return Handling::Record;
            }
        }
        let kind = match self.undo_of(line).is_some() {
            true if broken(Rule::CollisionDelays) => return Handling::Record,
            true => Kind::Delay,
            false => Kind::Undo { unread: false },
        };
        if self.records.len() >= self.capacity {
            return Handling::Refuse;
        }
        let data = if kind == Kind::Delay { data } else { old };
        self.records.push(Record {
            kind,
            line,
            owner,
            data,
        });
        match kind {
            Kind::Delay => Handling::Record,
            Kind::Undo { .. } => Handling::Speculate,
        }
    }

    /// Commits an epoch: frees its records. Returns the values of its delay records, oldest first,
    /// to be handled as safe flushes that arrive now (V-C).
    pub fn commit(&mut self, owner: EpochId) -> Vec<(Line, LineData)> {
        let kept = broken(Rule::CommitForgetsUndo);
        let mut delayed = Vec::new();
        self.records.retain(|record| match record.kind {
            _ if record.owner != owner => true,
            Kind::Undo { .. } => kept,
            Kind::Delay => {
                delayed.push((record.line, record.data));
                false
            }
        });
        delayed
    }

    fn undo_of(&mut self, line: Line) -> Option<&mut Record> {
        let mut records = self.records.iter_mut();
        records.find(|r| r.line == line && r.kind != Kind::Delay)
    }

    /// Notes that the value of the line's undo record is being read from the media.
    pub fn reads(&mut self, line: Line) {
        if let Some(undo) = self.undo_of(line) {
            undo.kind = Kind::Undo { unread: true };
        }
    }

    /// Notes that it has been read.
    pub fn has_read(&mut self, line: Line) {
        if let Some(undo) = self.undo_of(line) {
            undo.kind = Kind::Undo { unread: false };
        }
    }

    /// Whether the line may be written to the media: its old value is not still to be read there.
    #[must_use]
    pub fn may_write(&self, line: Line) -> bool {
        let unread = Kind::Undo { unread: true };
        !self.records.iter().any(|r| r.line == line && r.kind == unread)
    }

    /// Whether a record holds a value of the line, newer than memory's or not.
    #[must_use]
    pub fn delays(&self, line: Line) -> bool {
        self.records.iter().any(|r| r.line == line && r.kind == Kind::Delay)
    }

    /// The lines written to memory when power fails (V-E).
    pub fn undone(&self) -> impl Iterator<Item = (Line, LineData)> + '_ {
        let undo = self.records.iter().filter(|r| r.kind != Kind::Delay);
        undo.map(|r| (r.line, r.data))
    }

    /// Records in use.
    #[must_use]
    pub fn occupied(&self) -> usize {
        self.records.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strandline_isa::CoreId;

    const A: Line = Line(1);
    const B: Line = Line(2);

    fn epoch(core: u16, number: u64) -> EpochId {
        let core = CoreId(core);
        EpochId { core, number }
    }

    fn undone(table: &RecoveryTable) -> Vec<(Line, u64)> {
        table.undone().map(|(line, data)| (line, data[0])).collect()
    }

    #[test]
    fn table_1_a_safe_flush_without_undo_record_updates_memory() {
        let mut table = RecoveryTable::new(2);
        assert_eq!(table.safe(epoch(0, 0), A, [1; 8]), Handling::Write);
        assert_eq!(table.occupied(), 0);
    }

    #[test]
    fn table_1_a_safe_flush_with_undo_record_updates_the_record() {
        let mut table = RecoveryTable::new(2);
        table.early(epoch(0, 1), A, [2; 8], [0; 8]);
        assert_eq!(table.safe(epoch(0, 0), A, [1; 8]), Handling::Record);
        assert_eq!(undone(&table), [(A, 1)]);
    }

    #[test]
    fn table_1_an_early_flush_without_undo_record_makes_one_and_updates_memory() {
        let mut table = RecoveryTable::new(2);
        assert_eq!(table.early(epoch(0, 1), A, [2; 8], [7; 8]), Handling::Speculate);
        assert_eq!(undone(&table), [(A, 7)], "what memory held");
    }

    #[test]
    fn table_1_an_early_flush_with_undo_record_is_delayed() {
        let mut table = RecoveryTable::new(2);
        table.early(epoch(0, 1), A, [2; 8], [0; 8]);
        assert_eq!(table.early(epoch(1, 1), A, [3; 8], [2; 8]), Handling::Record);
        assert_eq!((table.occupied(), undone(&table)), (2, vec![(A, 0)]));
        assert!(table.delays(A));
        assert_eq!(table.commit(epoch(1, 1)), [(A, [3; 8])], "until its epoch commits");
    }

    #[test]
    fn figure_5_a_write_that_arrives_behind_a_newer_one_becomes_what_is_undone_to() {
        // A = 0; the epochs write 1, 2, 3 in this order, and arrive as 3, 2, 1.
        let (first, second, third) = (epoch(0, 0), epoch(1, 0), epoch(2, 0));
        let mut table = RecoveryTable::new(8);
        assert_eq!(table.early(third, A, [3; 8], [0; 8]), Handling::Speculate);
        assert_eq!(table.early(second, A, [2; 8], [3; 8]), Handling::Record);
        assert_eq!(undone(&table), [(A, 0)], "the value before any of them");
        assert_eq!(table.safe(first, A, [1; 8]), Handling::Record);
        assert_eq!(undone(&table), [(A, 1)]);
        for (line, data) in table.commit(second) {
            assert_eq!(table.safe(second, line, data), Handling::Record);
        }
        assert_eq!(undone(&table), [(A, 2)]);
        assert!(table.commit(third).is_empty());
        assert_eq!((undone(&table), table.occupied()), (vec![], 0));
    }

    #[test]
    fn flushes_of_one_epoch_to_a_line_coalesce_in_a_delay_record() {
        let mut table = RecoveryTable::new(2);
        table.early(epoch(0, 1), A, [1; 8], [0; 8]);
        table.early(epoch(0, 1), A, [2; 8], [1; 8]);
        assert_eq!(table.early(epoch(0, 1), A, [3; 8], [1; 8]), Handling::Record);
        assert_eq!(table.occupied(), 2, "an undo record and one delay record");
        assert_eq!(table.commit(epoch(0, 1)), [(A, [3; 8])]);
        assert_eq!(table.safe(epoch(0, 1), A, [3; 8]), Handling::Write);
    }

    #[test]
    fn a_flush_joins_its_epochs_delay_record_also_when_the_undo_record_has_gone() {
        let mut table = RecoveryTable::new(2);
        table.early(epoch(1, 0), A, [9; 8], [0; 8]);
        table.early(epoch(0, 1), A, [1; 8], [9; 8]);
        table.commit(epoch(1, 0));
        assert_eq!(table.early(epoch(0, 1), A, [2; 8], [9; 8]), Handling::Record);
        assert_eq!(table.commit(epoch(0, 1)), [(A, [2; 8])]);
    }

    #[test]
    fn a_safe_flush_takes_the_place_of_its_own_epochs_records() {
        let mut table = RecoveryTable::new(3);
        table.early(epoch(0, 1), A, [1; 8], [0; 8]);
        table.early(epoch(0, 1), A, [2; 8], [1; 8]);
        table.early(epoch(1, 1), B, [9; 8], [8; 8]);
        assert_eq!(table.safe(epoch(0, 1), A, [3; 8]), Handling::Write);
        assert!(table.commit(epoch(0, 1)).is_empty(), "its older value is gone");
        assert_eq!(undone(&table), [(B, 8)], "other lines' records stay");
    }

    #[test]
    fn a_full_table_refuses_what_needs_a_record_and_takes_what_needs_none() {
        let mut table = RecoveryTable::new(1);
        table.early(epoch(0, 1), A, [1; 8], [0; 8]);
        assert_eq!(table.early(epoch(0, 1), B, [1; 8], [0; 8]), Handling::Refuse);
        assert_eq!(table.early(epoch(1, 1), A, [2; 8], [1; 8]), Handling::Refuse);
        assert_eq!(table.safe(epoch(1, 0), B, [1; 8]), Handling::Write);
        assert_eq!(table.safe(epoch(1, 0), A, [4; 8]), Handling::Record);
        table.commit(epoch(0, 1));
        assert_eq!(table.early(epoch(0, 2), B, [1; 8], [0; 8]), Handling::Speculate);
    }

    #[test]
    fn a_line_is_written_when_its_old_value_has_been_read_or_is_not_needed() {
        let mut table = RecoveryTable::new(2);
        table.early(epoch(0, 1), A, [1; 8], [0; 8]);
        table.reads(A);
        assert!(!table.may_write(A) && table.may_write(B));
        table.has_read(A);
        assert!(table.may_write(A));
        table.reads(A);
        table.safe(epoch(0, 0), A, [5; 8]);
        assert!(table.may_write(A), "a safe value has taken its place");
    }
}
