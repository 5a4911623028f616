use super::*;
use crate::{finish, LogLayout, Logging, Plain};
use std::collections::BTreeSet;
use strandline_isa::{Addr, CoreId, Lowering, Memory};
use strandline_kernel::Rng;

fn heap(library: CLibrary) -> Heap {
    Heap::with(Logging {
        library,
        ..Logging::UNDO
    })
}

fn churned(library: CLibrary, rows: u64, bytes: u64, seed: u64) {
    let mut heap = heap(library);
    let table = heap.rows(rows, bytes, rows);
    let lists = FreeLists::allocate(&mut heap, table, 2);
    let logs = LogLayout::allocate(&mut heap, 2, 4);
    let memory = heap.memory();
    let mut rng = Rng::new(seed);
    let mut held: BTreeSet<u64> = (0..rows)
        .filter(|_| rng.one_in(2))
        .map(|row| table.addr(row).0)
        .collect();
    let reachable = |row: u64| held.contains(&table.addr(row).0);
    lists.rebuild(&memory, reachable);
    let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
    let ended = finish(|| {
        let log = Log::open(&cpu, &logs, 0);
        for _ in 0..40 * rows {
            let thread = rng.below(2) as usize;
            // It fills, and it empties.
            if rng.below(8) < 2 + rng.below(5) {
                if let Some(taken) = lists.take(&cpu, thread) {
                    let row = taken.row().bits();
                    assert!(table.index_of(row).is_some(), "{row:#x} is a row");
                    assert!(held.insert(row), "{row:#x} was free");
                }
            } else if let Some(row) = held.iter().nth(rng.below(held.len().max(1) as u64) as usize).copied() {
                held.remove(&row);
                lists.give(&cpu, thread, cpu.word(row), &log);
            }
        }
        for thread in [0, 1] {
            while let Some(taken) = lists.take(&cpu, thread) {
                assert!(held.insert(taken.row().bits()));
            }
        }
        held.len() as u64
    });
    assert_eq!(ended, Ok(rows), "every row was handed out");
    assert_trailers(&memory, &table);
}

/// Nothing of the allocator is in persistent memory.
fn assert_trailers(memory: &Memory, table: &Rows) {
    assert!(table.range().step_by(8).all(|word| memory.word(Addr(word)) == 0));
}

#[test]
fn rows_are_handed_out_once_and_come_back() {
    for library in CLibrary::ALL {
        for (rows, bytes) in [
            (1, 8),
            (7, 8),
            (60, 64),
            (60, 128),
            (100, 320),
            (40, 1024),
            (30, 4096),
            (9, 16384),
        ] {
            for seed in 1..6 {
                churned(library, rows, bytes, seed);
            }
        }
    }
}

#[test]
fn every_free_row_is_handed_out_once_and_can_come_back() {
    for library in CLibrary::ALL {
        let mut heap = heap(library);
        let table = heap.rows(7, 8, 7);
        let lists = FreeLists::allocate(&mut heap, table, 2);
        let logs = LogLayout::allocate(&mut heap, 2, 4);
        let memory = heap.memory();
        lists.rebuild(&memory, |row| row == 3);
        let cpu = Plain::new(&memory, CoreId(0), Lowering::NOTHING);
        let taken = finish(|| {
            let mut taken = BTreeSet::new();
            let mut log = Log::open(&cpu, &logs, 0);
            while let Some(row) = lists.take(&cpu, 1) {
                log.takes(row);
                taken.insert(table.index_of(row.row().bits()).unwrap());
            }
            lists.give(&cpu, 0, cpu.word(table.addr(5).0), &log);
            let back = lists.take(&cpu, 0).map(|taken| taken.row().bits());
            assert_eq!(back, Some(table.addr(5).0));
            taken
        });
        assert_eq!(taken, Ok(BTreeSet::from([0, 1, 2, 4, 5, 6])));
    }
}
