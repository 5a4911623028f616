use super::super::{Audit, Finding};
use super::*;
use crate::order::{Fence, Piece};

fn op(thread: u32, pc: u64, what: What) -> PmOp {
    let rest = false;
    let at = At::alone(pc);
    PmOp { thread, at, rest, what }
}

fn store(thread: u32, pc: u64, word: u64) -> PmOp {
    let (bytes, mask) = ([1; 8], 0xff);
    op(thread, pc, What::Store(Piece { word, bytes, mask }))
}

fn load(thread: u32, pc: u64, word: u64) -> PmOp {
    op(thread, pc, What::Load { word, mask: 0xff })
}

fn persist(thread: u32, pc: u64, line: u64) -> [PmOp; 2] {
    let flush = What::Flush(Flush::Clwb, Some(line));
    [op(thread, pc, flush), op(thread, pc + 1, What::Fence(Fence::Sfence))]
}

fn audit(ops: &[&[PmOp]]) -> Audit {
    let mut audit = Audit::new(2);
    ops.iter().copied().flatten().for_each(|op| audit.see(op));
    audit
}

fn found(ops: &[&[PmOp]]) -> Vec<(u64, u64, u64)> {
    let reads = audit(ops).finish().1;
    reads
        .iter()
        .map(|(what, times)| (what.load.pc, what.store.pc, *times))
        .collect()
}

/// The writer's store, the reader's load of it and store of its own.
fn begin() -> [PmOp; 3] {
    [store(0, 1, 0), load(1, 2, 0), store(1, 3, 64)]
}

#[test]
fn a_consequence_that_is_durable_before_its_cause_is_found() {
    let late = [&begin()[..], &persist(1, 4, 64), &persist(0, 6, 0)];
    assert_eq!(found(&late), [(2, 1, 1)]);
    // The other thread has made it durable before.
    assert_eq!(found(&[&begin(), &persist(0, 6, 0), &persist(1, 4, 64)]), []);
    // The reader flushes what it read.
    assert_eq!(
        found(&[&begin(), &persist(1, 8, 0), &persist(1, 4, 64), &persist(0, 6, 0)]),
        []
    );
}

#[test]
fn an_older_store_of_the_reader_is_no_consequence() {
    let ops = [store(0, 1, 0), store(1, 3, 64), load(1, 2, 0)];
    assert_eq!(found(&[&ops, &persist(1, 4, 64), &persist(0, 6, 0)]), []);
}

#[test]
fn a_thread_may_read_its_own_stores_and_other_bytes() {
    let own = [store(1, 1, 0), load(1, 2, 0), store(1, 3, 64)];
    assert_eq!(found(&[&own, &persist(1, 4, 64), &persist(1, 6, 0)]), []);
    let other = [store(0, 1, 0), load(1, 2, 8), store(1, 3, 64)];
    assert_eq!(found(&[&other, &persist(1, 4, 64), &persist(0, 6, 0)]), []);
}

#[test]
fn a_store_that_is_never_flushed_is_found_as_that_alone() {
    let audit = audit(&[&begin(), &persist(1, 4, 64)]);
    let (spots, reads) = audit.finish();
    assert_eq!(reads, BTreeMap::new());
    let spots: Vec<Finding> = spots.into_keys().map(|spot| spot.finding).collect();
    assert_eq!(spots, [Finding::NeverFlushed]);
}

#[test]
fn another_order_shows_reads_and_what_flushes_are_for() {
    // The reader flushes what it read: without an effect in the recorded order.
    let recorded = [&store_and_persist(), &reader()[..]];
    let idle = |audit: Audit| -> Vec<(Finding, u64)> {
        let spots = audit.finish().0.into_keys();
        spots.map(|spot| (spot.finding, spot.at.pc)).collect()
    };
    assert_eq!(
        idle(audit(&recorded)),
        [
            (Finding::FlushClean, 8),
            (Finding::FlushClean, 10),
            (Finding::FenceIdle, 9),
            (Finding::FenceIdle, 11)
        ]
    );
    let [stored, flush, fence] = store_and_persist();
    let delayed = audit(&[&[stored], &reader(), &[flush, fence]]);
    let mut both = audit(&recorded);
    both.merge(&delayed);
    // The second flush of the same line has no effect in either order.
    assert_eq!(idle(both), [(Finding::FlushClean, 10), (Finding::FenceIdle, 11)]);

    let mut both = audit(&[&begin(), &persist(0, 6, 0), &persist(1, 4, 64)]);
    both.merge(&audit(&[&begin(), &persist(1, 4, 64), &persist(0, 6, 0)]));
    assert_eq!(both.finish().1.len(), 1);
}

fn store_and_persist() -> [PmOp; 3] {
    let [flush, fence] = persist(0, 6, 0);
    [store(0, 1, 0), flush, fence]
}

fn reader() -> Vec<PmOp> {
    let own = [store(1, 3, 64)];
    let parts = [
        &[load(1, 2, 0)][..],
        &persist(1, 8, 0),
        &persist(1, 10, 0),
        &own,
        &persist(1, 4, 64),
    ];
    parts.concat()
}
