use super::*;
use crate::order::{Fence, Flush, Piece};
use crate::states::Image;

fn op(pc: u64, what: What) -> PmOp {
    PmOp {
        thread: 0,
        at: At::alone(pc),
        rest: false,
        what,
    }
}

fn piece() -> Piece {
    Piece {
        word: 8,
        bytes: [1; 8],
        mask: 0xff,
    }
}

fn store(pc: u64) -> PmOp {
    op(pc, What::Store(piece()))
}

fn clwb(pc: u64) -> PmOp {
    op(pc, What::Flush(Flush::Clwb, Some(0)))
}

fn sfence(pc: u64) -> PmOp {
    op(pc, What::Fence(Fence::Sfence))
}

/// Why the last pending store is not durable after the first operations, if the others follow.
fn why_by(rules: Rules, before: &[PmOp], after: &[PmOp]) -> Why {
    let (mut history, mut pending) = (History::default(), Pending::new(rules, 1, Image::default()));
    before.iter().chain(after).for_each(|op| history.see(op));
    before.iter().for_each(|op| pending.apply(op));
    let items = &pending.lines[&0].items;
    history.why(&pending, &items[items.len() - 1]).expect("few operations")
}

fn why(before: &[PmOp], after: &[PmOp]) -> Why {
    why_by(Rules::Flushed, before, after)
}

#[test]
fn what_is_never_flushed_is_told_from_what_is_flushed_too_early() {
    assert_eq!(why(&[store(1)], &[sfence(2)]), Why::NeverFlushed);
    assert_eq!(
        why(&[store(1), clwb(2), store(3)], &[sfence(4)]),
        Why::FlushedBefore(At::alone(2))
    );
    let fenced = [store(1), clwb(2), sfence(3), store(4)];
    assert_eq!(
        why(&fenced, &[]),
        Why::FlushedBefore(At::alone(2)),
        "also if the flush was fenced"
    );
}

#[test]
fn what_is_never_fenced_names_its_flush() {
    assert_eq!(why(&[store(1), clwb(2)], &[]), Why::NeverFenced(At::alone(2)));
    assert_eq!(
        why(&[sfence(1), store(2), clwb(3)], &[store(4)]),
        Why::NeverFenced(At::alone(3))
    );
}

#[test]
fn what_becomes_durable_after_the_crash_is_told_with_the_place() {
    assert_eq!(
        why(&[store(1)], &[clwb(2), sfence(3)]),
        Why::NotYetFlushed(At::alone(2))
    );
    assert_eq!(
        why(&[store(1), clwb(2)], &[sfence(3), sfence(4)]),
        Why::NotYetFenced(At::alone(2), At::alone(3))
    );
    let sync = op(0, What::Sync { start: 0, bytes: 4096 });
    assert_eq!(why(&[store(1)], &[sync]), Why::NotYetSynced);
    assert_eq!(
        why(&[store(1), sync, store(2)], &[]),
        Why::NeverFlushed,
        "an earlier call does not count"
    );
}

#[test]
fn a_non_temporal_store_needs_only_a_fence() {
    let store_nt = op(1, What::StoreNt(piece()));
    assert_eq!(why(&[store_nt], &[]), Why::NtNeverFenced);
    assert_eq!(
        why(&[store_nt, clwb(2)], &[sfence(3)]),
        Why::NtNotYetFenced(At::alone(3))
    );
}

#[test]
fn where_visible_stores_are_durable_a_flush_is_no_reason() {
    assert_eq!(why_by(Rules::Visible, &[store(1)], &[]), Why::NotYetVisible);
}

#[test]
fn another_threads_fence_is_none_of_the_flushing_threads() {
    let mut other = sfence(3);
    other.thread = 1;
    assert_eq!(why(&[store(1), clwb(2)], &[other]), Why::NeverFenced(At::alone(2)));
}
