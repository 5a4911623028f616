//! Figure 6 step by step, and dependences of lanes.

use super::entry::{field, Entry, LogEntryKind, ENTRY_STAMPS};
use super::layout::{head, ModelLayout, POSITION_SHIFT};
use super::scan::Scan;
use crate::adversary::FENCED;
use crate::layout::Instead;
use crate::{finish, recover, Heap, Log, LogLayout, LogUnit, Logging, Plain, Region, Runtime, Step, Table, TRAILER};
use strandline_isa::{Addr, CoreId, Cpu, Image, Memory, Note};

/// Lanes under a runtime, with a lock and lines.
struct Place {
    logs: LogLayout,
    model: ModelLayout,
    lock: Addr,
    lines: Table<TRAILER>,
    memory: Memory,
}

fn place(runtime: Runtime, batch: u64, records: u64) -> Place {
    let logging = Logging {
        runtime,
        batch,
        ..Logging::UNDO
    };
    place_of(logging, records)
}

fn place_of(logging: Logging, records: u64) -> Place {
    place_for(logging, records, 2)
}

/// As many locks as lanes, and lines enough.
fn place_for(logging: Logging, records: u64, lanes: usize) -> Place {
    let mut heap = Heap::with(logging);
    let runtime = logging.runtime;
    let lines = heap.table(lanes as u64 + 4);
    let lock = heap.dram(8 * lanes as u64);
    let logs = LogLayout::allocate(&mut heap, lanes, records);
    let Instead::Model(model) = logs.instead else {
        panic!("{runtime:?} is no model's");
    };
    Place {
        logs,
        model,
        lock,
        lines,
        memory: heap.memory(),
    }
}

impl Place {
    fn line(&self, row: u64) -> Addr {
        self.lines.addr(row)
    }

    fn cpu(&self) -> Plain<'_> {
        Plain::new(&self.memory, CoreId(0), FENCED)
    }

    /// The recovered image of a crash after which everything is durable.
    fn recovered(&self) -> Memory {
        let image = self.memory.persistent_half();
        recover(&image, &self.logs);
        image
    }

    /// Lane 0's entry at a position that is still in the first block.
    fn entry(&self, position: u64) -> Addr {
        self.entry_of(0, position)
    }

    /// A lane's entry at a position that is still in the first block.
    fn entry_of(&self, lane: usize, position: u64) -> Addr {
        Addr(self.model.block_at(lane, 0).0 + 64 * position)
    }

    /// Takes the update of this line from an image, and the lane's two entries, as if none had become durable.
    fn lose(&self, image: &Memory, lane: usize, line: u64) {
        image.set_word(self.line(line), 0);
        for position in 1..=2 {
            (0..8).for_each(|word| image.set_word(Addr(self.entry_of(lane, position).0 + 8 * word), 0));
        }
    }

    fn head(&self, image: &Memory) -> u64 {
        image.word(Addr(self.model.base(0).0 + head::LAST)) >> POSITION_SHIFT
    }

    fn states(&self, image: &Memory) -> Vec<(bool, bool)> {
        let read = |position| Entry::read(image, self.entry(position));
        (1..=4).map(read).map(|entry| (entry.valid, entry.marker)).collect()
    }
}

/// A section of entries 1 to 4, as the figure's: a lock, two updates, the unlock. It is not committed.
fn figure<'c, C: Cpu>(place: &Place, cpu: &'c C) -> Log<'c, C> {
    let mut log = Log::open(cpu, &place.logs, 0);
    let lock = cpu.word(place.lock.0);
    log.lock(lock);
    let mut region = log.begin();
    region.write(cpu.word(place.line(0).0), cpu.word(7), 8);
    region.write(cpu.word(place.line(1).0), cpu.word(8), 8);
    region.end();
    log.unlock(lock);
    log
}

#[test]
fn figure_6_before_the_commit_the_section_is_rolled_back() {
    let place = place(Runtime::Atlas, 8, 64);
    let cpu = place.cpu();
    finish(|| figure(&place, &cpu)).map(drop).unwrap();
    let kinds: Vec<Entry> = (1..=4).map(|at| Entry::read(&place.memory, place.entry(at))).collect();
    assert!(
        kinds[0].is(LogEntryKind::Acquire)
            && kinds[1].is(LogEntryKind::Store)
            && kinds[2].is(LogEntryKind::Store)
            && kinds[3].is(LogEntryKind::Release)
    );
    assert_eq!(place.states(&place.memory), [(true, false); 4]);
    let image = place.recovered();
    assert_eq!((image.word(place.line(0)), image.word(place.line(1))), (0, 0));
    assert_eq!((place.states(&image), place.head(&image)), (vec![(false, false); 4], 4));
}

#[test]
fn figure_6_commit_and_recovery_with_a_crash_after_each_step() {
    // Step 2 sets the marker of entry 4; step 3 invalidates 1 to 4; step 4 moves the head behind them.
    for invalidated in 0..=4 {
        let place = place(Runtime::Atlas, 8, 64);
        let cpu = place.cpu();
        finish(|| figure(&place, &cpu)).map(drop).unwrap();
        let state = |position| Addr(place.entry(position).0 + field::STATE);
        place
            .memory
            .set_word(state(4), place.memory.word(state(4)) | super::entry::MARKER);
        for position in 1..=invalidated {
            let valid = place.memory.word(state(position));
            place.memory.set_word(state(position), valid & !super::entry::VALID);
        }
        assert_eq!(place.head(&place.memory), 0);
        // Recovery finishes the commit and undoes none of it, also after a crash during recovery.
        let image = place.recovered();
        for _ in 0..2 {
            assert_eq!(
                (image.word(place.line(0)), image.word(place.line(1))),
                (7, 8),
                "{invalidated}"
            );
            let states = place.states(&image);
            assert!(states.iter().all(|(valid, _)| !valid), "{states:?}");
            assert_eq!(place.head(&image), 4);
            recover(&image, &place.logs);
        }
    }
}

#[test]
fn figure_6_the_program_s_own_commit_does_the_same_steps() {
    let place = place(Runtime::Atlas, 8, 64);
    let cpu = place.cpu();
    finish(|| {
        let mut log = figure(&place, &cpu);
        log.close();
    })
    .unwrap();
    let states = [(false, false), (false, false), (false, false), (false, true)];
    assert_eq!(
        (place.states(&place.memory).as_slice(), place.head(&place.memory)),
        (&states[..], 4)
    );
    let image = place.recovered();
    assert_eq!((image.word(place.line(0)), image.word(place.line(1))), (7, 8));
}

#[test]
fn entries_behind_a_commit_are_rolled_back_newest_first() {
    let place = place(Runtime::Txn, 1, 64);
    let cpu = place.cpu();
    finish(|| {
        let mut log = Log::open(&cpu, &place.logs, 0);
        let at = cpu.word(place.line(0).0);
        for last in [3, 9] {
            let mut region = log.begin();
            for value in 1..=last {
                region.write(at, cpu.word(value), 8);
            }
            // The second transaction does not end.
            if last == 3 {
                region.end();
            }
        }
    })
    .unwrap();
    assert_eq!(place.memory.word(place.line(0)), 9);
    assert_eq!(place.recovered().word(place.line(0)), 3);
}

#[test]
fn a_full_log_grows_and_recovery_finds_what_is_in_the_new_blocks() {
    for runtime in [Runtime::Txn, Runtime::Atlas, Runtime::Sfr] {
        // Four blocks of two entries, of sixteen.
        let place = place(runtime, 2, 8);
        let cpu = place.cpu();
        finish(|| {
            let mut log = Log::open(&cpu, &place.logs, 0);
            let mut region = log.begin();
            for value in 1..=20 {
                // Each word once: a word is logged once.
                let word = place.line(value % 6).0 + 8 * (value / 6);
                region.write(cpu.word(word), cpu.word(value), 8);
            }
        })
        .unwrap();
        assert!(Scan::of(&place.memory, &place.model, 0).entries.len() >= 20);
        let image = place.recovered();
        assert!((0..6).all(|row| image.word(place.line(row)) == 0), "{runtime:?}");
    }
}

#[test]
fn a_step_logs_each_store_or_each_line() {
    let entries = |unit| {
        let logging = Logging {
            runtime: Runtime::Txn,
            unit,
            ..Logging::UNDO
        };
        let place = place_of(logging, 64);
        let cpu = place.cpu();
        finish(|| {
            let mut log = Log::open(&cpu, &place.logs, 0);
            let mut region = log.begin();
            let rows = [0, 1].map(|row| cpu.word(place.line(row).0));
            step(&mut region, &rows, cpu.word(7), Step::More);
            // The section has logged these words.
            step(&mut region, &rows, cpu.word(8), Step::More);
        })
        .unwrap();
        let image = place.recovered();
        assert_eq!(image.line(place.line(1).line())[..7], [0; 7], "{unit:?}");
        let found = Scan::of(&place.memory, &place.model, 0).entries;
        found.iter().filter(|entry| entry.is(LogEntryKind::Store)).count()
    };
    // Two lines of seven words: an entry for each, or for up to four.
    assert_eq!((entries(LogUnit::Store), entries(LogUnit::Line)), (14, 4));
}

/// Lane 0 writes 1, then lane 1 reads that under the same lock and writes it plus one elsewhere. Lane 1 tries to commit.
fn two_lanes<'c, C: Cpu>(place: &Place, cpu: &'c C) -> [Log<'c, C>; 2] {
    let mut first = Log::open(cpu, &place.logs, 0);
    let mut second = Log::open(cpu, &place.logs, 1);
    let (lock, from, to) = (
        cpu.word(place.lock.0),
        cpu.word(place.line(0).0),
        cpu.word(place.line(1).0),
    );
    first.lock(lock);
    let mut region = first.begin();
    region.write(from, cpu.word(1), 8);
    region.end();
    first.unlock(lock);
    for _ in 0..2 {
        second.lock(lock);
        let mut region = second.begin();
        let value = region.read(from, 8) + region.read(to, 8) + 1;
        region.write(to, value, 8);
        region.end();
        second.unlock(lock);
    }
    [first, second]
}

fn durable(notes: &[Note]) -> usize {
    notes.iter().filter(|note| **note == Note::RegionDurable).count()
}

#[test]
fn a_region_that_has_ended_is_rolled_back_with_what_it_depends_on() {
    for runtime in [Runtime::Atlas, Runtime::Sfr] {
        // The second lane's batch is full, but the first lane's is not.
        let place = place(runtime, 2, 64);
        let cpu = Plain::recording(&place.memory, CoreId(0), FENCED);
        let logs = finish(|| two_lanes(&place, &cpu)).unwrap();
        assert_eq!(durable(&cpu.take_notes()), 0);
        assert_eq!(place.memory.word(place.line(1)), 4);
        let image = place.recovered();
        assert_eq!(
            (image.word(place.line(0)), image.word(place.line(1))),
            (0, 0),
            "{runtime:?}"
        );
        let [mut first, mut second] = logs;
        finish(|| {
            first.close();
            second.close();
        })
        .unwrap();
        assert_eq!(durable(&cpu.take_notes()), 3);
        let image = place.recovered();
        assert_eq!(
            (image.word(place.line(0)), image.word(place.line(1))),
            (1, 4),
            "{runtime:?}"
        );
    }
}

#[test]
fn redo_replays_what_was_committed_and_not_written_in_place() {
    let place = place(Runtime::Redo, 8, 64);
    let cpu = place.cpu();
    finish(|| two_lanes(&place, &cpu)).map(drop).unwrap();
    let image = place.memory.persistent_half();
    // Nothing in place is durable yet.
    image.set_word(place.line(0), 0);
    image.set_word(place.line(1), 0);
    for _ in 0..2 {
        recover(&image, &place.logs);
        assert_eq!((image.word(place.line(0)), image.word(place.line(1))), (1, 4));
    }
}

#[test]
fn redo_acknowledges_a_group_at_once_and_only_behind_what_it_depends_on() {
    let place = place(Runtime::Redo, 2, 64);
    let cpu = Plain::recording(&place.memory, CoreId(0), FENCED);
    finish(|| {
        let [mut first, mut second] = two_lanes(&place, &cpu);
        assert_eq!(durable(&cpu.take_notes()), 0);
        first.close();
        assert_eq!(durable(&cpu.take_notes()), 1);
        second.close();
        assert_eq!(durable(&cpu.take_notes()), 2);
    })
    .unwrap();
}

#[test]
fn an_acquire_ends_a_synchronization_free_region() {
    // A region, an acquire, a region: two locks are held, and the inner release ends the second section.
    let place = place(Runtime::Sfr, 8, 64);
    let cpu = place.cpu();
    let ends = finish(|| {
        let mut log = Log::open(&cpu, &place.logs, 0);
        let [outer, inner] = [0, 8].map(|offset| cpu.word(place.lock.0 + offset));
        log.lock(outer);
        for row in [0, 1] {
            let mut region = log.begin();
            region.write(cpu.word(place.line(row).0), cpu.word(7), 8);
            region.end();
            if row == 0 {
                log.lock(inner);
            }
        }
        log.unlock(inner);
        log.unlock(outer);
        let found = Scan::of(&place.memory, &place.model, 0).entries;
        found
            .iter()
            .map(|entry| entry.is(LogEntryKind::Release))
            .collect::<Vec<_>>()
    });
    assert_eq!(ends, Ok(vec![false, true, false, true]));
}

/// Whether redo recovery undoes what was built on a region whose entries were lost.
#[test]
fn redo_undoes_what_depends_on_a_region_that_was_lost() {
    let place = place(Runtime::Redo, 8, 64);
    let cpu = place.cpu();
    finish(|| two_lanes(&place, &cpu)).map(drop).unwrap();
    let image = place.memory.persistent_half();
    // On strands nothing orders the first lane's entries and update before the second lane's.
    place.lose(&image, 0, 0);
    for _ in 0..2 {
        recover(&image, &place.logs);
        assert_eq!((image.word(place.line(0)), image.word(place.line(1))), (0, 0));
    }
}

/// The lanes that write a line each, under a lock each, for another to read: more than one entry names.
const READ_BY_ONE: usize = ENTRY_STAMPS as usize + 2;

/// Each of these lanes writes 1 to its line; the next lane takes all locks and writes the sum of the lines.
fn one_reads_all(place: &Place, cpu: &Plain<'_>) {
    let lock = |lane: usize| cpu.word(place.lock.0 + 8 * lane as u64);
    let line = |lane: usize| cpu.word(place.line(lane as u64).0);
    for lane in 0..READ_BY_ONE {
        let mut log = Log::open(cpu, &place.logs, lane);
        log.lock(lock(lane));
        let mut region = log.begin();
        region.write(line(lane), cpu.word(1), 8);
        region.end();
        log.unlock(lock(lane));
    }
    let mut log = Log::open(cpu, &place.logs, READ_BY_ONE);
    (0..READ_BY_ONE).for_each(|lane| log.lock(lock(lane)));
    let mut region = log.begin();
    let sum = (0..READ_BY_ONE).fold(cpu.word(0), |sum, lane| sum + region.read(line(lane), 8));
    region.write(line(READ_BY_ONE), sum, 8);
    region.end();
    (0..READ_BY_ONE).for_each(|lane| log.unlock(lock(lane)));
}

#[test]
fn redo_undoes_a_region_whichever_of_many_dependences_is_lost() {
    for lost in 0..READ_BY_ONE {
        let logging = Logging {
            runtime: Runtime::Redo,
            batch: 8,
            ..Logging::UNDO
        };
        let place = place_for(logging, 64, READ_BY_ONE + 1);
        let cpu = place.cpu();
        finish(|| one_reads_all(&place, &cpu)).unwrap();
        let image = place.memory.persistent_half();
        assert_eq!(image.word(place.line(READ_BY_ONE as u64)), READ_BY_ONE as u64);
        place.lose(&image, lost, lost as u64);
        recover(&image, &place.logs);
        assert_eq!(image.word(place.line(READ_BY_ONE as u64)), 0, "lane {lost} was lost");
    }
}

fn step<'c, C: Cpu>(
    region: &mut Region<'_, 'c, C>,
    rows: &[strandline_isa::W<'c, C>],
    value: strandline_isa::W<'c, C>,
    step: Step,
) {
    for row in rows {
        region.log(*row, 0, TRAILER);
    }
    region.order(step);
    for row in rows {
        for offset in (0..TRAILER).step_by(8) {
            region.update(row.at(offset), value, 8);
        }
    }
    region.finish();
}
