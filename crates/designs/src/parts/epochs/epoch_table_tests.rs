//! A core's epochs.

use super::*;
use crate::parts::epochs::Commit;
use strandline_design::ControllerId;
use strandline_kernel::Rng;

const CORE: CoreId = CoreId(0);
const OTHER: CoreId = CoreId(1);

fn other(number: u64) -> EpochId {
    EpochId { core: OTHER, number }
}

/// Commits epochs without early writes: which ones.
fn commit(epochs: &mut EpochTable) -> Vec<u64> {
    let mut done = Vec::new();
    while let Some(Commit { epoch, early }) = epochs.start_commit() {
        assert!(early.is_empty());
        epochs.remove(epoch.number);
        done.push(epoch.number);
    }
    done
}

fn end(epochs: &mut EpochTable) {
    epochs.add_write();
    assert!(epochs.begin(Follows::Current));
}

#[test]
fn an_epoch_commits_when_it_has_ended_and_its_writes_are_acknowledged() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    end(&mut epochs);
    assert_eq!(commit(&mut epochs), [], "its write is not acknowledged");
    epochs.acknowledge(0);
    assert_eq!(commit(&mut epochs), [0]);
    assert!(epochs.are_durable_through(0) && !epochs.are_durable_through(1));
    assert_eq!(commit(&mut epochs), [], "the current epoch has not ended");
}

#[test]
fn the_next_epoch_is_safe_only_when_the_one_before_is_durable() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    end(&mut epochs);
    end(&mut epochs);
    assert!(epochs.is_safe(0) && !epochs.is_safe(1));
    epochs.acknowledge(1);
    assert_eq!(commit(&mut epochs), [], "complete, and not safe");
    epochs.acknowledge(0);
    assert_eq!(commit(&mut epochs), [0, 1]);
}

#[test]
fn an_epoch_in_which_nothing_happened_is_not_ended() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    assert!(!epochs.begin(Follows::Current));
    end(&mut epochs);
    assert!(!epochs.begin(Follows::Current));
    assert_eq!(epochs.current(), 1);
    epochs.depend_on(other(4));
    assert_eq!(epochs.current(), 1, "the dependence is this epoch's");
    assert!(
        epochs.begin(Follows::Current),
        "what waits for it waits for the other core"
    );
}

#[test]
fn a_dependent_epoch_waits_for_the_other_core_but_those_before_it_do_not() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    epochs.add_write();
    epochs.depend_on(other(4));
    assert!(epochs.is_safe(0) && !epochs.is_safe(1));
    epochs.acknowledge(0);
    assert_eq!(commit(&mut epochs), [0]);
    epochs.resolve(other(3));
    assert!(!epochs.is_safe(1), "an older epoch of that core is not the one");
    epochs.resolve(other(4));
    assert!(epochs.is_safe(1));
}

#[test]
fn who_is_asked_for_a_line_ends_its_epoch_and_remembers_who_waits() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    epochs.add_write();
    epochs.add_dependent(0, OTHER);
    assert_eq!(epochs.current(), 1);
    epochs.add_dependent(0, OTHER);
    assert_eq!(epochs.current(), 1, "it has ended already");
    epochs.acknowledge(0);
    epochs.start_commit();
    assert_eq!(epochs.remove(0), [OTHER]);
}

#[test]
fn what_is_acknowledged_early_is_durable_only_when_its_epoch_has_committed() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    end(&mut epochs);
    end(&mut epochs);
    epochs.note_early(1, ControllerId(0));
    epochs.note_early(1, ControllerId(3));
    epochs.acknowledge(1);
    epochs.acknowledge(0);
    assert_eq!(commit_first(&mut epochs), 0);
    assert!(epochs.is_durable(0) && !epochs.is_durable(1));
    let epoch = EpochId { core: CORE, number: 1 };
    let early = vec![ControllerId(0), ControllerId(3)];
    assert_eq!(epochs.start_commit(), Some(Commit { epoch, early }));
    assert_eq!(epochs.start_commit(), None, "once");
    epochs.await_acknowledgements(1, 1);
    for _ in 0..3 {
        assert_eq!(epochs.next_settled(), None);
        epochs.acknowledge_commit(1);
    }
    assert_eq!(epochs.next_settled(), Some(epoch));
    epochs.remove(1);
    assert!(epochs.is_durable(1));
}

fn commit_first(epochs: &mut EpochTable) -> u64 {
    let number = epochs.start_commit().expect("one may").epoch.number;
    epochs.remove(number);
    number
}

#[test]
fn strands_follow_the_last_join_and_a_join_follows_all_strands() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    end(&mut epochs);
    epochs.add_write();
    assert!(epochs.begin(Follows::Join));
    assert!(
        epochs.is_safe(2) && !epochs.follows(0) && !epochs.follows(1),
        "a strand of its own"
    );
    epochs.add_write();
    assert!(epochs.begin(Follows::Current));
    assert!(epochs.follows(2) && !epochs.follows(1));
    epochs.add_write();
    assert!(epochs.begin(Follows::All));
    assert!((0..4).all(|number| epochs.follows(number)));
    epochs.add_write();
    assert!(epochs.begin(Follows::Join));
    assert!(
        epochs.follows(3) && !epochs.follows(4),
        "it follows the join, not the strand before it"
    );
    epochs.acknowledge(2);
    assert_eq!(commit(&mut epochs), [2], "strands commit out of order");
}

#[test]
fn a_strand_that_writes_what_another_wrote_follows_it() {
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    epochs.add_write();
    assert!(epochs.begin(Follows::Join));
    assert!(!epochs.follows(0));
    epochs.depend_on(EpochId { core: CORE, number: 0 });
    assert!(epochs.follows(0) && !epochs.is_safe(epochs.current()));
    epochs.acknowledge(0);
    assert_eq!(commit(&mut epochs), [0]);
    assert!(epochs.is_safe(epochs.current()));
}

#[test]
fn no_epoch_after_the_last_safe_one_is_safe() {
    let (mut epochs, mut rng) = (EpochTable::new(CORE, Commits::InTurn), Rng::new(1));
    let mut bounded = 0;
    for _ in 0..20_000 {
        match rng.below(8) {
            0..=2 => epochs.add_write(),
            3 => _ = epochs.begin([Follows::Current, Follows::Join, Follows::All][rng.below(3) as usize]),
            4 => epochs.depend_on(other(rng.below(4))),
            5 => epochs.resolve(other(rng.below(4))),
            _ => {
                let oldest = epochs.oldest().0;
                (oldest..oldest + 4).for_each(|number| epochs.acknowledge(number));
                commit(&mut epochs);
            }
        }
        let after = epochs.last_safe() + 1..=epochs.current();
        bounded += after.clone().count();
        assert!(after.into_iter().all(|number| !epochs.is_safe(number)));
    }
    assert!(bounded > 10_000, "{bounded}");
}

#[test]
fn the_oldest_epoch_waits_for_others_when_nothing_else_holds_it_back() {
    let waiting = |on| Some(Waiting { number: 0, on });
    let mut epochs = EpochTable::new(CORE, Commits::InTurn);
    epochs.depend_on(other(4));
    assert_eq!(epochs.waits_for_others(false), None, "nothing waits");
    epochs.add_write();
    assert_eq!(
        epochs.waits_for_others(false),
        waiting(1),
        "its write may not be flushed"
    );
    assert_eq!(epochs.waits_for_others(true), None, "it may be flushed early");
    epochs.acknowledge(0);
    assert!(epochs.begin(Follows::Current));
    assert_eq!(epochs.waits_for_others(true), waiting(1), "it may not commit");
    epochs.resolve(other(4));
    assert_eq!(epochs.waits_for_others(true), None);
}

/// Ends epochs with a write each, all early at this controller, and commits what may be: how many.
fn pipelined(epochs: &mut EpochTable, count: u64) -> usize {
    for _ in 0..count {
        let number = epochs.current();
        end(epochs);
        epochs.note_early(number, ControllerId(0));
        epochs.acknowledge(number);
    }
    std::iter::from_fn(|| epochs.start_commit()).count()
}

#[test]
fn pipelined_commits_await_no_answers_and_epochs_settle_in_order() {
    let mut epochs = EpochTable::new(CORE, Commits::Pipelined);
    assert_eq!(pipelined(&mut epochs, 3), 3);
    assert!(epochs.is_safe(2) && !epochs.is_durable(0));
    epochs.acknowledge_commit(2);
    assert_eq!(epochs.next_settled(), None, "0 and 1 are not answered");
    epochs.acknowledge_commit(0);
    assert_eq!(epochs.next_settled().map(|epoch| epoch.number), Some(0));
    epochs.remove(0);
    assert_eq!(epochs.next_settled(), None);
    epochs.acknowledge_commit(1);
    assert_eq!(epochs.next_settled().map(|epoch| epoch.number), Some(1));
    epochs.remove(1);
    assert_eq!(epochs.next_settled().map(|epoch| epoch.number), Some(2));
}

#[test]
fn a_pipelined_fence_needs_one_answer_that_has_its_epochs() {
    let mut epochs = EpochTable::new(CORE, Commits::Pipelined);
    pipelined(&mut epochs, 1);
    let first = epochs.proved();
    pipelined(&mut epochs, 1);
    assert!(!epochs.are_durable_through(0));
    epochs.note_answered(first);
    assert!(epochs.are_durable_through(0) && !epochs.are_durable_through(1));
    epochs.note_answered(epochs.proved());
    assert!(
        epochs.are_durable_through(1) && !epochs.is_durable(1),
        "it is a source of dependences"
    );
}

#[test]
fn strands_prove_their_epochs_out_of_order_within_the_window() {
    let mut epochs = EpochTable::new(CORE, Commits::Pipelined);
    epochs.add_write();
    epochs.begin(Follows::Join);
    let mut commits = 0;
    for _ in 1..40 {
        epochs.acknowledge(epochs.current());
        epochs.add_write();
        epochs.acknowledge(epochs.current());
        epochs.begin(Follows::Join);
        commits += std::iter::from_fn(|| epochs.start_commit()).count();
    }
    assert_eq!(commits, 31, "epoch 0 is the lowest of 32");
    assert!(epochs.proved().contains(31) && !epochs.proved().contains(0) && !epochs.proved().contains(32));
    epochs.acknowledge(0);
    assert_eq!(std::iter::from_fn(|| epochs.start_commit()).count(), 9);
}
