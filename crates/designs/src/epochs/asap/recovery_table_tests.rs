//! A recovery table.

use super::*;
use strandline_isa::CoreId;

const A: Line = Line(1);
const B: Line = Line(2);

fn epoch(core: u16, number: u64) -> EpochId {
    let core = CoreId(core);
    EpochId { core, number }
}

fn may_write(table: &RecoveryTable, line: Line) -> bool {
    table.may_write(line, |_| false)
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
    assert!(!may_write(&table, A) && may_write(&table, B));
    table.has_read(A);
    assert!(may_write(&table, A));
    table.reads(A);
    table.safe(epoch(0, 0), A, [5; 8]);
    assert!(may_write(&table, A), "a safe value has taken its place");
}
