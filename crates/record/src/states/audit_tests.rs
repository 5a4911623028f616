use super::*;
use crate::order::Piece;

fn op(pc: u64, what: What) -> Op {
    Op {
        thread: 0,
        pc,
        rest: false,
        what,
    }
}

fn store(pc: u64, word: u64) -> Op {
    let piece = Piece {
        word,
        bytes: [1; 8],
        mask: 0xff,
    };
    op(pc, What::Store(piece))
}

fn store_nt(pc: u64, word: u64) -> Op {
    match store(pc, word).what {
        What::Store(piece) => op(pc, What::StoreNt(piece)),
        what => op(pc, what),
    }
}

fn clwb(pc: u64, line: u64) -> Op {
    op(pc, What::Flush(Flush::Clwb, Some(line)))
}

fn sfence(pc: u64) -> Op {
    op(pc, What::Fence(Fence::Sfence))
}

fn found(ops: &[Op]) -> Vec<(Finding, u64, u64)> {
    let mut audit = Audit::new(1);
    ops.iter().for_each(|op| audit.see(op));
    let spots = audit.finish();
    spots
        .into_iter()
        .map(|(spot, times)| (spot.finding, spot.pc, times))
        .collect()
}

#[test]
fn stores_that_are_flushed_and_fenced_are_in_order() {
    assert_eq!(
        found(&[store(1, 0), clwb(2, 0), sfence(3), store_nt(4, 64), sfence(5)]),
        []
    );
}

#[test]
fn what_is_left_out_is_found_where_it_is_missing() {
    let ops = [store(1, 0), store(2, 64), store(2, 128), clwb(3, 0), store_nt(4, 192)];
    let expected = [
        (Finding::NeverFlushed, 2, 2),
        (Finding::NeverFenced, 3, 1),
        (Finding::NtNeverFenced, 4, 1),
    ];
    assert_eq!(found(&ops), expected);
}

#[test]
fn a_store_after_the_flush_of_its_line_is_not_flushed() {
    assert_eq!(
        found(&[store(1, 0), clwb(2, 0), store(3, 8), sfence(4)]),
        [(Finding::NeverFlushed, 3, 1)]
    );
}

#[test]
fn flushes_and_fences_that_do_nothing_are_told_apart() {
    let volatile = op(6, What::Flush(Flush::Clflush, None));
    let ops = [
        store(1, 0),
        clwb(2, 0),
        clwb(3, 0),
        sfence(4),
        clwb(5, 0),
        volatile,
        sfence(7),
    ];
    let expected = [
        (Finding::FlushClean, 5, 1),
        (Finding::FlushTwice, 3, 1),
        (Finding::FlushVolatile, 6, 1),
        (Finding::FenceIdle, 7, 1),
    ];
    assert_eq!(found(&ops), expected);
}

#[test]
fn the_parts_of_a_store_count_once() {
    let mut rest = store(1, 8);
    rest.rest = true;
    assert_eq!(found(&[store(1, 0), rest]), [(Finding::NeverFlushed, 1, 1)]);
}

#[test]
fn stores_that_are_taken_together_still_count() {
    let ops: Vec<Op> = (0..2000).map(|index| store(1, index % 3 * 8)).collect();
    assert_eq!(found(&ops), [(Finding::NeverFlushed, 1, 2000)]);
}
