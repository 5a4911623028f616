use super::*;
use crate::adversary::FENCED;
use crate::{finish, Heap, Logging, Plain, Random, Runtime, Wal};
use std::cell::Cell;
use strandline_isa::{Addr, CoreId, Memory};

/// Regions that add to random words.
fn regions<'c, C: Cpu>(cpu: &'c C, log: &mut Log<'c, C>, random: &mut Random<'c, C>, lines: Addr, number: u64) {
    for _ in 0..number {
        let line = (finish(|| random.below(4)).unwrap() << 6) + lines.0;
        let mut region = log.begin();
        region.log(line, 0, PAYLOAD_BYTES);
        region.order(Step::Last);
        let word = region.read(line.at(8), 8);
        region.update(line.at(8), word + cpu.word(1), 8);
        region.finish();
    }
}

/// Whether a thread that continues from saved registers does what it would have done.
fn continues(runtime: Runtime) -> Option<bool> {
    let mut heap = Heap::with(Logging {
        runtime,
        ..Logging::UNDO
    });
    let lines = heap.pm(4 * LINE_BYTES);
    // The ring wraps.
    let logs = LogLayout::allocate(&mut heap, 1, 6);
    let memory = heap.memory();
    let cpu = Plain::new(&memory, CoreId(0), FENCED);
    let (saved, then) = finish(|| {
        let mut log = Log::open(&cpu, &logs, 0);
        let mut random = Random::new(&cpu, 1, 0);
        regions(&cpu, &mut log, &mut random, lines, 7);
        let mut saved = vec![random.save()];
        let saves = log.save(&mut saved);
        let then = memory.clone();
        regions(&cpu, &mut log, &mut random, lines, 9);
        let bits: Vec<u64> = saved.iter().map(|word| word.bits()).collect();
        (saves.then_some(bits), then)
    })
    .unwrap();
    let saved = saved?;
    let cpu = Plain::new(&then, CoreId(0), FENCED);
    finish(|| {
        let mut from = saved.into_iter().map(|bits| cpu.word(bits));
        let mut log = Log::open(&cpu, &logs, 0);
        let mut random = Random::new(&cpu, 2, 0);
        random.load(from.next().unwrap());
        log.load(&mut from);
        assert!(from.next().is_none());
        regions(&cpu, &mut log, &mut random, lines, 9);
    })
    .unwrap();
    let bits = |memory: &Memory| memory.pm_words().iter().map(Cell::get).collect::<Vec<u64>>();
    Some(bits(&memory) == bits(&then))
}

#[test]
fn a_thread_continues_from_saved_registers() {
    for variant in [Wal::None, Wal::Log, Wal::LogP, Wal::LogPSf] {
        assert_eq!(continues(Runtime::Wal(variant)), Some(true), "{variant:?}");
    }
    assert_eq!(continues(Runtime::Undo), Some(true));
    for runtime in [Runtime::Txn, Runtime::Atlas, Runtime::Sfr, Runtime::Redo] {
        assert_eq!(continues(runtime), None, "{runtime:?}");
    }
}
