//! Epochs: where they begin, what they delay, in which order they commit (4.1, 4.2.1, 4.2.2).

use super::super::*;
use super::rig::{Rig, A, B, C, D};
use crate::mock::{ONE, ZERO};
use strandline_design::ControllerId;
use strandline_isa::Flush;

const HELD: Admission<Gate> = Admission::Hold(Until::Drained(None));
const PROGRESS: Departure<Gate> = Departure::Wait(Until::Open(Gate::Progress(ZERO)));

/// 4.2.1: "speculation begins when an sfence following a pcommit is waiting for acknowledgements".
#[test]
fn an_sfence_without_an_outstanding_pcommit_does_not_speculate() {
    let mut rig = Rig::new(&[]);
    assert_eq!(rig.fences(Primitive::Sfence), Admission::Pass, "nothing to wait for");
    assert_eq!(rig.flushes(A, Flush::Clwb), Departure::Go);
    assert_eq!(rig.fences(Primitive::Sfence), HELD);
    assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
    rig.both.hw.spec.done(ZERO, 0);
    rig.pcommit();
    rig.answer_pcommit();
    assert_eq!(rig.fences(Primitive::Sfence), Admission::Pass, "it is answered");
    assert_eq!(rig.epochs(), 0);
}

/// Beyond the paper: with ADR an accepted flush is durable, so the sfence alone is what waits.
#[test]
fn with_adr_an_sfence_behind_a_flush_alone_speculates() {
    let mut rig = Rig::of(Speculative::sp_adr(), &[]);
    assert_eq!(rig.flushes(A, Flush::Clwb), Departure::Go);
    rig.sfence();
    assert_eq!((rig.checkpoints(), rig.epochs()), (1, 1));
    rig.store(B, 1);
    rig.both.hw.spec.done(ZERO, 0);
    rig.both.drain();
    assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
    assert_eq!(rig.run_to_end(), ["st 2"]);
}

/// 4.1: "persistent operations be delayed until the end of the speculative epoch".
#[test]
fn pmem_instructions_are_delayed_until_their_epoch_commits() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.clwb(A);
    assert_eq!(rig.flushes(B, Flush::ClflushOpt), Departure::Keep);
    rig.pcommit();
    assert_eq!(rig.buffer(), ["st A", "clwb A", "clwb B", "pcommit"]);
    assert!(rig.both.hw.spec.flushes.is_empty());
    assert_eq!(rig.both.hw.spec.commits.len(), 2, "those of the first pcommit alone");
    // "If the pending pcommit completes before the creation of a child epoch, then the epoch ends and
    // commits at the same time" (4.2.1).
    rig.answer_pcommit();
    assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
    assert_eq!(rig.run_to_end(), ["st 2", "clwb A", "clwb B", "pcommit"]);
}

/// 4.1: PMEM instructions "may not be moved past fences, LOCK-prefixed instructions, or XCHG".
#[test]
fn fences_and_locked_instructions_behind_delayed_instructions_begin_child_epochs() {
    let begins: [fn(&mut Rig) -> bool; 3] = [
        |rig| rig.fences(Primitive::Sfence) == Admission::Pass,
        |rig| rig.fences(Primitive::Mfence) == Admission::Pass,
        |rig| rig.locks(B) == Departure::Keep,
    ];
    for (which, begins) in begins.into_iter().enumerate() {
        let mut rig = Rig::speculating(&[]);
        rig.clwb(A);
        assert!(begins(&mut rig), "{which} retires");
        assert_eq!((rig.checkpoints(), rig.epochs()), (2, 2), "{which}");
    }
}

/// An sfence of an epoch that has delayed nothing orders nothing.
#[test]
fn an_sfence_at_the_beginning_of_an_epoch_begins_no_child() {
    let mut rig = Rig::speculating(&[]);
    rig.sfence();
    assert_eq!((rig.checkpoints(), rig.epochs()), (1, 1));
}

/// 4.2.2: "Instead of forming two checkpoints, we form a single checkpoint only for the last sfence".
#[test]
fn sfence_pcommit_sfence_takes_one_checkpoint() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.clwb(A);
    rig.sfence();
    rig.barrier();
    assert_eq!(
        rig.both.design.core(ZERO).used(),
        2,
        "the first epoch's, and that of the last sfence"
    );
    assert_eq!(
        rig.epochs(),
        3,
        "the pcommit still waits for the clwb, and what follows for the pcommit"
    );
    rig.store(B, 1);
    // A conflict goes back to the oldest checkpoint; behind the first epoch's commit, that is the last sfence's.
    rig.answer_pcommit();
    rig.perform();
    rig.tick();
    assert_eq!(rig.buffer(), ["pcommit", "st B"], "the clwb is not acknowledged");
    assert_eq!(rig.epochs(), 2);
    rig.both.flushed();
    rig.tick();
    assert_eq!((rig.buffer(), rig.epochs()), (vec!["st B".to_owned()], 1));
    rig.answer_pcommit();
    assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
}

/// A barrier with anything else between its fences keeps both checkpoints.
#[test]
fn an_epoch_with_more_than_a_pcommit_keeps_its_checkpoint() {
    for with in [|rig: &mut Rig| rig.store(B, 1), |rig: &mut Rig| _ = rig.load(B, 8)] {
        let mut rig = Rig::speculating(&[]);
        rig.clwb(A);
        rig.sfence();
        with(&mut rig);
        rig.barrier();
        assert_eq!(rig.both.design.core(ZERO).used(), 3);
    }
}

/// 4.1: "speculative epochs must commit in sequence from the oldest to the youngest child".
#[test]
fn epochs_commit_oldest_first() {
    let mut rig = Rig::speculating(&[]);
    for addr in [A, B, C] {
        rig.clwb(addr);
        rig.sfence();
    }
    assert_eq!((rig.checkpoints(), rig.epochs()), (4, 4));
    let first = rig.both.hw.spec.announced.clone();
    rig.answer_pcommit();
    for committed in 1..=4 {
        let opened = first.iter().map(|(_, gate)| rig.both.has_opened(*gate));
        let opened: Vec<bool> = opened.collect();
        let expected: Vec<bool> = (1..=4).map(|epoch| epoch <= committed).collect();
        assert_eq!(opened, expected);
        assert_eq!(rig.epochs(), 4 - committed);
        if committed < 4 {
            assert_eq!(rig.both.hw.spec.flushes.len(), 1, "one epoch's flush is in flight");
            rig.tick();
            rig.both.flushed();
        }
    }
}

/// 4.1: "all of an epoch's PMEM instructions must commit and complete before any operations from the
/// next speculative epoch can commit"; 2.2: a pcommit is complete when all controllers have answered.
#[test]
fn entries_leave_only_after_every_controller_has_answered_the_pcommit_before_them() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.both.answer(ControllerId(1));
    rig.tick();
    assert_eq!((rig.buffer(), rig.epochs()), (vec!["st A".to_owned()], 1));
    assert!(rig.both.hw.spec.performs.is_empty());
    rig.both.answer(ControllerId(0));
    assert_eq!(rig.performing(), [StoreId(2)]);
}

/// 4.2.1: "the processor must stall and wait for a checkpoint to become free".
#[test]
fn a_fence_without_a_free_checkpoint_waits_until_one_is_free() {
    let mut rig = Rig::speculating(&[("checkpoints", 2)]);
    rig.clwb(A);
    rig.sfence();
    rig.clwb(B);
    let granted = Gate::Granted(ZERO, 3);
    assert_eq!(rig.fences(Primitive::Sfence), Admission::Hold(Until::Open(granted)));
    assert_eq!(
        rig.both
            .counters()
            .own
            .0
            .iter()
            .find(|(c, _)| c.name == "checkpoint_waits")
            .map(|(_, n)| *n),
        Some(1)
    );
    assert!(!rig.both.has_opened(granted));
    rig.answer_pcommit();
    assert!(rig.both.has_opened(granted), "the first epoch has committed");
    assert_eq!(rig.both.design.core(ZERO).used(), 2);
}

/// A locked instruction waits for a checkpoint, too. It does not take the checkpoint before it needs it.
#[test]
fn a_locked_instruction_without_a_free_checkpoint_waits_until_an_epoch_commits() {
    let mut rig = Rig::speculating(&[("checkpoints", 1)]);
    rig.store(A, 1);
    assert_eq!(rig.locks(B), PROGRESS);
    assert_eq!((rig.checkpoints(), rig.epochs()), (1, 1));
    rig.answer_pcommit();
    assert!(rig.both.has_opened(Gate::Progress(ZERO)));
    assert_eq!(rig.locks(B), PROGRESS, "st A is in the buffer");
    assert_eq!(rig.run_to_end(), ["st 2"]);
    assert_eq!(rig.locks(B), Departure::Go);
}

/// The locked instruction is performed while its checkpoint exists: no other store comes between.
#[test]
fn a_locked_instruction_is_performed_before_its_epoch_commits() {
    let mut rig = Rig::locking();
    assert_eq!(rig.performing(), [StoreId(3)]);
    assert_eq!((rig.checkpoints(), rig.epochs()), (1, 1));
    rig.perform();
    assert_eq!((rig.checkpoints(), rig.epochs()), (0, 0));
}

/// 4.2.2, Figure 6: stores and PMEM instructions retire into the buffer; a full one stalls them.
#[test]
fn a_full_buffer_stalls_stores_flushes_and_pcommits() {
    let mut rig = Rig::speculating(&[("entries", 2)]);
    rig.store(A, 1);
    rig.clwb(A);
    assert_eq!(rig.flushes(B, Flush::Clwb), PROGRESS);
    let id = rig.both.hw.spec.newest(ZERO);
    assert_eq!(rig.stores(ZERO, B, 1), PROGRESS);
    assert_eq!(rig.buffer(), ["st A", "clwb A"]);
    rig.answer_pcommit();
    assert_eq!(rig.run_to_end(), ["st 2", "clwb A"]);
    assert!(rig.both.has_opened(Gate::Progress(ZERO)));
    let own = rig.both.counters().own.0;
    assert_eq!(own.iter().find(|(c, _)| c.name == "ssb_full").map(|(_, n)| *n), Some(2));
    assert_eq!(rig.stores_again(ZERO, StoreId(id.0 + 1), B, 1), Departure::Go);
}

/// 5.1: "Even though a speculative region may have completed, retired stores from the pipeline are
/// accumulated in the SSB until all stores in the buffer are committed to the cache".
#[test]
fn stores_behind_a_committed_epoch_join_the_buffer_until_it_is_empty() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.store(B, 1);
    rig.answer_pcommit();
    assert_eq!(rig.epochs(), 0);
    rig.store(C, 1);
    rig.clwb(C);
    assert_eq!(rig.buffer(), ["st A", "st B", "st C", "clwb C"]);
    assert_eq!(rig.run_to_end(), ["st 2", "st 3", "st 4", "clwb C"], "in order");
    rig.plain_store(D);
}

/// What is announced behind a fence that retired speculatively is true when its epoch commits.
#[test]
fn an_announcement_waits_for_the_commit_of_the_epoch_of_its_fence() {
    let mut rig = Rig::speculating(&[]);
    rig.store(A, 1);
    rig.clwb(A);
    rig.sfence();
    rig.barrier();
    rig.answer_pcommit();
    assert!(!rig.is_certain(), "st A is not durable");
    rig.perform();
    rig.tick();
    rig.both.flushed();
    rig.tick();
    assert!(!rig.is_certain(), "its pcommit is not answered");
    rig.answer_pcommit();
    assert!(rig.is_certain());
}

/// A core's speculation holds nothing up on another one.
#[test]
fn cores_speculate_apart() {
    let mut rig = Rig::speculating(&[]);
    assert_eq!(rig.stores(ONE, B, 1), Departure::Go);
    assert_eq!(rig.stores(ZERO, A, 1), Departure::Keep);
}
