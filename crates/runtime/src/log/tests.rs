//! The undo log by itself: regions of any shape, crashed anywhere.

use super::UndoLog;
use crate::adversary::{Adversary, Play, Watch, FENCED};
use crate::{recover, Heap, LogLayout, Step, Table, TRAILER};
use proptest::prelude::*;
use strandline_isa::{Addr, CoreId, Cpu, Flush, Image, Lowering, Memory, LINE_BYTES};

/// The regions: each writes its number to the seven payload words of each line, `lines` lines a
/// step.
#[derive(Clone, Copy, Debug)]
struct Shape {
    lines: u64,
    lines_per_step: u64,
    trailer_first: bool,
    /// Records are packed.
    packed: bool,
    /// A step's updates persist with the next one's records.
    shared: bool,
}

const REGIONS: u64 = 6;

fn program<C: Cpu>(cpu: &C, layout: &LogLayout, table: Table<TRAILER>, shape: Shape) {
    let mut log = UndoLog::open(cpu, layout, 0);
    for number in 1..=REGIONS {
        let mut region = log.begin();
        for first in (0..shape.lines).step_by(shape.lines_per_step as usize) {
            let end = (first + shape.lines_per_step).min(shape.lines);
            let lines: Vec<_> = (first..end).map(|row| cpu.word(table.addr(row).0)).collect();
            for line in &lines {
                match shape.packed {
                    true => region.log_packed(*line, TRAILER, TRAILER),
                    false => region.log(*line, 0, TRAILER),
                }
            }
            let more = if shape.shared { Step::Shared } else { Step::More };
            region.order(if end == shape.lines { Step::Last } else { more });
            for line in &lines {
                if shape.trailer_first {
                    let clock = region.log.clock;
                    line.at(TRAILER).store(clock);
                }
                for offset in (0..TRAILER).step_by(8) {
                    region.update(line.at(offset), cpu.word(number), 8);
                }
            }
            region.finish();
        }
    }
}

/// All payload words of all lines hold the same number.
fn check(image: &Memory, table: Table<TRAILER>, lines: u64) -> Result<(), String> {
    let words = |row| image.line(table.addr(row).line());
    let number = words(0)[0];
    match (0..lines).find(|row| words(*row)[..7].iter().any(|word| *word != number)) {
        Some(row) => Err(format!(
            "line {row} holds {:?}, and line 0 begins with {number}",
            words(row)
        )),
        None => Ok(()),
    }
}

/// Runs the program, with a ring of exactly two regions and `spare` records more; the first
/// failure.
fn first_failure(shape: Shape, spare: u64, play: Play) -> Option<String> {
    let mut heap = Heap::default();
    let table = heap.table(shape.lines);
    let layout = LogLayout::allocate(&mut heap, 1, 4 * shape.lines + spare);
    let memory = heap.memory();
    let mut failure = None;
    let mut inspect = |image: &Memory, watch: &Watch| {
        let image = image.clone();
        recover(&image, &layout);
        let verdict = check(&image, table, shape.lines).and_then(|()| watch.verify(&image));
        failure = failure.take().or(verdict.err());
    };
    let machine = Adversary::new(&memory, 1, FENCED, play, &mut inspect);
    machine.run(&|_, cpu| program(cpu, &layout, table, shape)).unwrap();
    failure
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn regions_are_all_or_nothing(
        lines in 1u64..6,
        lines_per_step in 1u64..4,
        packed: bool,
        shared: bool,
        spare in 0u64..5,
        seed: u64,
        evict_one_in in 0u64..6,
    ) {
        let shape = Shape { lines, lines_per_step, trailer_first: false, packed, shared };
        prop_assert_eq!(first_failure(shape, spare, Play { seed, evict_one_in }), None);
    }
}

#[test]
fn a_trailer_written_first_is_found() {
    let shape = Shape {
        lines: 2,
        lines_per_step: 2,
        trailer_first: true,
        packed: false,
        shared: false,
    };
    assert!((0..100).any(|seed| first_failure(shape, 0, Play { seed, evict_one_in: 2 }).is_some()));
}

#[test]
#[should_panic(expected = "too small for two regions")]
fn a_ring_that_cannot_hold_two_regions_is_refused() {
    let mut heap = Heap::default();
    let table = heap.table::<TRAILER>(2);
    let layout = LogLayout::allocate(&mut heap, 1, 7);
    let memory = heap.memory();
    let cpu = crate::Plain::new(&memory, CoreId(0), FENCED);
    let shape = Shape {
        lines: 2,
        lines_per_step: 1,
        trailer_first: false,
        packed: false,
        shared: false,
    };
    assert_eq!(layout.range().end - layout.range().start, 8 * LINE_BYTES);
    crate::finish(|| program(&cpu, &layout, table, shape)).unwrap();
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
        let mut region = log.begin();
        for (row, step) in [(0, Step::Shared), (1, Step::Last)] {
            let row = cpu.word(table.addr(row).0);
            region.log_packed(row, ROW, TRAILER);
            region.order(step);
            for offset in (0..TRAILER).step_by(8) {
                region.update(row.at(offset), cpu.word(7), 8);
            }
            if step == Step::Shared || end == End::Committed {
                region.finish();
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
        let mut region = log.begin();
        for row in 0..lines {
            region.log(cpu.word(table.addr(row).0), 0, TRAILER);
        }
        let open = lengths();
        region.order(Step::Last);
        region.finish();
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
