//! Cases beyond the workloads: two steps of a region that write one line, with a crash in the second. And cases that no
//! run under x86 shows: a redo-logged region is lost while a region that has read from it is kept.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use strandline_design::Design;
use strandline_designs::X86;
use strandline_isa::{Addr, CoreId, Cpu, Image, Memory};
use strandline_runtime::adversary::{Adversary, Play, Watch, SPECULATING};
use strandline_runtime::{
    finish, recover, BuildPlan, Heap, Log, LogLayout, Logging, Plain, Runtime, Step, UndoLog, Wal,
};

/// What is not recovered.
pub fn run() -> Option<String> {
    for runtime in [Runtime::Undo, Runtime::Wal(Wal::LogPSf)] {
        if !restores_a_line_of_two_steps(runtime) {
            return Some(format!("{}: a line of two steps is not restored", runtime.name()));
        }
    }
    if (1..=SEEDS).any(commits_what_misled_it) {
        return Some("a region that was misled is committed".to_owned());
    }
    (!undoes_what_builds_on_a_lost_region()).then(|| "what builds on a lost region is not undone".to_owned())
}

/// Whether recovery undoes the second region, because all writes of the first lane were lost.
fn undoes_what_builds_on_a_lost_region() -> bool {
    let mut heap = Heap::new(&BuildPlan {
        threads: 2,
        window: None,
        seed: 1,
        logging: Logging {
            runtime: Runtime::Redo,
            batch: 8,
            ..Logging::UNDO
        },
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
    let mut heap = Heap::new(&BuildPlan {
        threads: 1,
        window: None,
        seed: 1,
        logging: Logging {
            runtime,
            batch: 1,
            ..Logging::UNDO
        },
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
    let mut log = UndoLog::open(cpu, logs, 0);
    let mut region = log.begin();
    let at = cpu.word(line.0);
    region.log(at, 0, 8);
    region.order(Step::Last);
    region.update(at, cpu.word(1), 8);
    region.update(at, at.load() + 1, 8);
    region.finish();
}
