//! Pipelined commits: asap-frontier.

use super::super::asap::{asap_frontier_ep, Asap};
use super::*;

/// Lines of two controllers, one after the other: an epoch each, all acknowledged, and their commits are on their way.
fn chain() -> Both<Asap> {
    let mut both = eager(asap_frontier_ep());
    for (line, value) in [(X, 1), (Y, 2), (Z, 3)] {
        both.store_value(ZERO, line, value);
        both.executes(ZERO, Primitive::Ofence);
    }
    while !both.hw.sent.is_empty() {
        both.arrive(0);
    }
    both
}

/// Delivers the youngest message alone.
fn deliver_last(both: &mut Both<Asap>) {
    let (_, message) = both.hw.messages.pop().expect("a message");
    both.design.message(&mut both.hw, message);
}

fn left(both: &Both<Asap>) -> [u64; 3] {
    [X, Y, Z].map(|line| both.after_crash(line))
}

#[test]
fn all_commits_of_a_chain_are_on_their_way_at_once() {
    let both = chain();
    let commits = both
        .hw
        .messages
        .iter()
        .filter(|(_, message)| format!("{message:?}").starts_with("Commit"));
    assert_eq!(commits.count(), 2, "Y's and Z's; X was safe");
    assert_eq!(left(&both), [1, 0, 0], "no controller has heard of any");
}

#[test]
fn one_controllers_frontier_commits_at_all_of_them() {
    let mut both = chain();
    deliver_last(&mut both);
    assert_eq!(left(&both), [1, 2, 3], "Z's commit proves Y, at the other controller");
}

#[test]
fn a_dfence_ends_with_one_answer_and_its_epochs_stay_sources_of_dependences() {
    let mut both = chain();
    both.executes(ZERO, Primitive::Dfence);
    assert!(!both.has_opened(fence(ZERO)));
    deliver_last(&mut both);
    assert!(both.has_opened(fence(ZERO)));
    assert!(both.ask(ZERO, ONE, Y).is_some(), "Y's commit is not answered");
    both.deliver();
    assert!(both.ask(ZERO, TWO, Y).is_none());
}
