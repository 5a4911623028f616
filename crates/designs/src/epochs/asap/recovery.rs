//! Records whose epochs are proved (`asap-frontier`): they are committed in place, while the controllers run and by recovery.

use super::recovery_table::{Handling, Record, RecordKind, RecoveryTable};
use crate::epochs::rules::Rule;
use crate::parts::epochs::EpochId;
use strandline_isa::{CoreId, Line, LineData};
use strandline_rules::breaks;

impl RecoveryTable {
    /// The epochs that own records and are proved, in the order of each core's.
    pub fn proved(&self, is_proved: impl Fn(EpochId) -> bool) -> Vec<EpochId> {
        let waiting = self.records.iter().filter(|record| record.kind != RecordKind::Due);
        let mut owners: Vec<EpochId> = waiting
            .map(|record| record.owner)
            .filter(|owner| is_proved(*owner))
            .collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Whether an epoch of this core owns a record.
    pub fn has_records_of(&self, core: CoreId) -> bool {
        self.records.iter().any(|record| record.owner.core == core)
    }

    /// The values of an epoch's delay records.
    pub fn delayed(&self, owner: EpochId) -> impl Iterator<Item = (Line, LineData)> + '_ {
        let own = self.records.iter().filter(move |record| record.owner == owner);
        own.filter(|record| record.kind == RecordKind::Delay)
            .map(|record| (record.line, record.data))
    }

    /// Commits an epoch: deletes its undo records. The value of a delay record becomes what the line is undone to, or else it
    /// is due: the record stays until the write queue has it, since the epoch is already durable. Reports, in order, what a
    /// crash leaves of each line from then on.
    pub fn commit_in_place(&mut self, owner: EpochId, left: &mut dyn FnMut(Line, LineData)) {
        let (own, others): (Vec<Record>, Vec<Record>) =
            self.records.drain(..).partition(|record| record.owner == owner);
        self.records = others;
        for record in own {
            match record.kind {
                RecordKind::Undo { wrote, .. } => left(record.line, wrote),
                RecordKind::Delay => {
                    self.settle(record);
                    left(record.line, record.data);
                }
                RecordKind::Due => self.records.push(record),
            }
        }
    }

    /// The value of a delay record becomes the line's safe one.
    fn settle(&mut self, delay: Record) {
        match self.undo_of(delay.line) {
            Some(undo) => {
                undo.data = delay.data;
                undo.kind = undo.kind.read();
            }
            None => {
                self.supersede(delay.line);
                self.records.push(Record {
                    kind: RecordKind::Due,
                    ..delay
                });
            }
        }
    }

    /// The value of a line that is due, if there is one.
    pub(super) fn due(&mut self, line: Line) -> Option<&mut Record> {
        self.records
            .iter_mut()
            .find(|record| record.line == line && record.kind == RecordKind::Due)
    }

    /// A newer safe value takes the place of one that is due.
    pub(super) fn supersede(&mut self, line: Line) {
        self.records
            .retain(|record| record.line != line || record.kind != RecordKind::Due);
    }

    /// The value of a delay record arrives at the write queue: it is written if it is still due.
    pub fn due_arrives(&mut self, owner: EpochId, line: Line) -> Handling {
        match self.due(line).is_some_and(|due| due.owner == owner) {
            true => {
                self.supersede(line);
                Handling::Write
            }
            false => Handling::Record,
        }
    }

    /// This table as power failure saves it.
    pub fn saved(&self) -> RecoveryTable {
        let mut saved = self.clone();
        breaks(Rule::DelaysAreSaved, || {
            saved.records.retain(|record| record.kind.is_undo())
        });
        saved
    }

    /// The values that are due.
    pub fn dues(&self) -> impl Iterator<Item = (Line, LineData)> + '_ {
        let dues = self.records.iter().filter(|record| record.kind == RecordKind::Due);
        dues.map(|record| (record.line, record.data))
    }
}
