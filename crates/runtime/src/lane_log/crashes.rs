//! Regions of any shape under any log, crashed anywhere.

use super::{Log, Region};
use crate::adversary::{Adversary, Play, Watch, FENCED, STRANDS};
use crate::{recover, Heap, LogLayout, LogUnit, Logging, Runtime, Step, Table, Wal, TRAILER};
use proptest::prelude::*;
use strandline_isa::{Cpu, Image, Lowering, Memory, W};

/// The regions: each writes its number into some lines.
#[derive(Clone, Copy, Debug)]
struct Shape {
    lines: u64,
    per_step: u64,
    writes: Writes,
    /// A step's updates may persist with the next one's records.
    shared: bool,
}

/// What a region writes of a line, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writes {
    /// All seven words, logged.
    Lines,
    /// The same, logged in packed records.
    Packed,
    /// The first word, by a single write.
    Word,
}

const RUNTIMES: [Runtime; 6] = [
    Runtime::Undo,
    Runtime::Txn,
    Runtime::Atlas,
    Runtime::Sfr,
    Runtime::Redo,
    Runtime::Wal(Wal::LogPSf),
];

const LANES: usize = 2;
const REGIONS: u64 = 9;

impl Shape {
    /// Records of an undo log: two for seven words; and one of its own line, behind single writes.
    fn records(self) -> u64 {
        match self.writes {
            Writes::Lines | Writes::Packed => 2 * self.lines,
            Writes::Word => self.lines + 1,
        }
    }

    fn region<'c, C: Cpu>(self, region: &mut Region<'_, 'c, C>, rows: &[W<'c, C>], value: W<'c, C>) {
        if self.writes == Writes::Word {
            rows.iter().for_each(|row| region.write(*row, value, 8));
            return region.end();
        }
        let more = if self.shared { Step::Shared } else { Step::More };
        let mut left = rows.len();
        for rows in rows.chunks(self.per_step as usize) {
            left -= rows.len();
            for row in rows {
                match self.writes {
                    Writes::Packed => region.log_packed(*row, TRAILER, TRAILER),
                    _ => region.log(*row, 0, TRAILER),
                }
            }
            region.order(if left == 0 { Step::Last } else { more });
            for row in rows {
                for offset in (0..TRAILER).step_by(8) {
                    region.update(row.at(offset), value, 8);
                }
            }
            region.finish();
        }
    }

    /// All lines hold the same number in what a region writes.
    fn check(self, image: &Memory, lines: Table<TRAILER>) -> Result<(), String> {
        let words = if self.writes == Writes::Word { 1 } else { 7 };
        let number = image.word(lines.addr(0));
        for row in 0..self.lines {
            let line = image.line(lines.addr(row).line());
            if line[..words].iter().any(|word| *word != number) {
                return Err(format!("line {row} holds {line:?}, and line 0 begins with {number}"));
            }
        }
        Ok(())
    }
}

/// Runs the regions of two lanes, with rings that hold exactly two regions and `spare` records more; the first failure.
fn first_failure(logging: Logging, shape: Shape, spare: u64, lowering: Lowering, play: Play) -> Option<String> {
    let mut heap = Heap::with(logging);
    let lines: Table<TRAILER> = heap.table(shape.lines);
    let lock = heap.dram(8);
    let records = match logging.runtime {
        Runtime::Undo => 2 * shape.records() + spare,
        _ => 16,
    };
    let logs = LogLayout::allocate(&mut heap, LANES, records);
    let memory = heap.memory();
    let mut failure = None;
    let mut inspect = |image: &Memory, watch: &Watch| {
        let image = image.persistent_half();
        recover(&image, &logs);
        let verdict = shape.check(&image, lines).and_then(|()| watch.verify(&image));
        failure = failure.take().or(verdict.err());
    };
    let machine = Adversary::new(&memory, LANES, lowering, play, &mut inspect);
    let run = machine.run(&|lane, cpu| {
        let mut log = Log::open(cpu, &logs, lane);
        let lock = cpu.word(lock.0);
        let rows: Vec<_> = (0..shape.lines).map(|row| cpu.word(lines.addr(row).0)).collect();
        for number in 1..=REGIONS {
            log.lock(lock);
            shape.region(&mut log.begin(), &rows, cpu.word(number * 2 + lane as u64));
            log.unlock(lock);
        }
        log.close();
    });
    run.unwrap();
    failure
}

fn logging() -> impl Strategy<Value = Logging> {
    let units = vec![LogUnit::Store, LogUnit::Line];
    let chosen = (
        prop::sample::select(RUNTIMES.to_vec()),
        prop::sample::select(units),
        1u64..5,
    );
    chosen.prop_map(|(runtime, unit, batch)| Logging {
        runtime,
        unit,
        batch,
        ..Logging::UNDO
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let writes = prop::sample::select(vec![Writes::Lines, Writes::Packed, Writes::Word]);
    let chosen = (1u64..6, 1u64..4, writes, any::<bool>());
    chosen.prop_map(|(lines, per_step, writes, shared)| Shape {
        lines,
        per_step,
        writes,
        shared,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 320, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn regions_are_all_or_nothing_and_acknowledged_ones_stay(
        logging in logging(),
        shape in shape(),
        spare in 0u64..5,
        strands: bool,
        seed: u64,
        evict_one_in in 0u64..8,
    ) {
        let lowering = if strands { STRANDS } else { FENCED };
        prop_assert_eq!(first_failure(logging, shape, spare, lowering, Play { seed, evict_one_in }), None);
    }
}

#[test]
fn updates_that_are_not_ordered_behind_their_records_are_found() {
    let shape = Shape {
        lines: 3,
        per_step: 3,
        writes: Writes::Word,
        shared: false,
    };
    for (runtime, lowering) in RUNTIMES
        .into_iter()
        .flat_map(|runtime| [(runtime, FENCED), (runtime, STRANDS)])
    {
        let logging = Logging {
            runtime,
            batch: 2,
            ..Logging::UNDO
        };
        let unordered = Lowering {
            log_before_update: &[],
            ..lowering
        };
        let finds = |seed| first_failure(logging, shape, 0, unordered, Play { seed, evict_one_in: 3 }).is_some();
        assert!((0..60).any(finds), "{runtime:?}");
    }
}
