//! Cases beyond the workloads: two steps of a region that write one line, with a crash in the second; regions that fill
//! their logs, on a machine that writes back as badly as it may. And cases that no run under x86 shows: a redo-logged
//! region is lost while a region that has read from it is kept.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use strandline_design::Design;
use strandline_designs::X86;
use strandline_isa::{Addr, CoreId, Cpu, Image, Lowering, Memory, LINE_BYTES};
use strandline_runtime::adversary::{Adversary, Play, Watch, FENCED, SPECULATING, STRANDS};
use strandline_runtime::{finish, recover, Heap, Log, LogLayout, Logging, Plain, Runtime, Step, Wal};

/// What is not recovered.
pub fn run() -> Option<String> {
    for runtime in [Runtime::Undo, Runtime::Wal(Wal::LogPSf)] {
        if !restores_a_line_of_two_steps(runtime) {
            return Some(format!("{}: a line of two steps is not restored", runtime.name()));
        }
    }
    if let Some(found) = FILLS.iter().find(|fills| !fills.recover()) {
        return Some(found.what.to_owned());
    }
    if (1..=SEEDS).any(commits_what_misled_it) {
        return Some("a region that was misled is committed".to_owned());
    }
    (!undoes_what_builds_on_a_lost_region()).then(|| "what builds on a lost region is not undone".to_owned())
}

/// Whether recovery undoes the second region, because all writes of the first lane were lost.
fn undoes_what_builds_on_a_lost_region() -> bool {
    let mut heap = Heap::with(Logging {
        runtime: Runtime::Redo,
        batch: 8,
        ..Logging::UNDO
    });
    let (lines, lock) = (heap.pm(128), heap.dram(8));
    let logs = LogLayout::allocate(&mut heap, 2, 16);
    let memory = heap.memory();
    let before = memory.clone();
    let cpu = Plain::new(&memory, CoreId(0), X86.lowering());
    finish(|| two_lanes(&cpu, &logs, lock, lines)).expect("nobody to wait for");
    let range = logs.range();
    let lost = (range.start..(range.start + range.end) / 2).step_by(8);
    for addr in lost.map(Addr).chain([lines]) {
        memory.set_word(addr, before.word(addr));
    }
    recover(&memory, &logs);
    memory.word(Addr(lines.0 + 64)) == 0
}

fn two_lanes<C: Cpu>(cpu: &C, logs: &LogLayout, lock: Addr, lines: Addr) {
    let (lock, from) = (cpu.word(lock.0), cpu.word(lines.0));
    for lane in 0..2 {
        let mut log = Log::open(cpu, logs, lane);
        log.lock(lock);
        let mut region = log.begin();
        let value = region.read(from, 8) + 1;
        region.write(from.at(64 * lane as u64), value, 8);
        region.end();
        log.unlock(lock);
    }
}

/// Whether recovery restores the line's content before the region.
fn restores_a_line_of_two_steps(runtime: Runtime) -> bool {
    let mut heap = Heap::with(Logging {
        runtime,
        ..Logging::UNDO
    });
    let line = heap.pm(64);
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    let cpu = Plain::new(&memory, CoreId(0), X86.lowering());
    finish(|| two_steps(&cpu, &logs, line)).expect("nobody to wait for");
    recover(&memory, &logs);
    memory.word(line) == 0
}

fn two_steps<C: Cpu>(cpu: &C, logs: &LogLayout, line: Addr) {
    let mut log = Log::open(cpu, logs, 0);
    let mut region = log.begin();
    let at = cpu.word(line.0);
    region.log(at, 0, 8);
    region.order(Step::More);
    region.update(at, cpu.word(1), 8);
    region.finish();
    region.log(at, 0, 8);
    region.order(Step::Last);
    region.update(at, cpu.word(2), 8);
}

/// A load is misled once in three.
const SEEDS: u64 = 32;

/// Whether a region ends that has taken its own store for not done. A region that is interrupted goes no further.
fn commits_what_misled_it(seed: u64) -> bool {
    let mut heap = Heap::default();
    let line = heap.pm(64);
    let logs = LogLayout::allocate(&mut heap, 1, 8);
    let memory = heap.memory();
    let play = Play { seed, evict_one_in: 0 };
    let mut inspect = |_: &Memory, _: &Watch| {};
    let machine = Adversary::new(&memory, 1, SPECULATING, play, &mut inspect);
    let ended = Cell::new(false);
    let run = machine.run(&|_, cpu| {
        let program = || counts_to_two(cpu, &logs, line);
        ended.set(catch_unwind(AssertUnwindSafe(program)).is_ok());
    });
    run.expect("it takes a few turns for each operation");
    ended.get() && memory.word(line) != 2
}

fn counts_to_two<C: Cpu>(cpu: &C, logs: &LogLayout, line: Addr) {
    let mut log = Log::open(cpu, logs, 0);
    let mut region = log.begin();
    let at = cpu.word(line.0);
    region.log(at, 0, 8);
    region.order(Step::Last);
    region.update(at, cpu.word(1), 8);
    region.update(at, at.load() + 1, 8);
    region.finish();
}

/// Regions of one lane, on a machine that may write back any line at any time.
struct Fills {
    what: &'static str,
    runtime: Runtime,
    lowering: Lowering,
    records: u64,
    /// The lines of each step of a region. The regions take turns.
    regions: &'static [&'static [&'static [u64]]],
}

const FILLS: &[Fills] = &[
    Fills {
        what: "undo: a region whose records the next one overwrites is undone",
        runtime: Runtime::Undo,
        lowering: FENCED,
        records: 4,
        regions: &[&[&[0], &[1]], &[&[0, 1]]],
    },
    Fills {
        what: "txn: a transaction of one line is committed without its updates",
        runtime: Runtime::Txn,
        lowering: FENCED,
        records: 64,
        regions: &[&[&[0]]],
    },
    Fills {
        what: "atlas: a section that goes round its log is undone in part",
        runtime: Runtime::Atlas,
        lowering: STRANDS,
        records: 8,
        regions: &[&[&[0]], &[&[0, 1, 2]]],
    },
];

/// Lines of [`FILLS`], and their regions.
const LINES: u64 = 3;
const REGIONS: usize = 9;

impl Fills {
    /// Whether each state in which they may be left recovers.
    fn recover(&self) -> bool {
        let mut heap = Heap::with(Logging {
            runtime: self.runtime,
            ..Logging::UNDO
        });
        let lines = heap.pm(LINES * LINE_BYTES);
        let logs = LogLayout::allocate(&mut heap, 1, self.records);
        let memory = heap.memory();
        (1..=FILL_SEEDS).all(|seed| {
            let mut recovers = true;
            let mut inspect = |image: &Memory, watch: &Watch| {
                let image = image.persistent_half();
                recover(&image, &logs);
                recovers &= watch.verify(&image).is_ok();
            };
            let play = Play {
                seed,
                evict_one_in: seed % 8,
            };
            let memory = memory.clone();
            let machine = Adversary::new(&memory, 1, self.lowering, play, &mut inspect);
            let run = machine.run(&|_, cpu| self.run(cpu, &logs, lines));
            run.expect("nobody to wait for");
            recovers
        })
    }

    /// Each region writes its number to two words of each line.
    fn run<C: Cpu>(&self, cpu: &C, logs: &LogLayout, lines: Addr) {
        let mut log = Log::open(cpu, logs, 0);
        for (number, steps) in (1..=REGIONS).zip(self.regions.iter().cycle()) {
            let mut region = log.begin();
            for (index, step) in steps.iter().enumerate() {
                let lines = step.iter().map(|line| cpu.word(lines.0 + line * LINE_BYTES));
                lines.clone().for_each(|line| region.log(line, 0, 16));
                region.order(if index + 1 == steps.len() {
                    Step::Last
                } else {
                    Step::More
                });
                for line in lines {
                    region.update(line, cpu.word(number as u64), 8);
                    region.update(line.at(8), cpu.word(number as u64), 8);
                }
                region.finish();
            }
        }
        log.close();
    }
}

/// Plays of the machine of [`FILLS`].
const FILL_SEEDS: u64 = 100;
