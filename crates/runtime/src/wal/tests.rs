use super::*;
use crate::adversary::FENCED;
use crate::layout::Instead;
use crate::{finish, recover, Heap, Log, LogLayout, Logging, Plain, Runtime, Step, PAYLOAD_BYTES};
use strandline_isa::{Addr, CoreId, Image, Memory};

/// Two lines and the log of one lane.
struct Place {
    logs: LogLayout,
    lines: Addr,
    memory: Memory,
}

fn place(records: u64) -> Place {
    let mut heap = Heap::with(Logging {
        runtime: Runtime::Wal(Wal::LogPSf),
        ..Logging::UNDO
    });
    let lines = heap.pm(128);
    let logs = LogLayout::allocate(&mut heap, 1, records);
    let memory = heap.memory();
    for word in 0..16 {
        memory.set_word(Addr(lines.0 + 8 * word), 100 + word);
    }
    Place { logs, lines, memory }
}

impl Place {
    fn layout(&self) -> WalLayout {
        match self.logs.instead {
            Instead::Wal(wal) => wal,
            _ => panic!("another runtime's logs"),
        }
    }

    fn word(&self, word: u64) -> u64 {
        self.memory.word(Addr(self.lines.0 + 8 * word))
    }

    fn logged(&self) -> u64 {
        self.memory.word(self.layout().logged(0))
    }

    fn cpu(&self) -> Plain<'_> {
        Plain::new(&self.memory, CoreId(0), FENCED)
    }
}

/// Two steps that both write the first word of the first line, and all of the second line; the region stays open if not
/// `ends`.
fn two_steps<C: Cpu>(cpu: &C, place: &Place, ends: bool) {
    let mut log = Log::open(cpu, &place.logs, 0);
    let (first, second) = (cpu.word(place.lines.0), cpu.word(place.lines.0 + 64));
    let mut region = log.begin();
    region.log(first, 0, 16);
    region.order(Step::More);
    region.update(first, cpu.word(1), 8);
    region.finish();
    region.log(first, 0, 8);
    region.log(second, 0, 64);
    region.order(Step::Last);
    region.update(first, cpu.word(2), 8);
    for word in 0..8 {
        region.update(second.at(8 * word), cpu.word(word), 8);
    }
    if ends {
        region.finish();
    }
}

#[test]
fn an_open_region_is_undone_with_its_newest_record_first() {
    let place = place(8);
    finish(|| two_steps(&place.cpu(), &place, false)).unwrap();
    // The logged word counts the records of both steps.
    assert_eq!((place.logged(), place.word(0), place.word(15)), (3, 2, 7));
    recover(&place.memory, &place.logs);
    assert_eq!(place.logged(), 0);
    for word in 0..16 {
        assert_eq!(place.word(word), 100 + word, "word {word}");
    }
}

#[test]
fn a_region_that_has_cleared_its_word_stands() {
    let place = place(8);
    finish(|| two_steps(&place.cpu(), &place, true)).unwrap();
    recover(&place.memory, &place.logs);
    assert_eq!((place.word(0), place.word(1), place.word(15)), (2, 101, 7));
}

#[test]
fn single_writes_log_each_line_once() {
    let place = place(2);
    let cpu = place.cpu();
    let word = |word: u64| cpu.word(place.lines.0 + 8 * word);
    finish(|| {
        let mut log = Log::open(&cpu, &place.logs, 0);
        let mut region = log.begin();
        for at in [0, 1, 9, 0, 8] {
            region.write(word(at), cpu.word(7), 8);
        }
        assert_eq!(place.logged(), 2);
        region.end();
        // The next region finds none of them logged.
        let mut region = log.begin();
        region.write(word(1), cpu.word(8), 8);
        assert_eq!((place.logged(), place.word(1)), (1, 8));
    })
    .unwrap();
    recover(&place.memory, &place.logs);
    assert_eq!([0, 1, 8, 9].map(|word| place.word(word)), [7; 4]);
}

#[test]
fn a_packed_row_has_a_record_for_each_line() {
    let place = place(2);
    let cpu = place.cpu();
    finish(|| {
        let mut log = Log::open(&cpu, &place.logs, 0);
        let mut region = log.begin();
        let row = cpu.word(place.lines.0);
        region.log_packed(row, 96, PAYLOAD_BYTES);
        region.order(Step::Last);
        assert_eq!(place.logged(), 2);
        region.update(row.at(48), cpu.word(5), 8);
    })
    .unwrap();
    recover(&place.memory, &place.logs);
    for word in 0..16 {
        assert_eq!(place.word(word), 100 + word, "word {word}");
    }
}

#[test]
fn a_region_without_writes_leaves_the_log_alone() {
    let place = place(2);
    let cpu = place.cpu();
    finish(|| {
        let mut log = Log::open(&cpu, &place.logs, 0);
        log.begin().end();
    })
    .unwrap();
    assert_eq!(place.logged(), 0);
}

#[test]
fn a_free_line_is_flushed_and_not_logged() {
    let place = place(2);
    let cpu = place.cpu();
    finish(|| {
        let mut log = Log::open(&cpu, &place.logs, 0);
        let mut region = log.begin();
        let (first, second) = (cpu.word(place.lines.0), cpu.word(place.lines.0 + 64));
        region.fresh(second);
        region.log(first, 8, 8);
        region.order(Step::Last);
        assert_eq!(place.logged(), 1);
        region.update(second, cpu.word(5), 8);
        region.update(first.at(8), cpu.word(6), 8);
    })
    .unwrap();
    recover(&place.memory, &place.logs);
    assert_eq!((place.word(1), place.word(8)), (101, 5));
}

#[test]
#[should_panic(expected = "workload.log_records")]
fn a_region_that_its_log_cannot_hold_is_refused() {
    let place = place(2);
    // Three records.
    finish(|| two_steps(&place.cpu(), &place, false)).unwrap();
}
