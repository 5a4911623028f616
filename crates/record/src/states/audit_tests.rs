use super::super::locks;
use super::*;
use crate::order::Piece;

fn op(pc: u64, what: What) -> PmOp {
    PmOp {
        thread: 0,
        at: At::alone(pc),
        rest: false,
        what,
    }
}

fn store(pc: u64, word: u64) -> PmOp {
    let piece = Piece {
        word,
        bytes: [1; 8],
        mask: 0xff,
    };
    op(pc, What::Store(piece))
}

fn store_nt(pc: u64, word: u64) -> PmOp {
    match store(pc, word).what {
        What::Store(piece) => op(pc, What::StoreNt(piece)),
        what => op(pc, what),
    }
}

fn clwb(pc: u64, line: u64) -> PmOp {
    op(pc, What::Flush(Flush::Clwb, Some(line)))
}

fn sfence(pc: u64) -> PmOp {
    op(pc, What::Fence(Fence::Sfence))
}

fn found(ops: &[PmOp]) -> Vec<(Finding, u64, u64)> {
    let mut audit = Audit::new(1);
    ops.iter().for_each(|op| audit.see(op));
    let spots = audit.finish().0;
    spots
        .into_iter()
        .map(|(spot, times)| (spot.finding, spot.at.pc, times))
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
    let ops: Vec<PmOp> = (0..2000).map(|index| store(1, index % 3 * 8)).collect();
    assert_eq!(found(&ops), [(Finding::NeverFlushed, 1, 2000)]);
}

fn mark(marker: Marker) -> PmOp {
    op(0, What::Marker(marker))
}

fn exit() -> PmOp {
    op(0, What::Exit)
}

fn locked(pc: u64) -> PmOp {
    op(pc, What::Fence(Fence::Locked))
}

#[test]
fn a_fence_of_the_exit_comes_too_late() {
    let ops = [store(1, 0), clwb(2, 0), store_nt(3, 64), exit(), locked(4), sfence(5)];
    let late = [
        (Finding::FencedAtExit, 2, 1),
        (Finding::NtFencedAtExit, 3, 1),
        (Finding::FenceIdle, 5, 1),
    ];
    assert_eq!(found(&ops), late);
    let explicit = [store(1, 0), clwb(2, 0), exit(), sfence(4)];
    assert_eq!(found(&explicit), [(Finding::FencedAtExit, 2, 1)]);
    let in_time = [store(1, 0), clwb(2, 0), store_nt(3, 64), locked(4), exit(), locked(5)];
    assert_eq!(found(&in_time), []);
}

#[test]
fn an_exit_handler_has_to_fence_for_itself() {
    let fenced = [exit(), store(1, 0), clwb(2, 0), sfence(3)];
    assert_eq!(found(&fenced), []);
    let by_a_lock = [exit(), store(1, 0), clwb(2, 0), locked(3)];
    assert_eq!(found(&by_a_lock), [(Finding::FencedAtExit, 2, 1)]);
}

#[test]
fn a_fence_behind_the_last_task_comes_too_late() {
    let (begin, end) = (mark(Marker::TaskBegin), mark(Marker::TaskEnd));
    let task = [begin, store(1, 0), clwb(2, 0), store_nt(3, 64), end, sfence(4)];
    assert_eq!(
        found(&task),
        [(Finding::FencedAtExit, 2, 1), (Finding::NtFencedAtExit, 3, 1)]
    );
    let another = [&task[..], &[begin, end]].concat();
    assert_eq!(found(&another), [], "the fence is followed by a task");
    let closing = [begin, end, store(1, 0), clwb(2, 0), sfence(3)];
    assert_eq!(found(&closing), [], "what is not part of a task");
}

#[test]
fn what_another_thread_has_made_durable_needs_no_fence_at_the_exit() {
    let mut other = [clwb(6, 0), sfence(7)];
    other.iter_mut().for_each(|op| op.thread = 1);
    let ops = [&[store(1, 0), clwb(2, 0)][..], &other, &[exit(), locked(4)]].concat();
    let mut audit = Audit::new(2);
    ops.iter().for_each(|op| audit.see(op));
    let findings: Vec<Finding> = audit.finish().0.into_keys().map(|spot| spot.finding).collect();
    assert_eq!(findings, [Finding::FlushTwice]);
}

fn put(pc: u64, word: u64, value: u64) -> PmOp {
    let piece = Piece {
        word,
        bytes: value.to_le_bytes(),
        mask: 0xff,
    };
    op(pc, What::Store(piece))
}

/// A locked instruction that stores.
fn lock(pc: u64, word: u64, value: u64) -> [PmOp; 3] {
    [locked(pc), put(pc, word, value), locked(pc)]
}

/// What locked instructions that store these values in turn are, and why.
fn values(values: &[u64]) -> (Finding, &'static str) {
    let mut audit = Audit::new(1);
    let ops = values.iter().flat_map(|value| lock(1, 0, *value));
    ops.for_each(|op| audit.see(&op));
    let spots: Vec<Spot> = audit.finish().0.into_keys().collect();
    (spots[0].finding, spots[0].why)
}

#[test]
fn a_word_that_returns_to_its_free_value_is_a_lock_wherever_its_line_is_flushed() {
    let ops = [
        &lock(1, 0, 1)[..],
        &[store(4, 8), clwb(5, 0), sfence(6), put(2, 0, 0), store(3, 8)],
    ]
    .concat();
    assert_eq!(
        found(&ops),
        [(Finding::LockWord, 2, 1), (Finding::SameNeverFlushed, 3, 1)],
        "the lock shares its line with flushed data"
    );
    let thousands: Vec<PmOp> = (0..2000)
        .flat_map(|_| [&lock(1, 0, 1)[..], &[put(2, 0, 0)]].concat())
        .collect();
    let both = [(Finding::LockWord, 1, 2000), (Finding::LockWord, 2, 2000)];
    assert_eq!(found(&thousands), both, "merged stores, too");
}

#[test]
fn a_word_is_told_by_the_values_that_it_takes() {
    let kind = |of: &[u64]| values(of).0;
    assert_eq!(kind(&[1, 0, 2, 0, 3, 0]), Finding::LockWord, "a thread's number");
    assert_eq!(
        kind(&[1, 2, 1, 2, 3, 2, 1, 0]),
        Finding::LockWord,
        "a number of readers"
    );
    assert_eq!(kind(&[1, 2, 3, 4]), Finding::NeverFlushed, "a stack's head");
    assert_eq!(kind(&[1]), Finding::NeverFlushed, "its first node");
    assert_eq!(kind(&[64, 128, 64]), Finding::NeverFlushed);
    assert_eq!(
        kind(&[5, 9, 2, 8, 1, 7, 3, 6, 4, 10, 0]),
        Finding::NeverFlushed,
        "many values"
    );
    assert_eq!(values(&[1, 0, 1]), (Finding::LockOrData, locks::HELD));
    assert_eq!(values(&[1, 2, 3]).1, locks::ENDS);
    let counted = [
        &[put(1, 0, 1), clwb(2, 0), sfence(3)][..],
        &lock(4, 0, 2),
        &lock(5, 0, 1),
    ]
    .concat();
    assert_eq!(found(&counted)[0], (Finding::LockOrData, 4, 1), "a count of references");
}

#[test]
fn a_word_that_a_transaction_takes_and_a_store_frees_is_a_lock() {
    let marker = |marker| op(9, What::Marker(marker));
    let within = |value| {
        [
            marker(Marker::TransactionBegin),
            put(1, 0, value),
            marker(Marker::TransactionEnd),
        ]
    };
    let freed = [&within(1)[..], &[put(2, 0, 0)]].concat();
    assert!(found(&freed).iter().all(|(finding, ..)| *finding == Finding::LockWord));
    assert_eq!(found(&[put(1, 0, 1), put(2, 0, 0)])[0].0, Finding::NeverFlushed);
    assert_eq!(found(&within(1))[0].0, Finding::NeverFlushed, "data");
}

#[test]
fn another_thread_may_act_within_a_locked_instruction() {
    let [before, store, behind] = lock(1, 0, 1);
    let other = lock(7, 64, 1).map(|op| PmOp { thread: 1, ..op });
    let ops = [&[before][..], &other, &[store, behind, put(2, 0, 0)]].concat();
    let mut audit = Audit::new(2);
    ops.iter().for_each(|op| audit.see(op));
    let spots = audit.finish().0;
    let of_first = spots.keys().filter(|spot| spot.at.pc <= 2);
    assert_eq!(
        of_first.map(|spot| spot.finding).collect::<Vec<_>>(),
        [Finding::LockWord; 2]
    );
}

#[test]
fn a_word_that_is_flushed_at_times_is_data_and_no_lock() {
    let ops = [&lock(1, 0, 1)[..], &[clwb(2, 0), sfence(3)], &lock(4, 0, 0)].concat();
    assert_eq!(found(&ops), [(Finding::NeverFlushed, 4, 1)]);
    let plain = [locked(1), store(9, 0)];
    assert_eq!(
        found(&plain),
        [(Finding::NeverFlushed, 9, 1)],
        "another instruction's store"
    );
}

#[test]
fn two_counters_side_by_side_that_end_equal_may_be_tickets() {
    let tickets = |word, last| {
        let ops = [
            &lock(1, 0, 1)[..],
            &[put(2, word, 1)],
            &lock(1, 0, 2),
            &[put(2, word, last)],
        ];
        found(&ops.concat())
    };
    let both = |finding| [(finding, 1, 2), (finding, 2, 2)];
    assert_eq!(tickets(8, 2), both(Finding::LockOrData));
    assert_eq!(tickets(8, 3), both(Finding::NeverFlushed), "they differ");
    assert_eq!(tickets(16, 2), both(Finding::NeverFlushed), "another word is between");
}

#[test]
fn a_store_of_what_is_durable_needs_no_flush_unless_another_was_between() {
    let durable = [put(1, 0, 5), clwb(2, 0), sfence(3)];
    let same = [&durable[..], &[put(4, 0, 5)]].concat();
    assert_eq!(found(&same), [(Finding::SameNeverFlushed, 4, 1)]);
    let both = [&same[..], &[put(4, 8, 5)]].concat();
    assert_eq!(
        found(&both),
        [(Finding::NeverFlushed, 4, 2)],
        "the instruction is accused"
    );
    let back = [&durable[..], &[put(4, 0, 6), put(5, 0, 5)]].concat();
    assert_eq!(
        found(&back),
        [(Finding::NeverFlushed, 4, 1), (Finding::NeverFlushed, 5, 1)]
    );
}

#[test]
fn a_flush_of_volatile_memory_is_told_with_the_store_that_it_misses() {
    let astray = |pc: u64| op(pc, What::Flush(Flush::Clwb, None));
    let found = |ops: &[PmOp]| {
        let mut audit = Audit::new(1);
        ops.iter().for_each(|op| audit.see(op));
        let spots = audit.finish().0.into_keys();
        spots
            .map(|spot| (spot.finding, spot.at.pc, spot.store.map(|at| at.pc)))
            .collect::<Vec<_>>()
    };
    let missed = [
        (Finding::NeverFlushed, 1, None),
        (Finding::FenceIdle, 3, None),
        (Finding::FlushMisses, 2, Some(1)),
    ];
    assert_eq!(found(&[store(1, 0), astray(2), sfence(3)]), missed);
    let kinds = |ops: &[PmOp]| found(ops).into_iter().map(|(finding, ..)| finding).collect::<Vec<_>>();
    let right = [store(1, 0), astray(2), clwb(4, 0), sfence(3)];
    assert_eq!(kinds(&right), [Finding::FlushVolatile], "the store is flushed");
    let earlier = [store(1, 0), locked(5), astray(2), sfence(3)];
    assert_eq!(
        kinds(&earlier)[..2],
        [Finding::NeverFlushed, Finding::FlushVolatile],
        "a fence is between"
    );
}

#[test]
fn a_store_in_two_words_that_is_made_durable_alone_may_tear() {
    let part = |word, mask, rest| PmOp {
        rest,
        ..op(
            1,
            What::Store(Piece {
                word,
                bytes: [1; 8],
                mask,
            }),
        )
    };
    let torn = [part(0, 0xf0, false), part(8, 0x0f, true), clwb(2, 0), sfence(3)];
    assert_eq!(found(&torn), [(Finding::TornWord, 1, 1)]);
    let twelve = [part(0, 0xf0, false), part(8, 0xff, true), clwb(2, 0), sfence(3)];
    assert_eq!(found(&twelve), [], "more than a word");
    let logged = [&[store(4, 24)][..], &torn].concat();
    assert_eq!(found(&logged), [], "not alone");
}

#[test]
fn executions_without_effect_are_numbered_among_the_flushes_and_fences_of_their_thread() {
    let ops = [store(1, 0), clwb(2, 0), clwb(2, 0), sfence(3), sfence(3), clwb(2, 64)];
    let mut audit = Audit::new(1);
    ops.iter().for_each(|op| audit.see(op));
    assert_eq!(audit.executions(Finding::FlushTwice, 2, None), Some([(0, 2)].into()));
    assert_eq!(audit.executions(Finding::FenceIdle, 3, None), Some([(0, 4)].into()));
    assert_eq!(audit.executions(Finding::FlushClean, 2, None), Some([(0, 5)].into()));
    assert_eq!(audit.executions(Finding::FlushClean, 3, None), Some([].into()));
}

#[test]
fn an_instruction_has_a_finding_for_each_call_that_led_to_it() {
    let from = |from: u64, op: PmOp| PmOp {
        at: At { pc: op.at.pc, from },
        ..op
    };
    let ops = [
        from(10, clwb(2, 0)),
        from(20, store(1, 0)),
        from(20, clwb(2, 0)),
        from(20, clwb(2, 0)),
        from(10, clwb(2, 64)),
    ];
    let mut audit = Audit::new(1);
    ops.iter().for_each(|op| audit.see(op));
    assert_eq!(
        audit.executions(Finding::FlushClean, 2, None),
        Some([(0, 1), (0, 4)].into())
    );
    assert_eq!(
        audit.executions(Finding::FlushClean, 2, Some(10)),
        Some([(0, 1), (0, 4)].into())
    );
    assert_eq!(audit.executions(Finding::FlushTwice, 2, Some(10)), Some([].into()));
    let found: Vec<(Finding, u64)> = audit
        .finish()
        .0
        .into_keys()
        .map(|spot| (spot.finding, spot.at.from))
        .collect();
    assert_eq!(
        found,
        [
            (Finding::NeverFenced, 20),
            (Finding::FlushClean, 10),
            (Finding::FlushTwice, 20)
        ]
    );
}
