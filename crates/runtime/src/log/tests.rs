//! The undo log by itself: its lists, its ring, its packed records.

use super::UndoLog;
use crate::adversary::FENCED;
use crate::{recover, Heap, LogLayout, Step, Table, TRAILER};
use strandline_isa::{Addr, CoreId, Cpu, Flush, Image, Lowering, Memory, LINE_BYTES};

#[test]
#[should_panic(expected = "too small for two regions")]
fn a_ring_that_cannot_hold_two_regions_is_refused() {
    let mut heap = Heap::default();
    let table = heap.table::<TRAILER>(2);
    let layout = LogLayout::allocate(&mut heap, 1, 7);
    let memory = heap.memory();
    let cpu = crate::Plain::new(&memory, CoreId(0), FENCED);
    assert_eq!(layout.range().end - layout.range().start, 8 * LINE_BYTES);
    crate::finish(|| {
        let mut log = UndoLog::open(&cpu, &layout, 0);
        for _ in 0..2 {
            log.begin();
            (0..2).for_each(|row| log.log(cpu.word(table.addr(row).0), 0, TRAILER));
            log.order(Step::Last);
            log.finish(Step::Last);
        }
    })
    .unwrap();
}

/// A row of five lines and four words.
const ROW: u64 = 5 * TRAILER + 32;

/// What becomes of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Committed,
    Open,
    Aborted,
}

/// The memory behind a region of two steps, each with a packed row whose first line it writes. The words of rows are
/// numbered from 1,000 and 2,000 at first. The ring wraps in the second record.
fn rows(end: End) -> (Memory, LogLayout, Table<ROW>) {
    let mut heap = Heap::default();
    let table: Table<ROW> = heap.table(2);
    let layout = LogLayout::allocate(&mut heap, 1, 22);
    let memory = heap.memory();
    for (row, word) in (0..2).flat_map(|row| (0..ROW / 8).map(move |word| (row, word))) {
        memory.set_word(table.field(row, 8 * word), 1000 * (row + 1) + word);
    }
    let cpu = crate::Plain::new(&memory, CoreId(0), FENCED);
    crate::finish(|| {
        let mut log = UndoLog::open(&cpu, &layout, 0);
        log.next = cpu.word(layout.ring(0).end - 9 * LINE_BYTES);
        log.begin();
        for (row, step) in [(0, Step::Shared), (1, Step::Last)] {
            let row = cpu.word(table.addr(row).0);
            log.log_packed(row, ROW, TRAILER);
            log.order(step);
            for offset in (0..TRAILER).step_by(8) {
                log.update(row.at(offset), cpu.word(7), 8);
            }
            if step == Step::Shared || end == End::Committed {
                log.finish(step);
            }
        }
        if end == End::Aborted {
            log.abort();
        }
    })
    .unwrap();
    (memory, layout, table)
}

#[test]
fn a_packed_record_of_39_words_has_six_lines() {
    let (memory, layout, table) = rows(End::Committed);
    let ring = layout.ring(0).end - 9 * LINE_BYTES;
    let logged = |word| match word {
        0..4 => memory.word(Addr(ring + 24 + 8 * word)),
        _ => memory.word(Addr(ring + LINE_BYTES + crate::place(8 * (word - 4)))),
    };
    assert!((0..39).map(logged).eq(1000..1039));
    recover(&memory, &layout);
    for row in 0..2 {
        assert_eq!(memory.word(table.field(row, 48)), 7);
    }
}

#[test]
fn what_the_steps_of_packed_rows_wrote_is_undone() {
    for end in [End::Open, End::Aborted] {
        let (memory, layout, table) = rows(end);
        if end == End::Open {
            assert_eq!(memory.word(table.field(0, 48)), 7);
            recover(&memory, &layout);
        }
        for (row, word) in (0..2).flat_map(|row| (0..ROW / 8).map(move |word| (row, word))) {
            let now = memory.word(table.field(row, 8 * word));
            assert_eq!(now, 1000 * (row + 1) + word, "{end:?}: row {row}, word {word}");
        }
    }
}

/// The bytes in use of the lists of records and of lines, in an open step of `lines` lines of seven
/// words and after it.
fn lists_of_a_step(lowering: Lowering, lines: u64) -> [(u64, u64); 2] {
    let mut heap = Heap::default();
    let table = heap.table::<TRAILER>(lines);
    let layout = LogLayout::allocate(&mut heap, 1, 4 * lines);
    let memory = heap.memory();
    let cpu = crate::Plain::new(&memory, CoreId(0), lowering);
    let lengths = || {
        let base = layout.lists().start;
        (memory.word(Addr(base)), memory.word(Addr(base + 8)))
    };
    crate::finish(|| {
        let mut log = UndoLog::open(&cpu, &layout, 0);
        log.begin();
        for row in 0..lines {
            log.log(cpu.word(table.addr(row).0), 0, TRAILER);
        }
        let open = lengths();
        log.order(Step::Last);
        log.finish(Step::Last);
        [open, lengths()]
    })
    .unwrap()
}

#[test]
fn a_design_keeps_the_lists_that_it_needs_until_the_step_is_finished() {
    let flushes = Lowering {
        flush: Some(Flush::Clwb),
        ..Lowering::NOTHING
    };
    let logs = Lowering {
        log: true,
        ..Lowering::NOTHING
    };
    // Seven words are two records; a record is two words in its list, a line is one.
    assert_eq!(lists_of_a_step(FENCED, 3), [(6 * 16, 3 * 8), (0, 0)]);
    assert_eq!(lists_of_a_step(logs, 3), [(6 * 16, 3 * 8), (0, 0)]);
    assert_eq!(lists_of_a_step(flushes, 3), [(0, 3 * 8), (0, 0)]);
    assert_eq!(lists_of_a_step(Lowering::NOTHING, 3), [(0, 0), (0, 0)]);
}

#[test]
fn the_logs_of_threads_keep_their_lists_apart() {
    let mut heap = Heap::default();
    let layout = LogLayout::allocate(&mut heap, 2, 4);
    let lists = layout.lists();
    // A line for both lengths, 64 records of two words, 64 lines of one.
    assert_eq!(lists.end - lists.start, 2 * (64 + 64 * 16 + 64 * 8));
    assert_eq!(lists.end, heap.dram(8).0);
}

#[test]
fn the_longest_step_has_64_records() {
    assert_eq!(lists_of_a_step(FENCED, 32)[0], (64 * 16, 32 * 8));
}

#[test]
#[should_panic(expected = "a step of more than 64 undo-log records or lines")]
fn a_step_of_more_records_is_refused() {
    lists_of_a_step(FENCED, 33);
}
