use super::*;
use crate::order::{Sync, SyncKind};

const FLAG: u64 = 100;

fn access(thread: u32, writes: bool) -> Access {
    Access {
        thread,
        first: FLAG,
        last: FLAG,
        writes,
        has_turn: false,
        pc: 0x1000 + u64::from(thread),
    }
}

/// What is assumed of thread 0's store and thread 1's load, with this in between.
fn between(syncs: &[(u32, SyncKind)], first: u32) -> Assumed {
    let mut races = Races::new(2);
    races.access(&access(first, first == 0));
    for (thread, kind) in syncs {
        races.clocks.sync(&Sync {
            thread: *thread,
            kind: *kind,
        });
    }
    races.access(&access(1 - first, first == 1));
    races.found
}

const ASSUMED: Assumed = Assumed {
    loads: 1,
    load: 0x1001,
    store: 0x1000,
};

#[test]
fn a_load_and_a_store_that_nothing_orders_are_assumed_in_both_directions() {
    assert_eq!(between(&[], 0), ASSUMED);
    assert_eq!(between(&[], 1), ASSUMED, "the load came first, by chance");
    // Turns at two words, and a signal that the other thread did not wait for, order nothing.
    let turn = |word, writes| SyncKind::Turn { word, writes };
    assert_eq!(between(&[(0, turn(8, true)), (1, turn(16, false))], 0), ASSUMED);
    assert_eq!(
        between(&[(0, SyncKind::Gives(3)), (1, SyncKind::Waits(4, 1))], 0),
        ASSUMED
    );
    assert_eq!(
        between(&[(0, turn(8, false)), (1, turn(8, true))], 0),
        ASSUMED,
        "a load tells nothing"
    );
}

#[test]
fn turns_signals_and_links_order_a_load() {
    let turn = |writes| SyncKind::Turn { word: 8, writes };
    let gives = [(0, SyncKind::Gives(3)), (1, SyncKind::Waits(3, 1))];
    for syncs in [&[(0, turn(true)), (1, turn(false))][..], &gives] {
        assert_eq!(between(syncs, 0), Assumed::default());
    }
    let back = [(1, SyncKind::Gives(3)), (0, SyncKind::Waits(3, 1))];
    assert_eq!(between(&back, 1), Assumed::default());
}

#[test]
fn loads_of_libraries_and_of_the_storing_thread_are_not_told() {
    let mut races = Races::new(2);
    races.access(&access(0, true));
    races.access(&access(0, false));
    let of_library = |access| Access { pc: 0, ..access };
    races.access(&of_library(access(1, false)));
    races.access(&of_library(access(1, true)));
    races.access(&access(0, false));
    assert_eq!(races.found, Assumed::default());
}
