use super::super::op::{Flush, Piece, PmOp};
use super::*;
use proptest::prelude::*;

/// What a random thread does next.
#[derive(Clone, Copy, Debug)]
enum Does {
    Load(u64),
    Store(u64),
    Locked(u64),
    Flush,
    Fence,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        (0u64..4).prop_map(Does::Load),
        (0u64..4).prop_map(Does::Store),
        (0u64..4).prop_map(Does::Locked),
        Just(Does::Flush),
        Just(Does::Fence),
    ]
}

/// Entries with unique `pc`s: their numbers.
fn entries(program: &[(u32, Does)]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (pc, (thread, does)) in program.iter().enumerate() {
        let access = |word, writes| {
            let (first, last, thread) = (word, word, *thread);
            Entry::Access(Access {
                thread,
                first,
                last,
                writes,
                has_turn: false,
                pc: 0,
            })
        };
        let what = match *does {
            Does::Load(word) => {
                entries.push(access(word, false));
                What::Load { word, mask: 0xff }
            }
            Does::Store(word) | Does::Locked(word) => {
                entries.push(access(word, true));
                What::Store(Piece {
                    word,
                    bytes: [0; 8],
                    mask: 0xff,
                })
            }
            Does::Flush => What::Flush(Flush::Clwb, Some(0)),
            Does::Fence => What::Fence(Fence::Sfence),
        };
        let (thread, pc, rest) = (*thread, pc as u64, false);
        let around = matches!(does, Does::Locked(_)).then_some(What::Fence(Fence::Locked));
        let whats = around.into_iter().chain([what]).chain(around);
        entries.extend(whats.map(|what| {
            Entry::Op(PmOp {
                thread,
                at: crate::stack::At::alone(pc),
                rest,
                what,
            })
        }));
    }
    entries
}

fn reordered(base: &[Entry], number: u32, window: usize) -> Vec<Entry> {
    let base = base.iter().copied().map(Ok);
    let order = Reordered::within(base, number, 3, window);
    order.map(|entry| entry.expect("the base has no error")).collect()
}

/// The store that each load reads, the order of the stores to each word, and each thread's operations; by `pc`.
type Behaviour = (Vec<(u64, Option<u64>)>, Vec<Vec<u64>>, Vec<Vec<u64>>);

fn behaviour(order: &[Entry]) -> Behaviour {
    let (mut reads, mut stores, mut threads) = (Vec::new(), vec![Vec::new(); 4], vec![Vec::new(); 3]);
    for entry in order {
        let Entry::Op(op) = entry else { continue };
        threads[op.thread as usize].push(op.at.pc);
        match op.what {
            What::Load { word, .. } => reads.push((op.at.pc, stores[word as usize].last().copied())),
            What::Store(piece) => stores[piece.word as usize].push(op.at.pc),
            _ => {}
        }
    }
    reads.sort_unstable();
    (reads, stores, threads)
}

proptest! {
    #[test]
    fn another_order_keeps_program_order_and_what_each_load_reads(
        program in prop::collection::vec((0u32..3, does()), 0..60), number in 1u32..12, window in 1usize..80,
    ) {
        let base = entries(&program);
        let other = reordered(&base, number, window);
        prop_assert_eq!(other.len(), base.len());
        prop_assert_eq!(behaviour(&other), behaviour(&base));
    }
}

/// Whether an order keeps a base's behaviour if it was made without the accesses that `drops` selects.
fn is_kept_without(drops: impl Fn(&Access) -> bool) -> bool {
    // Thread 1 loads and stores words that thread 0 stores.
    let program = [
        (0, Does::Store(1)),
        (1, Does::Load(1)),
        (1, Does::Store(2)),
        (1, Does::Flush),
        (0, Does::Load(2)),
        (1, Does::Load(3)),
        (0, Does::Store(3)),
    ];
    let base = entries(&program);
    let kept = |entry: &Entry| !matches!(entry, Entry::Access(access) if drops(access));
    let faulty: Vec<Entry> = base.iter().copied().filter(kept).collect();
    (1..12).all(|number| behaviour(&reordered(&faulty, number, 80)) == behaviour(&base))
}

#[test]
fn an_order_that_forgets_conflicts_is_caught() {
    assert!(is_kept_without(|_| false));
    assert!(!is_kept_without(|access| !access.writes), "loads are forgotten");
    assert!(!is_kept_without(|access| access.writes), "stores are forgotten");
    assert!(!is_kept_without(|access| access.first == 3), "a word is forgotten");
}

/// The threads of flushes and fences, in order.
fn points(order: &[Entry]) -> Vec<u32> {
    let point = |entry: &Entry| match entry {
        Entry::Op(op) if matches!(op.what, What::Flush(..) | What::Fence(_)) => Some(op.thread),
        _ => None,
    };
    order.iter().filter_map(point).collect()
}

#[test]
fn the_last_thread_flushes_as_late_as_the_others_allow() {
    let persisted = |thread, word| {
        [
            (thread, Does::Store(word)),
            (thread, Does::Flush),
            (thread, Does::Fence),
        ]
    };
    let publish = [
        persisted(0, 1).to_vec(),
        vec![(1, Does::Load(1))],
        persisted(1, 2).to_vec(),
    ]
    .concat();
    assert_eq!(points(&reordered(&entries(&publish), 1, 80)), [1, 1, 0, 0]);
    assert_eq!(points(&reordered(&entries(&publish), 2, 80)), [0, 0, 1, 1]);
    // A flag behind the fence keeps the reader behind it.
    let flagged = [
        persisted(0, 1).to_vec(),
        vec![(0, Does::Store(3)), (1, Does::Load(3)), (1, Does::Load(1))],
        persisted(1, 2).to_vec(),
    ];
    let flagged = entries(&flagged.concat());
    assert!((1..12).all(|number| points(&reordered(&flagged, number, 80)) == [0, 0, 1, 1]));
}

#[test]
fn drawn_orders_delay_single_flushes() {
    let rounds = (0..6).flat_map(|_| {
        let own = |thread: u32| {
            [
                (thread, Does::Store(u64::from(thread))),
                (thread, Does::Flush),
                (thread, Does::Fence),
            ]
        };
        [own(0), own(1)].concat()
    });
    let base = entries(&rounds.collect::<Vec<_>>());
    let others: std::collections::BTreeSet<Vec<u32>> =
        (1..12).map(|number| points(&reordered(&base, number, 80))).collect();
    assert!(others.len() > 6, "{} orders differ", others.len());
}

#[test]
fn an_error_of_the_base_ends_the_order() {
    let base = [Err(RecordError::new("a fault".to_owned(), "mend it"))];
    let mut order = Reordered::new(base.into_iter(), 1, 2);
    assert!(order.next().is_some_and(|entry| entry.is_err()));
    assert!(order.next().is_none());
}
