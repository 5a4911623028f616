//! The block look-up table and roll-backs (4.2.2).

use super::super::*;
use super::rig::{Rig, A, B, C, D};
use crate::mock::{ONE, ZERO};

const PROGRESS: Until<Gate> = Until::Open(Gate::Progress(ZERO));

/// Three epochs: st A | st B | ld C, st D.
fn three_epochs(sets: &[(&str, u64)]) -> Rig {
    let mut rig = Rig::speculating(sets);
    rig.store(A, 1);
    rig.clwb(A);
    rig.sfence();
    rig.store(B, 1);
    rig.clwb(B);
    rig.sfence();
    rig.load(C, 8);
    rig.store(D, 1);
    assert_eq!((rig.checkpoints(), rig.epochs()), (3, 3));
    rig
}

/// 4.2.2: the table holds "all the cache block addresses accessed by both speculative loads and stores";
/// "Coherence operations are checked against the BLT". A read takes nothing from a load.
#[test]
fn requests_for_lines_that_were_touched_conflict() {
    for (addr, access, conflicts) in [
        (A, Access::Own, true),
        (A, Access::Read, true),
        (C, Access::Own, true),
        (C, Access::Read, false),
        (strandline_isa::Addr(D.0 + 64), Access::Own, false),
    ] {
        assert_eq!(three_epochs(&[]).asked(addr, access), conflicts, "{addr:?} {access:?}");
    }
}

/// 4.2.2: "If a conflict is detected, we simply roll back to the oldest checkpoint and flush the SSB and
/// all speculative state".
#[test]
fn a_conflict_goes_back_to_the_oldest_checkpoint_whichever_epoch_it_concerns() {
    for addr in [A, B, C, D] {
        let mut rig = three_epochs(&[]);
        assert!(rig.asked(addr, Access::Own));
        assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
        assert!(rig.buffer().is_empty());
        assert_eq!(
            rig.both.hw.spec.pending(ZERO, None),
            1,
            "the first pcommit, which is older"
        );
        let counters = rig.both.counters();
        assert_eq!(counters.rollbacks, Some(1));
        assert_eq!(own(&rig, "epochs_undone"), 3);
        assert!(!rig.asked(addr, Access::Own), "the table is empty");
    }
}

fn own(rig: &Rig, name: &str) -> u64 {
    let own = rig.both.counters().own.0;
    let (_, count) = own.iter().find(|(counter, _)| counter.name == name).expect("a counter");
    *count
}

/// Beyond the paper: the table distinguishes epochs.
#[test]
fn with_epochs_in_the_table_a_conflict_goes_back_to_the_epoch_that_it_concerns() {
    for (addr, left, entries) in [(A, 0, 0), (B, 1, 2), (C, 2, 4), (D, 2, 4)] {
        let mut rig = three_epochs(&[("blt", 1)]);
        assert!(rig.asked(addr, Access::Own));
        assert_eq!((rig.checkpoints(), rig.epochs()), (left, left));
        assert_eq!(rig.buffer().len(), entries);
        assert_eq!(own(&rig, "epochs_undone"), 3 - left as u64);
    }
}

/// An epoch that has committed is in conflict with nothing. Without distinction of epochs it is.
#[test]
fn with_epochs_in_the_table_a_committed_epoch_is_forgotten() {
    for (blt, conflicts) in [(0, true), (1, false)] {
        let mut rig = three_epochs(&[("blt", blt)]);
        rig.answer_pcommit();
        assert_eq!(rig.epochs(), 2);
        assert_eq!(rig.asked(A, Access::Own), conflicts);
    }
}

/// What younger epochs did is void; what older ones left in the buffer is not.
#[test]
fn a_roll_back_leaves_what_is_committed() {
    let mut rig = three_epochs(&[]);
    rig.answer_pcommit();
    assert!(rig.asked(D, Access::Own));
    assert_eq!(rig.buffer(), ["st A", "clwb A"]);
    assert_eq!(
        rig.fences(Primitive::Sfence),
        Admission::Hold(Until::Drained(None)),
        "no checkpoint: progress"
    );
    assert_eq!(rig.run_to_end(), ["st 2", "clwb A"]);
    assert_eq!(rig.both.hw.spec.pending(ZERO, None), 0);
}

/// A locked instruction that was being performed may be void; the next store is performed all the same.
#[test]
fn a_roll_back_takes_a_locked_instruction_back_that_was_being_performed() {
    let mut rig = Rig::locking();
    assert_eq!(rig.both.hw.spec.performs.len(), 1, "the locked instruction");
    assert!(rig.asked(B, Access::Own));
    assert!(rig.both.hw.spec.performs.is_empty());
    assert_eq!((rig.epochs(), rig.buffer().len()), (0, 0));
    assert_eq!(rig.locks(B), Departure::Go);
}

/// A conflict after speculation is none: the buffer's stores are only waiting for their turn.
#[test]
fn a_core_that_has_committed_is_not_rolled_back() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.load(B, 8);
    rig.answer_pcommit();
    assert_eq!(rig.buffer(), ["st A"]);
    assert!(!rig.asked(A, Access::Own) && !rig.asked(B, Access::Own));
}

/// The table is finite: an access that finds it full waits until an epoch commits.
#[test]
fn a_full_table_stalls_loads_and_stores() {
    let mut rig = Rig::speculating(&[("table_entries", 1)]);
    rig.store(A, 1);
    assert!(matches!(rig.load(A, 8), Forward::Bytes { .. }), "the line is in it");
    assert_eq!(rig.load(B, 8), Forward::Wait(PROGRESS));
    assert_eq!(rig.stores(ZERO, B, 1), Departure::Wait(PROGRESS));
    assert_eq!(own(&rig, "blt_full"), 2);
    rig.answer_pcommit();
    assert!(rig.both.has_opened(Gate::Progress(ZERO)));
    assert_eq!(rig.load(B, 8), Forward::Caches { after: Cycles(0) });
}

/// Conflicts are found whether or not the caches still hold the line: every core is asked, and a core
/// that reads a line of another's table does not get it to store to silently.
#[test]
fn a_line_of_the_table_conflicts_wherever_it_is() {
    let mut rig = Rig::speculating(&[]);
    rig.load(A, 8);
    assert!(rig.both.design.wants().snoops_all);
    assert!(rig.both.design.is_shared(ONE, A.line()));
    assert!(!rig.both.design.is_shared(ZERO, A.line()), "its own table");
    assert!(!rig.both.design.is_shared(ONE, B.line()));
}
